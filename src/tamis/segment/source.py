"""Compare the file that a segment is mapped from with its state when it was written."""

from __future__ import annotations

import mmap
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from tamis.engines.arena import ALIGNMENT, Arena, Slot
from tamis.errors import IndexCorrupt
from tamis.segment.sealed import check_digest


def checksum(block: Any, slot: Slot) -> int:
    """Return the checksum of an array and the padding behind it, which together cover every byte."""
    end = -(-(slot.offset + slot.nbytes) // ALIGNMENT) * ALIGNMENT
    return zlib.crc32(memoryview(block[slot.offset : end]))


class Source(NamedTuple):
    """The file of a mapped segment, the checksums of its arrays and, if it was signed, its digests."""

    path: Path
    mapping: mmap.mmap | None  # None: the file is empty
    checksums: dict[str, int]
    digests: dict[str, str] | None = None

    def ensure_whole(self) -> None:
        """Raise :class:`IndexCorrupt` if the file was truncated: reading on would end the process."""
        if self.mapping is not None and self.mapping.size() < len(self.mapping):
            raise IndexCorrupt(
                f"{self.path} was cut to {self.mapping.size()} of {len(self.mapping)} bytes while it was "
                "open; restore the file and open the index again"
            )

    def verify(self, arena: Arena) -> None:
        """Read every byte and compare it with the checksums, and with the digest if there is one."""
        self.ensure_whole()
        for name, expected in self.checksums.items():
            if checksum(arena.block, arena.slots[name]) != expected:
                raise IndexCorrupt(f"{self.path} is damaged: array {name!r} does not have its checksum")
        if self.digests is not None:
            check_digest(self.path, arena.block.data, self.digests.get(self.path.name))
