"""Define ``attribute [NOT] LIKE pattern`` and ``ILIKE``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Self

from tamis.expression.operands import clean_text
from tamis.expression.predicate import ONE_VALUE, PRESENT, Operand, Operator, Predicate, operator
from tamis.expression.views import Atom, on_pattern
from tamis.limits import Limits
from tamis.values.occurrences import Occurrence, literal_occurrences
from tamis.values.pattern import compiled, like_matches, read_like
from tamis.values.text import fold
from tamis.values.value import Value

_PATTERN = Operand("string", "a pattern")
_STAR = re.compile(r"\w[*]|[*]\w")


class Like(Predicate, frozen=True):
    """The test ``attribute [NOT] LIKE pattern``: ``%`` any run, ``_`` one character, backslash escapes."""

    pattern: str
    fold: bool = False
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (
        operator(14, "like", _PATTERN, fields={"fold": False}),
        operator(16, "ilike", _PATTERN, fields={"fold": True}),
    )
    OPERANDS: ClassVar[tuple[str, ...]] = ("pattern",)
    STRENGTH: ClassVar[int] = 2

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string that the whole pattern matches."""
        if type(value) is not str:
            return False
        return like_matches(read_like(self.pattern, self.fold), fold(value) if self.fold else value)

    def occurrences(self, value: Value) -> Iterator[Occurrence]:
        """Yield where the literal of a simple pattern stands; other patterns have no certain place."""
        if type(value) is str:
            like = read_like(self.pattern, self.fold)
            yield from literal_occurrences(like, value, self.pattern, folded=self.fold)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with a clean pattern that RE2 accepts."""
        pattern = clean_text(self.pattern, limits, "a LIKE pattern")
        # A literal between runs of % needs no automaton, so there is no pattern to check.
        if "%" in pattern.strip("%") or "_" in pattern or "\\" in pattern:
            read = read_like(pattern, bool(self.fold))
            if read.shape == "general":
                compiled(read.regex)
        return self.changed(pattern=pattern, fold=bool(self.fold), negated=bool(self.negated))

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return a range of strings for a prefix or suffix, a flag for other patterns."""
        return (on_pattern(read_like(self.pattern, self.fold), self.fold),)

    @property
    def likelihood(self) -> float:
        """The share of events that the pattern is likely to match."""
        shape = read_like(self.pattern, self.fold).shape
        return {"equals": ONE_VALUE, "present": PRESENT}.get(shape, 2 * ONE_VALUE)

    @property
    def needs_automaton(self) -> bool:
        """Whether the pattern is neither a prefix, a suffix, a part nor a whole string."""
        return read_like(self.pattern, self.fold).shape == "general"

    def suspicion(self) -> tuple[str, str] | None:
        """Return a caution if ``*`` looks like a wildcard."""
        if "%" not in self.pattern and _STAR.search(self.pattern):
            return "literal-wildcard", "in LIKE the wildcards are % and _; * is itself"
        return None
