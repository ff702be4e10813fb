"""Writes matches as JSON lines, tab-separated pairs or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import IO, Any, NamedTuple

from tamis.cli.support import json_line


class Found(NamedTuple):
    """The matches of consecutive events: sorted pairs, and the events' lines if they were lines."""

    first: int
    events: int
    pairs: Any  # an Arrow table (event, subscription); events are numbered from 0 over the whole run
    lines: list[bytes] | None
    refused: frozenset[int]


class JsonLines:
    """A writer of ``{"event": 0, "subscriptions": ["s1", "s2"]}``, a line per event."""

    def __init__(self, out: IO[bytes], every: bool, with_event: bool) -> None:
        self._out, self._every, self._with_event = out, every, with_event

    def write(self, found: Found) -> None:
        """Write a line for every event with matches, or for every event that was read."""
        for event, names in self._groups(found):
            line = {"event": event, "subscriptions": names}
            if self._with_event and found.lines is not None:
                line["attributes"] = _raw(found.lines[event - found.first])
            self._out.write(json_line(line))
        self._out.flush()

    def _groups(self, found: Found) -> Iterator[tuple[int, list[str]]]:
        groups = dict(groups_of(found.pairs))
        if not self._every:
            return iter(groups.items())
        events = range(found.first, found.first + found.events)
        return ((event, groups.get(event, [])) for event in events if event not in found.refused)

    def close(self) -> None:
        """Do nothing: every line is written at once."""


def _raw(line: bytes) -> Any:
    import msgspec

    return msgspec.Raw(line.strip())


def groups_of(pairs: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the subscriptions of each event; ``pairs`` are sorted by event."""
    import numpy as np

    event = pairs.column("event").to_numpy()
    names = pairs.column("subscription").to_pylist()
    edges = [0, *(np.flatnonzero(np.diff(event)) + 1).tolist(), len(names)]
    for low, high in pairwise(edges):
        if low < high:
            yield int(event[low]), names[low:high]


class TabSeparated:
    """A writer of ``0<tab>s1``, a line per pair."""

    def __init__(self, out: IO[bytes], every: bool, with_event: bool) -> None:
        self._out = out

    def write(self, found: Found) -> None:
        """Write a line for every pair."""
        event, names = found.pairs.column("event").to_pylist(), found.pairs.column("subscription").to_pylist()
        lines = [f"{number}\t{name}\n" for number, name in zip(event, names, strict=True)]
        self._out.write("".join(lines).encode())
        self._out.flush()

    def close(self) -> None:
        """Do nothing: every line is written at once."""


class Parquet:
    """A writer of the columns event and subscription."""

    def __init__(self, out: IO[bytes], every: bool, with_event: bool) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._schema = pa.schema([("event", pa.int64()), ("subscription", pa.string())])
        self._writer = pq.ParquetWriter(out, self._schema)

    def write(self, found: Found) -> None:
        """Write the pairs as a row group."""
        if found.pairs.num_rows:
            self._writer.write_table(found.pairs.select(self._schema.names).cast(self._schema))

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()


WRITERS: dict[str, type[JsonLines] | type[TabSeparated] | type[Parquet]] = {
    "jsonl": JsonLines,
    "tsv": TabSeparated,
    "parquet": Parquet,
}
