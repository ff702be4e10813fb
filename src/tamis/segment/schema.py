"""Declare the arrays of a segment with the type and shape of each, to check a foreign file first."""

from __future__ import annotations

import numpy as np

from tamis.engines.arena import ALIGNMENT, Slot
from tamis.engines.forms import ANY, BYTE, CELLS, HALF, LONG, NARROWED, REAL, SIGNED, WORD, Form, Forms
from tamis.errors import IndexCorrupt

LITERAL_FIELDS = 4
STRINGS = {
    "space.names": SIGNED,
    "space.strings": SIGNED,
    "space.flag_pattern": SIGNED,
    "book.names": SIGNED,
    "book.literals.strings": NARROWED,
    "ids": NARROWED,
}
"""Columns of strings, and the form of their starts."""

FORMS: Forms = {
    **{f"{name}.start": form for name, form in STRINGS.items()},
    **{f"{name}.data": BYTE for name in STRINGS},
    "ids.order": WORD,
    "priority": REAL,
    "version": SIGNED,
    "space.ordered_cells": SIGNED,
    "space.number_values": REAL,
    "space.number_rest": SIGNED,
    "space.number_start": SIGNED,
    "space.number_cut": CELLS,
    "space.number_base": SIGNED,
    "space.time_start": SIGNED,
    "space.time_cut": SIGNED,
    "space.time_base": SIGNED,
    "space.string_start": SIGNED,
    "space.string_before": SIGNED,
    "space.string_sides": BYTE,
    "space.string_base": SIGNED,
    "space.boolean_base": SIGNED,
    "space.view_attribute": SIGNED,
    "space.view_kind": BYTE,
    "space.flag_attribute": SIGNED,
    "space.flag_kind": BYTE,
    "clauses.start": WORD,
    "clauses.literal": CELLS.wide(LITERAL_FIELDS),
    "clauses.set_lo": CELLS,
    "clauses.set_hi": CELLS,
    "clauses.revise": BYTE,
    "clauses.owner_start": WORD,
    "clauses.owner": WORD,
    "clauses.cells": WORD,
    "book.literals.kind": BYTE,
    "book.literals.bits": SIGNED,
    "book.attribute": NARROWED,
    "book.op": BYTE,
    "book.arity": NARROWED,
    "book.args": NARROWED,
    "book.weight": REAL,
    "book.row_start": NARROWED,
    "book.arg_start": NARROWED,
}
"""The arrays of every segment, for all engines. An engine declares the forms of its own."""

_ENGINE = [
    Form(form.types, columns) for form in (BYTE, HALF, WORD, LONG, SIGNED) for columns in (0, ANY)
]  # the engine itself checks them more closely later


def check_slot(name: str, slot: Slot, length: int) -> None:
    """Raise :class:`IndexCorrupt` if an array's type, shape or place is impossible; no memory is used yet."""
    forms = _ENGINE if name.startswith("engine.") else [FORMS[name]] if name in FORMS else []
    if not forms:
        raise IndexCorrupt(f"there is an array {name[:80]!r}, which no index has")
    if not any(form.fits(slot) for form in forms):
        raise IndexCorrupt(f"array {name!r} cannot be of type {slot.dtype[:20]!r} and shape {slot.shape}")
    if min(*slot.shape, slot.offset, slot.nbytes) < 0:
        raise IndexCorrupt(f"array {name!r} has a negative size or place")
    size = np.dtype(slot.dtype).itemsize
    for extent in slot.shape:
        size *= extent
    if size != slot.nbytes:
        raise IndexCorrupt(f"array {name!r} has a shape that does not fit its size")
    if slot.offset % ALIGNMENT or slot.offset + slot.nbytes > length:
        raise IndexCorrupt(f"array {name!r} lies outside the file")
