"""What must hold between the arrays of a segment: every number that is a place points inside its array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa

from tamis.errors import IndexCorrupt, TamisError
from tamis.index.arena import Arena
from tamis.index.segment.schema import STRINGS, required
from tamis.lang.columns.codes import Kind, Op
from tamis.model.pattern import compiled
from tamis.space.flags import shape_table, string_tables
from tamis.space.views import Flag, View

if TYPE_CHECKING:
    from tamis.index.segment.segment import Segment

# (places, what they point into): increasing, from 0 to the end.
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
    ("space.string_before", "space.string_sides"),
    ("space.view_attribute", "space.view_kind"),
    ("space.flag_attribute", "space.flag_kind"),
    *(("space.ordered_cells", f"space.{kind}_base") for kind in ("number", "time", "string", "boolean")),
]


def check_arrays(segment: Segment) -> None:
    """Raise :class:`IndexCorrupt` if the arrays do not fit together."""
    arena = segment.arena
    if missing := sorted(required() - arena.slots.keys()):
        raise IndexCorrupt(f"the index is damaged: it has no array {missing[0]!r}")
    for name, target in _STARTS:
        start = arena[name].astype(np.int64)
        sound = len(start) and start[0] == 0 and start[-1] == len(arena[target])
        _ensure(sound and not np.any(np.diff(start) < 0), f"{name} is not an increasing list of places")
    for one, other in _SAME_LENGTH:
        _ensure(len(arena[one]) == len(arena[other]), f"{one} and {other} differ in length")
    for name in sorted(STRINGS):
        _ensure(_is_text(arena[f"{name}.start"], arena[f"{name}.data"], name), f"{name} holds no UTF-8")
    _check_book(segment)
    _check_clauses(segment)
    _check_space(segment)


def _is_text(start: Any, data: Any, name: str) -> bool:
    if name == "space.strings":
        return True  # keys in byte order; those of addresses are no text
    offsets = pa.py_buffer(np.ascontiguousarray(start, np.int64))
    body = pa.py_buffer(np.ascontiguousarray(data))
    try:
        pa.Array.from_buffers(pa.large_string(), len(start) - 1, [None, offsets, body]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _check_book(segment: Segment) -> None:
    arena, count = segment.arena, segment.count
    order = arena["ids.order"]
    _ensure(len(order) == count and _below(order, count), "ids.order does not list the subscriptions")
    _ensure(len(arena["book.row_start"]) == count + 1, "the book has another number of subscriptions")
    _ensure(len(arena["book.arg_start"]) == count + 1, "the book has another number of subscriptions")
    predicates = arena["book.op"] < Op.AND
    names = len(arena["book.names.start"]) - 1
    _ensure(_below(arena["book.attribute"][predicates], names), "a predicate has no attribute")
    kind, bits = arena["book.literals.kind"], arena["book.literals.bits"]
    _ensure(_below(arena["book.args"], len(kind)), "an operand is missing")
    texts = bits[kind >= Kind.STRING]
    sound = _below(texts, len(arena["book.literals.strings.start"]) - 1)
    _ensure(sound and not np.any(texts < 0) and _below(kind, max(Kind) + 1), "a literal has no text")
    operands = int(arena["book.arity"][predicates].sum(dtype=np.int64))
    _ensure(operands == len(arena["book.args"]), "the operands do not fit the operators")
    for name, length in (("book.weight", len(predicates)), ("priority", count), ("version", count)):
        _ensure(len(arena[name]) in (0, length), f"{name} has the wrong length")


def _check_clauses(segment: Segment) -> None:
    arena = segment.arena
    cells, literal = arena["clauses.cells"], arena["clauses.literal"]
    clauses = len(arena["clauses.start"]) - 1
    _ensure(_below(arena["clauses.owner"], segment.count), "a clause belongs to no subscription")
    for name, length in (("clauses.revise", clauses), ("clauses.owner_start", clauses + 1)):
        _ensure(len(arena[name]) == length, f"{name} has the wrong length")
    dimensions = len(arena["space.ordered_cells"]) + len(arena["space.flag_kind"])
    _ensure(len(cells) == dimensions and _below(literal[:, 0], dimensions), "a literal names no dimension")
    _ensure(np.array_equal(cells, segment.space.cells()), "space and clauses differ in their cells")
    many = (literal[:, 1] & 4) != 0
    ends = literal[many, 2].astype(np.int64) + literal[many, 3]
    _ensure(_below(ends, len(arena["clauses.set_lo"]) + 1), "a set lies outside the sets")


def _check_space(segment: Segment) -> None:
    arena = segment.arena
    attributes = len(arena["space.names.start"]) - 1
    for name in ("space.view_attribute", "space.flag_attribute"):
        _ensure(_below(arena[name], attributes), f"{name} names no attribute")
    _ensure(
        len(arena["space.ordered_cells"]) == attributes + len(arena["space.view_kind"]),
        "the space has another number of ordered dimensions",
    )
    _ensure(_below(arena["space.number_cut"], len(arena["space.number_values"])), "a cut is at no number")
    _ensure(len(arena["space.number_rest"]) in (0, len(arena["space.number_values"])), "rests do not fit")
    cells = arena["space.ordered_cells"]
    for kind, cuts in _cut_counts(arena).items():
        base = arena[f"space.{kind}_base"]
        none = (base == 0) & ((cuts == 0) | (kind == "boolean"))
        fits = none | ((base > 0) & (base + cuts <= cells))
        _ensure(len(cuts) == len(cells) and fits.all(), f"the cells of a {kind} lie outside their dimension")
    _ensure(_below(arena["space.view_kind"], len(View)), "a view is of no kind")
    _ensure(_below(arena["space.flag_kind"], len(Flag)), "a flag is of no kind")
    _check_flags(segment)


def _cut_counts(arena: Arena) -> dict[str, Any]:
    """How many cuts each ordered dimension has, by type of value."""
    start, before = arena["space.string_start"], arena["space.string_before"]
    sides = (arena["space.string_sides"] & 1).astype(np.int64) + (arena["space.string_sides"] >> 1)
    after = np.append(before + sides, 0)
    _ensure(_below(sides, 3) and not np.any(before < 0), "a string is cut on no side")
    last = np.where(np.diff(start) > 0, after[start[1:] - 1], 0)
    rising = np.all(np.diff(before)[np.diff(np.repeat(np.arange(len(start) - 1), np.diff(start))) == 0] > 0)
    _ensure(rising, "the cuts of strings are not in order")
    return {
        "number": np.diff(arena["space.number_start"]),
        "time": np.diff(arena["space.time_start"]),
        "string": last,
        "boolean": np.ones(len(start) - 1, np.int64),
    }


def _check_flags(segment: Segment) -> None:
    """Patterns can be read: what sets flags is made from them when an event first needs it."""
    space = segment.space
    patterns = space.flag_pattern.to_list()
    rows = [(Flag(kind), patterns[at], at) for at, kind in enumerate(space.flag_kind.tolist())]
    structured = [row for row in rows if row[0] in (Flag.TEXT, Flag.SHAPE, Flag.POINT)]
    try:
        string_tables([row for row in structured if row[0] == Flag.TEXT])
        shape_table([row for row in structured if row[0] != Flag.TEXT])
        for flag, pattern, _ in rows:
            if flag in (Flag.REGEX, Flag.FOLDED_REGEX):
                compiled(pattern)
    except (ValueError, TypeError, AttributeError, msgspec.MsgspecError, TamisError) as bad:
        raise IndexCorrupt(f"the index is damaged: a pattern cannot be read: {bad}") from None


def _below(numbers: Any, limit: int) -> bool:
    return not len(numbers) or int(numbers.max()) < limit


def _ensure(true: Any, what: str) -> None:
    if not true:
        raise IndexCorrupt(f"the index is damaged: {what}")
