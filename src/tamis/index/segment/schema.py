"""Which arrays a segment must have and what each may hold: asked before a foreign file is trusted."""

from __future__ import annotations

import numpy as np

from tamis.errors import IndexCorrupt
from tamis.index.arena import Slot
from tamis.lang.columns.rows import Columns
from tamis.space.clauses import Clauses
from tamis.space.space import Space

STRINGS = {
    "space.names",
    "space.strings",
    "space.flag_pattern",
    "book.names",
    "book.literals.strings",
    "ids",
}
_TYPES = {
    "space.number_values": "<f8",
    "book.weight": "<f8",
    "priority": "<f8",
    "version": "<i8",
    "clauses.literal": "<u2 <u4",
    "clauses.set_lo": "<u2 <u4",
    "clauses.set_hi": "<u2 <u4",
    "clauses.revise": "|u1",
    "ids.order": "<u4",
}
_BY_PREFIX = {"clauses.": "<u4", "space.": "<i8 |u1 <u2 <u4", "engine.": "<u4 <u2 |u1 <u8 <i8"}
_ANY = "|u1 <u2 <u4 <u8 <i8"
LITERAL_FIELDS = 4


def required() -> set[str]:
    """The arrays that every segment has, whatever its engine."""
    names = {f"space.{name}" for name in Space._fields} | {f"clauses.{name}" for name in Clauses._fields}
    names |= {f"book.{name}" for name in Columns._fields} - {"book.literals"}
    names |= {"book.literals.kind", "book.literals.bits", "ids.order", "priority", "version"} - STRINGS
    return (names - STRINGS) | {f"{name}.{part}" for name in STRINGS for part in ("start", "data")}


def check_slot(name: str, slot: Slot, length: int) -> None:
    """Refuse an array whose type, shape or place cannot be; nothing is allocated or viewed yet."""
    kind = np.dtype(slot.dtype)
    prefix = name[: name.find(".") + 1]
    if kind.str not in _TYPES.get(name, _BY_PREFIX.get(prefix, _ANY)).split():
        raise IndexCorrupt(f"array {name!r} cannot be of type {slot.dtype!r}")
    if min((*slot.shape, slot.offset, slot.nbytes), default=0) < 0:
        raise IndexCorrupt(f"array {name!r} has a negative size or place")
    if int(np.prod(slot.shape, dtype=object)) * kind.itemsize != slot.nbytes:
        raise IndexCorrupt(f"array {name!r} has a shape that does not fit its size")
    columns = slot.shape[1:] if len(slot.shape) > 1 else ()
    if columns != ((LITERAL_FIELDS,) if name == "clauses.literal" else ()) and prefix != "engine.":
        raise IndexCorrupt(f"array {name!r} has the wrong number of columns")
    if slot.offset % kind.itemsize or slot.offset + slot.nbytes > length:
        raise IndexCorrupt(f"array {name!r} lies outside the file")
