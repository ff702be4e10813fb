"""Define ``attribute [NOT] IN (values)``."""

from __future__ import annotations

from typing import ClassVar, Self

from tamis.expression.operands import clean_list, clean_scalar
from tamis.expression.predicate import ONE_VALUE, PRESENT, VALUES, Access, Operator, Predicate, operator
from tamis.expression.suspicions import about_strings
from tamis.limits import Limits
from tamis.values.ranges import Accepted, in_range, point
from tamis.values.value import Scalar, Value, family


class In(Predicate, frozen=True):
    """The test ``attribute [NOT] IN (values)``."""

    values: tuple[Scalar, ...]
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (operator(12, "in", VALUES),)
    OPERANDS: ClassVar[tuple[str, ...]] = ("values",)
    LISTED: ClassVar[bool] = True
    MAY_BE_EMPTY: ClassVar[bool] = True
    ACCESS: ClassVar[Access] = "comparison"

    def accepts(self, value: Value) -> bool:
        """Return whether one value is in the list, or is an interval that holds one of the list."""
        return any(in_range(value, operand, operand) for operand in self.values)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with a clean list of values."""
        values = clean_list(self.values, "IN", limits)
        cleaned = tuple([clean_scalar(value, limits, "an IN list") for value in values])
        return self.changed(values=cleaned, negated=bool(self.negated))

    @property
    def is_empty(self) -> bool:
        """Whether the list is empty."""
        return not self.values

    def accepted(self) -> Accepted:
        """Return the values of the list."""
        return Accepted({point(value): value for value in self.values}, None)

    @property
    def strength(self) -> int:
        """The selectivity: a short list is true of few events."""
        return 4 if len(self.values) < 10 else 3

    @property
    def likelihood(self) -> float:
        """The share of events that the list is likely to be true of."""
        return min(ONE_VALUE * len(self.values), PRESENT)

    @property
    def families(self) -> frozenset[str]:
        """The families of the values."""
        return frozenset(map(family, self.values))

    def suspicion(self) -> tuple[str, str] | None:
        """Return a caution if a value is a string that looks like a time, a word or a pattern."""
        return about_strings(self.values, ordered=False)
