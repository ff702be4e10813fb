"""Declare the types and shapes that each array of a file may have.

A kernel reads an array as the words that it was compiled for, so a file must not choose the type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tamis.engines.arena import Arena, Slot
from tamis.errors import IndexCorrupt

ANY = -1  # number of columns


class Form(NamedTuple):
    """The types of an array, as NumPy writes them, and its columns; 0 columns mean one dimension."""

    types: tuple[str, ...]
    columns: int = 0

    def fits(self, slot: Slot) -> bool:
        """Return whether an array that stands at ``slot`` has this form."""
        flat = len(slot.shape) == 1
        shaped = flat if self.columns == 0 else len(slot.shape) == 2 and self.columns in (ANY, slot.shape[1])
        return slot.dtype in self.types and shaped

    def wide(self, columns: int) -> Form:
        """Return the same types in a table with ``columns`` columns."""
        return Form(self.types, columns)


BYTE, HALF, WORD, LONG = Form(("|u1",)), Form(("<u2",)), Form(("<u4",)), Form(("<u8",))
SIGNED, REAL = Form(("<i8",)), Form(("<f8",))
CELLS = Form(("<u2", "<u4"))  # the narrower type if everything fits
RECORDS = Form(("<u4", "<u8"))
NARROWED = Form(("|u1", "<u2", "<u4", "<i8"))  # the types that ``segment.build.narrow`` produces

Forms = Mapping[str, Form]


def check_forms(owner: str, forms: Forms, arena: Arena) -> None:
    """Raise :class:`IndexCorrupt` unless the engine ``owner`` finds its arrays in the forms it declares."""
    for name, form in forms.items():
        slot = arena.slots.get(f"engine.{name}")
        if slot is None:
            raise IndexCorrupt(f"the {owner} index is damaged: it has no array {name!r}")
        if not form.fits(slot):
            raise IndexCorrupt(
                f"the {owner} index is damaged: array {name!r} cannot be {slot.dtype!r} of shape {slot.shape}"
            )
