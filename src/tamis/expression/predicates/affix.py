"""Define ``attribute [NOT] STARTS WITH text``, ``ENDS WITH text`` and ``CONTAINS text``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from tamis.errors import ParseError
from tamis.expression.operands import clean_text
from tamis.expression.predicate import ONE_VALUE, Operand, Operator, Predicate, operator
from tamis.expression.views import Atom, on_pattern
from tamis.limits import Limits
from tamis.values.occurrences import Occurrence, literal_occurrences
from tamis.values.pattern import LikePattern, like_matches
from tamis.values.value import Value

Place = Literal["prefix", "suffix", "contains"]

_TEXT = Operand("string", "a text")


class Affix(Predicate, frozen=True):
    """The test ``attribute [NOT] STARTS WITH | ENDS WITH | CONTAINS text``; the text has no wildcards."""

    place: Place
    value: str
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (
        operator(32, "starts with", _TEXT, fields={"place": "prefix"}),
        operator(34, "ends with", _TEXT, fields={"place": "suffix"}),
        operator(36, "contains", _TEXT, fields={"place": "contains"}),
    )
    OPERANDS: ClassVar[tuple[str, ...]] = ("value",)
    STRENGTH: ClassVar[int] = 2
    LIKELIHOOD: ClassVar[float] = 2 * ONE_VALUE

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string with the text at the right place."""
        return type(value) is str and like_matches(self._pattern, value)

    def occurrences(self, value: Value) -> Iterator[Occurrence]:
        """Yield where the text stands."""
        if type(value) is str:
            yield from literal_occurrences(self._pattern, value, self.value, folded=False)

    @property
    def _pattern(self) -> LikePattern:
        return LikePattern(self.place, self.value, "")

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with a clean text."""
        if self.place not in ("prefix", "suffix", "contains"):
            raise ParseError(f"{self.place!r} is not a place in a string; use prefix, suffix or contains")
        value = clean_text(self.value, limits, "a text")
        return self.changed(value=value, negated=bool(self.negated))

    def implies(self, other: Predicate) -> bool:
        """Return whether a string with this text has the text of ``other``, too."""
        if not isinstance(other, Affix):
            return False
        if other.place == "contains":
            return other.value in self.value
        return other.place == self.place and like_matches(other._pattern, self.value)

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return a range of strings for a prefix or suffix, a flag for a text anywhere."""
        return (on_pattern(self._pattern, folded=False),)
