"""Check the arrays of a segment against each other: every place must point inside its array.

Types and shapes are checked before (``schema.py``). This module never adds or subtracts numbers of a file
before they are known to be small: a sum that overflows could pass for a valid place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa

from tamis.columns.rows import MOST_GROUPS
from tamis.engines.arena import Arena
from tamis.engines.proof import is_below, is_rising
from tamis.errors import IndexCorrupt, TamisError
from tamis.expression.views import Flag, View
from tamis.segment.expressions import check_book
from tamis.segment.schema import FORMS, STRINGS
from tamis.space.flags import shape_table, string_tables
from tamis.space.space import GROUP, MANY
from tamis.values.pattern import compiled

if TYPE_CHECKING:
    from tamis.segment.segment import Segment

# (places, the array they point into): the places increase from 0 to its end.
_STARTS = [
    ("clauses.start", "clauses.literal"),
    ("clauses.owner_start", "clauses.owner"),
    ("book.row_start", "book.op"),
    ("book.arg_start", "book.args"),
    ("space.number_start", "space.number_cut"),
    ("space.time_start", "space.time_cut"),
    ("space.string_start", "space.string_before"),
    *((f"{name}.start", f"{name}.data") for name in sorted(STRINGS)),
]
_SAME_LENGTH = [
    ("book.op", "book.attribute"),
    ("book.op", "book.arity"),
    ("book.literals.kind", "book.literals.bits"),
    ("clauses.set_lo", "clauses.set_hi"),
    ("clauses.start", "clauses.owner_start"),
    ("space.string_before", "space.string_sides"),
    ("space.view_attribute", "space.view_kind"),
    ("space.flag_attribute", "space.flag_kind"),
    ("ids.start", "book.row_start"),
    ("ids.start", "book.arg_start"),
    *(("space.ordered_cells", f"space.{kind}_base") for kind in ("number", "time", "string", "boolean")),
    *(("space.number_start", f"space.{kind}_start") for kind in ("time", "string")),
]
# (starts, the array with one entry fewer)
_COUNTED = [
    ("clauses.start", "clauses.revise"),
    ("ids.start", "ids.order"),
    ("space.number_start", "space.ordered_cells"),
    ("space.strings.start", "space.string_before"),
    ("space.flag_pattern.start", "space.flag_kind"),
]
_LONGEST = 1 << 31  # bytes of all ids, which Arrow counts in 32 bits


def check_arrays(segment: Segment) -> None:
    """Raise :class:`IndexCorrupt` if the arrays do not fit together."""
    arena = segment.arena
    if missing := sorted(FORMS.keys() - arena.slots.keys()):
        raise IndexCorrupt(f"the index is damaged: it has no array {missing[0]!r}")
    for name, target in _STARTS:
        _ensure(is_rising(arena[name], len(arena[target])), f"{name} is not an increasing list of places")
    for one, other in _SAME_LENGTH:
        _ensure(len(arena[one]) == len(arena[other]), f"{one} and {other} differ in length")
    for one, other in _COUNTED:
        _ensure(len(arena[one]) == len(arena[other]) + 1, f"{one} and {other} differ in length")
    _ensure(len(arena["ids.data"]) < _LONGEST, "the ids are too long")
    for name in sorted(STRINGS):
        _ensure(_is_text(arena[f"{name}.start"], arena[f"{name}.data"], name), f"{name} holds no UTF-8")
    _ensure(is_below(arena["ids.order"], segment.count), "ids.order does not list the subscriptions")
    for name in ("priority", "version"):
        _ensure(len(arena[name]) in (0, segment.count), f"{name} has the wrong length")
    check_book(segment.columns, _ensure)
    _check_space(segment)
    _check_clauses(segment)


def _is_text(start: Any, data: Any, name: str) -> bool:
    if name == "space.strings":
        return True  # keys in byte order; the keys of addresses are no text
    offsets = pa.py_buffer(np.ascontiguousarray(start, np.int64))
    body = pa.py_buffer(np.ascontiguousarray(data))
    try:
        pa.Array.from_buffers(pa.large_string(), len(start) - 1, [None, offsets, body]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _check_clauses(segment: Segment) -> None:
    arena = segment.arena
    cells, literal = arena["clauses.cells"], arena["clauses.literal"]
    same = literal.dtype == arena["clauses.set_lo"].dtype == arena["clauses.set_hi"].dtype
    _ensure(same, "literals and sets are of different types")
    _ensure(is_below(arena["clauses.owner"], segment.count), "a clause belongs to no subscription")
    _ensure(np.array_equal(cells, segment.space.cells()), "space and clauses differ in their cells")
    _ensure(is_below(literal[:, 0], len(cells)), "a literal names no dimension")
    _ensure(is_below(literal[:, 1], (MOST_GROUPS + 1) << GROUP), "a literal has unknown flags")
    many = (literal[:, 1] & MANY) != 0
    first, count = literal[many, 2].astype(np.int64), literal[many, 3].astype(np.int64)
    inside = (count > 0) & (first + count <= len(arena["clauses.set_lo"]))
    _ensure(inside.all(), "a set lies outside the sets")


def _check_space(segment: Segment) -> None:
    arena = segment.arena
    attributes = len(arena["space.names.start"]) - 1
    for name in ("space.view_attribute", "space.flag_attribute"):
        _ensure(is_below(arena[name], attributes), f"{name} names no attribute")
    _ensure(
        len(arena["space.ordered_cells"]) == attributes + len(arena["space.view_kind"]),
        "the space has another number of ordered dimensions",
    )
    values = arena["space.number_values"]
    _ensure(is_below(arena["space.number_cut"], len(values)), "a cut is at no number")
    _ensure(len(arena["space.number_rest"]) in (0, len(values)), "rests do not fit")
    rest = arena["space.number_rest"]
    _ensure(not np.isnan(values).any(), "a cut is at no number")
    # The cut above the greatest float is at infinity, which no integer lies beside.
    _ensure(not len(rest) or not rest[np.isinf(values)].any(), "a cut lies beyond infinity")
    _check_cells(arena, attributes)
    _ensure(is_below(arena["space.view_kind"], len(View)), "a view is of no kind")
    _ensure(is_below(arena["space.flag_kind"], len(Flag)), "a flag is of no kind")
    _check_flags(segment)


def _check_cells(arena: Arena, attributes: int) -> None:
    """Check that the sections of a dimension follow each other and that the cells lie between the cuts.

    So there are no more cells than a file has cuts, and every value is located in one of them.
    """
    cells = arena["space.ordered_cells"]
    following = np.ones(len(cells), np.int64)
    for kind, cuts in _cut_counts(arena).items():
        base = arena[f"space.{kind}_base"]
        used = base != 0
        fits = np.where(used, base == following, (cuts == 0) | (kind == "boolean"))
        _ensure(fits.all(), f"the cells of a {kind} lie outside their dimension")
        following += np.where(used, cuts + 1, 0)
    following[attributes:] -= 1  # an attribute ends with the cell of other types
    _ensure(np.array_equal(cells, following), "a dimension has other cells than its cuts make")


def _cut_counts(arena: Arena) -> dict[str, Any]:
    """Return how many cuts each ordered dimension has, by type of value."""
    start, before, sides = (arena[f"space.string_{part}"] for part in ("start", "before", "sides"))
    _ensure(np.all((sides > 0) & (sides < 4)), "a string is cut on no side")
    own = (sides & 1).astype(np.int64) + (sides >> 1)
    total = np.concatenate([[0], np.cumsum(own)])
    first = np.repeat(total[start[:-1]], np.diff(start))
    _ensure(np.array_equal(before, total[:-1] - first), "the cuts of strings are not in order")
    return {
        "number": np.diff(arena["space.number_start"]),
        "time": np.diff(arena["space.time_start"]),
        "string": total[start[1:]] - total[start[:-1]],
        "boolean": np.ones(len(start) - 1, np.int64),
    }


def _check_flags(segment: Segment) -> None:
    """Check that patterns can be read; the tables that set flags are made from them when first needed."""
    space = segment.space
    patterns = space.flag_pattern.to_list()
    rows = [(Flag(kind), patterns[at], at) for at, kind in enumerate(space.flag_kind.tolist())]
    structured = [row for row in rows if row[0] in (Flag.TEXT, Flag.LIKES, Flag.SHAPE, Flag.POINT)]
    try:
        string_tables([row for row in structured if row[0] in (Flag.TEXT, Flag.LIKES)])
        shape_table([row for row in structured if row[0] in (Flag.SHAPE, Flag.POINT)])
        for flag, pattern, _ in rows:
            if flag in (Flag.REGEX, Flag.FOLDED_REGEX):
                compiled(pattern)
    except (ValueError, TypeError, AttributeError, msgspec.MsgspecError, TamisError) as bad:
        raise IndexCorrupt(f"the index is damaged: a pattern cannot be read: {bad}") from None


def _ensure(true: Any, what: str) -> None:
    if not true:
        raise IndexCorrupt(f"the index is damaged: {what}")
