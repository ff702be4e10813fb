"""Store samples: the typical events that an index is laid out for, kept with it as JSON lines."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec

from tamis.errors import EventError, IndexCorrupt
from tamis.index.batches import PieceEvents, pieces
from tamis.index.manifest import Sample
from tamis.limits import Limits
from tamis.segment.sealed import check_digest, digest_of
from tamis.values.event import tagged

MOST = 20_000  # events that are looked at
LARGEST = 64 << 20  # of a file; further events are left out


def encode_sample(piece: Any, limits: Limits) -> bytes:
    """Return the events of a sample as JSON lines; an unreadable event becomes one without values."""
    lines, size, event_at = [], 0, PieceEvents(piece, limits)
    for row in range(len(piece) if isinstance(piece, list) else piece.num_rows):
        try:
            attributes = event_at(row).attributes
        except EventError:
            attributes = {}
        values = {name: [tagged(value) for value in held] for name, held in attributes.items()}
        flat = {name: held[0] if len(held) == 1 else held for name, held in values.items()}
        line = msgspec.json.encode(flat) + b"\n"
        size += len(line)
        if size > LARGEST:
            break
        lines.append(line)
    return b"".join(lines)


def describe(raw: bytes, key: bytes | None) -> Sample:
    """Return the manifest entry of a file with these lines; equal lines have the same file name."""
    digest = digest_of(raw)
    return Sample(
        f"sample-{digest[:32]}.jsonl", raw.count(b"\n"), zlib.crc32(raw), digest if key is not None else ""
    )


def check_sample(raw: bytes, sample: Sample, path: Any, key: bytes | None) -> None:
    """Raise an error if a file is not the one that a manifest names; its lines are read later."""
    if key is not None:
        check_digest(path, raw, sample.digest)
    if zlib.crc32(raw) != sample.crc32 or raw.count(b"\n") != sample.events or len(raw) > LARGEST:
        raise IndexCorrupt(f"{path} is damaged: it does not have its length or checksum")


class KeptSample:
    """The sample of an index: the user's events, or the lines of a file until the events are needed."""

    def __init__(self, events: Any, limits: Limits) -> None:
        self._limits = limits
        self._piece: Any = None if events is None else next(pieces(events, MOST, limits), [])
        self._lines: bytes | None = None

    @classmethod
    def of_lines(cls, lines: bytes | None, limits: Limits) -> KeptSample:
        """Return a sample from the result of :meth:`lines`, perhaps of another process."""
        kept = cls(None, limits)
        kept._lines = lines
        return kept

    @property
    def count(self) -> int:
        """The number of events."""
        if self._piece is None:
            return (self._lines or b"").count(b"\n")
        return len(self._piece) if isinstance(self._piece, list) else int(self._piece.num_rows)

    @property
    def events(self) -> Any:
        """The events as a list or table; ``None`` if there is no sample."""
        if self._piece is None and self._lines is not None:
            self._piece = next(pieces(self._lines.splitlines(), MOST, self._limits), [])
        return self._piece

    @property
    def lines(self) -> bytes | None:
        """The events as JSON lines; ``None`` if there is no sample."""
        if self._lines is None and self._piece is not None:
            self._lines = encode_sample(self._piece, self._limits)
        return self._lines
