"""What must hold between the arrays of a segment: every number that is a place points inside its array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.errors import IndexCorrupt
from tamis.index.segment.schema import STRINGS, required
from tamis.lang.columns.codes import Kind, Op

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
    _check_book(segment)
    _check_clauses(segment)


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
    for name, length in (("book.weight", len(predicates)), ("priority", count)):
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
    many = (literal[:, 1] & 4) != 0
    ends = literal[many, 2].astype(np.int64) + literal[many, 3]
    _ensure(_below(ends, len(arena["clauses.set_lo"]) + 1), "a set lies outside the sets")
    attributes = len(arena["space.names.start"]) - 1
    for name in ("space.view_attribute", "space.flag_attribute"):
        _ensure(_below(arena[name], attributes), f"{name} names no attribute")
    _ensure(
        len(arena["space.ordered_cells"]) == attributes + len(arena["space.view_kind"]),
        "the space has another number of ordered dimensions",
    )
    _ensure(_below(arena["space.number_cut"], len(arena["space.number_values"])), "a cut is at no number")
    _ensure(len(arena["space.number_rest"]) in (0, len(arena["space.number_values"])), "rests do not fit")


def _below(numbers: Any, limit: int) -> bool:
    return not len(numbers) or int(numbers.max()) < limit


def _ensure(true: Any, what: str) -> None:
    if not true:
        raise IndexCorrupt(f"the index is damaged: {what}")
