"""Define ``attribute [NOT] RLIKE pattern``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Self

from tamis.expression.operands import clean_text, over
from tamis.expression.predicate import Operand, Operator, Predicate, operator
from tamis.expression.views import Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.occurrences import Occurrence
from tamis.values.pattern import compiled
from tamis.values.value import Value

_FLAGS = re.compile(r"/[gimsu]{1,3}+")


class Regex(Predicate, frozen=True):
    """The test ``attribute [NOT] RLIKE pattern``: RE2 syntax, found anywhere in the value."""

    pattern: str
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (
        operator(18, "rlike", Operand("string", "a regular expression"), "REGEXP"),
    )
    OPERANDS: ClassVar[tuple[str, ...]] = ("pattern",)
    STRENGTH: ClassVar[int] = 2
    LIKELIHOOD: ClassVar[float] = 0.1

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string in which the pattern is found."""
        return type(value) is str and compiled(self.pattern).search(value) is not None

    def occurrences(self, value: Value) -> Iterator[Occurrence]:
        """Yield the first match, unless it is empty."""
        found = compiled(self.pattern).search(value) if type(value) is str else None
        if found is not None and found.start() < found.end():
            yield Occurrence(found.start(), found.end(), self.pattern)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with a clean pattern that RE2 accepts."""
        pattern = clean_text(self.pattern, limits, "a regular expression")
        if len(pattern) > limits.regex_characters:
            what = f"the regular expression has {len(pattern)} characters"
            raise over("regex_characters", limits.regex_characters, what)
        compiled(pattern)
        return self.changed(pattern=pattern, negated=bool(self.negated))

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return the flag of the pattern."""
        return (OnFlag(Flag.REGEX, self.pattern),)

    @property
    def needs_automaton(self) -> bool:
        """Whether an index must try the pattern on every value: always."""
        return True

    def suspicion(self) -> tuple[str, str] | None:
        """Return a caution if slashes and flags stand around the pattern."""
        if self.pattern.startswith("/") and _FLAGS.fullmatch(self.pattern[self.pattern.rindex("/") :]):
            return (
                "literal-wildcard",
                "slashes and flags around a pattern are part of it; write (?i) instead",
            )
        return None
