"""Write predicates as literals on the dimensions of the head.

A comparison is a range of keys, a list is several. Terms and all other kinds are flags. If a literal can only
cover its predicate, the tree decides.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from tamis.columns.literals import LiteralWriter
from tamis.expression.predicates import Between, Compare, Exists, In, Predicate, Text
from tamis.head.attributes import SET, Attributes
from tamis.head.keys import (
    FIRST_STRING,
    FIRST_TIME,
    HIGHEST,
    LAST_TIME,
    OTHER,
    boolean_key,
    lower_number,
    time_key,
    upper_number,
)
from tamis.space.space import ABSENT_OK, ALWAYS_REVISE, MANY, NEGATIVE, REVISE_IF_MULTI
from tamis.values.value import Point, micros_of

Range = tuple[int, int]


class Placed(NamedTuple):
    """The literals of a clause, each (dimension, flags, lo, hi), the ranges of its sets, and who decides.

    A literal with the flag MANY has its place among the sets of the clause in ``lo``, their number in ``hi``.
    ``revise`` has the values of ``Clauses.revise``.
    """

    literals: list[tuple[int, int, int, int]]
    sets: list[Range]
    revise: int


class Placer:
    """A writer of literals for one head."""

    def __init__(self, attributes: Attributes, literals: LiteralWriter) -> None:
        self._attributes, self._literals = attributes, literals

    def clause(self, predicates: Any, exact: bool) -> Placed:
        """Return the literals of a conjunction of (predicate, whether it is denied)."""
        revise = 0 if exact else ALWAYS_REVISE
        placed = Placed([], [], 0)
        for predicate, denied in predicates:
            revise |= self._place(predicate, denied, placed)
        return placed._replace(revise=revise)

    def _place(self, predicate: Predicate, denied: bool, placed: Placed) -> int:
        """Add the literals of one predicate; return when the tree must decide it."""
        kind = type(predicate)
        negative = predicate.is_negative
        if kind is Exists:
            dimension = self._attributes.attribute(predicate.attribute).dimension
            flags = 0 if negative == denied else NEGATIVE | ABSENT_OK
            placed.literals.append((dimension, flags, OTHER, HIGHEST))
            return 0
        found = self._ranges(predicate)
        if found is None:
            return self._flag(predicate, negative, denied, placed)
        ranges, sure = found
        if not sure and negative != denied:  # a cover of the denied values would lose some of the others
            ranges = []
        dimension = self._attributes.attribute(predicate.attribute).dimension
        flags = (NEGATIVE if negative != denied else 0) | (ABSENT_OK if denied else 0)
        if len(ranges) == 1:
            placed.literals.append((dimension, flags, *ranges[0]))
        else:
            placed.literals.append((dimension, flags | MANY, len(placed.sets), len(ranges)))
            placed.sets.extend(ranges)
        return 0 if sure else ALWAYS_REVISE

    def _ranges(self, predicate: Predicate) -> tuple[list[Range], bool] | None:
        """Return the keys that the positive form accepts, and whether they decide; ``None`` without keys."""
        if type(predicate) is Compare:
            op, value = predicate.op, predicate.value
            if op in ("=", "!="):
                one = self._one(value)
                return None if one is None else ([one], one[0] == one[1])
            low, high = (None, value) if op[0] == "<" else (value, None)
            return self._between(low, high, op == ">", op == "<")
        if type(predicate) is Between:
            return self._between(predicate.low, predicate.high, False, False)
        if type(predicate) is In:
            places = [self._one(value) for value in predicate.values]
            if None in places:
                return None
            return _joined(places), all(low == high for low, high in places)  # type: ignore[misc, arg-type]
        return None

    def _one(self, value: Any) -> Range | None:
        kind = type(value)
        if kind is str:
            key = FIRST_STRING + self._literals.text(value)
        elif kind is bool:
            key = boolean_key(value)
        elif kind is datetime:
            key = time_key(micros_of(value))
        elif kind is Point:
            return None
        else:
            return lower_number(value, False)[0], upper_number(value, False)[0]
        return key, key

    @staticmethod
    def _between(low: Any, high: Any, low_open: bool, high_open: bool) -> tuple[list[Range], bool] | None:
        kinds = {type(end) for end in (low, high) if end is not None}
        if kinds == {datetime}:
            first = FIRST_TIME if low is None else time_key(micros_of(low)) + low_open
            last = LAST_TIME if high is None else time_key(micros_of(high)) - high_open
            return [(first, last)] if first <= last else [], True
        if not kinds <= {int, float}:
            return None
        first, one = lower_number(low, low_open)
        last, two = upper_number(high, high_open)
        return [(first, last)] if first <= last else [], not (one or two)

    def _flag(self, predicate: Predicate, negative: bool, denied: bool, placed: Placed) -> int:
        """Add literals on flags; the absence of a flag says that no value satisfies the positive form."""
        if negative and denied:  # absent, or accepted: no literal says this
            return ALWAYS_REVISE
        positive, name = predicate.positive(), predicate.attribute
        if negative:
            placed.literals.append((self._attributes.attribute(name).dimension, 0, OTHER, HIGHEST))
        if negative or denied:
            flag = self._whole_flag(positive)
            placed.literals.append((flag, NEGATIVE | ABSENT_OK, SET, SET))
            return 0
        mode = positive.reading.mode if isinstance(positive, Text) else ""
        groups = positive.needed_terms()
        if groups and mode != "any":
            analyser = getattr(positive, "analyser", "")
            for group in groups:
                placed.literals.append((self._attributes.terms_flag(name, group, analyser), 0, SET, SET))
            return REVISE_IF_MULTI if mode == "all" else ALWAYS_REVISE
        placed.literals.append((self._whole_flag(positive), 0, SET, SET))
        return 0

    def _whole_flag(self, predicate: Predicate) -> int:
        """Return one flag for the whole predicate."""
        if isinstance(predicate, Text) and predicate.reading.mode == "any":
            terms = predicate.reading.terms
            return self._attributes.terms_flag(predicate.attribute, terms, predicate.analyser)
        return self._attributes.test_flag(predicate)


def _joined(places: list[Range]) -> list[Range]:
    """Return ranges sorted, those that touch joined."""
    joined: list[Range] = []
    for low, high in sorted(places):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined
