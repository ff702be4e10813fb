"""Define ``attribute [NOT] BETWEEN low AND high``."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from tamis.errors import TypeMismatch
from tamis.expression.operands import clean_scalar, kind_of
from tamis.expression.predicate import ENDS, Access, Operator, Predicate, operator
from tamis.expression.suspicions import about_strings
from tamis.limits import Limits
from tamis.values.ranges import Accepted, Range, in_range, point, reaches
from tamis.values.value import Scalar, Value, family


class Between(Predicate, frozen=True):
    """The test ``attribute [NOT] BETWEEN low AND high``, ends included."""

    low: Scalar
    high: Scalar
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (operator(10, "between", ENDS),)
    OPERANDS: ClassVar[tuple[str, ...]] = ("low", "high")
    ACCESS: ClassVar[Access] = "comparison"
    STRENGTH: ClassVar[int] = 2
    LIKELIHOOD: ClassVar[float] = 0.1

    @property
    def code(self) -> int:
        """The code of the operator in columns; every addition asks for it, so it is not looked up."""
        return self.OPERATORS[0].code | self.negated

    @property
    def operands(self) -> tuple[Any, ...]:
        """The two ends."""
        return self.low, self.high

    def accepts(self, value: Value) -> bool:
        """Return whether one value lies in the range, or is an interval that shares a value with it."""
        # A range written backwards is empty, so not even an interval that spans both ends overlaps it.
        return reaches(self.low, False, self.high, False) and in_range(value, self.low, self.high)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with clean ends of one type that has an order; ``low > high`` is empty."""
        low, high = clean_ends(self.low, self.high, limits)
        return self.changed(low=low, high=high, negated=bool(self.negated))

    @property
    def is_empty(self) -> bool:
        """Whether the ends are written backwards."""
        return bool(self.low > self.high)  # type: ignore[operator]

    def accepted(self) -> Accepted:
        """Return the accepted values as a range, or as a point if both ends are equal."""
        if family(self.low) == family(self.high) and self.low == self.high:
            return Accepted({point(self.low): self.low}, None)
        return Accepted({}, Range(family(self.low), self.low, False, self.high, False))

    @property
    def families(self) -> frozenset[str]:
        """The family of the ends."""
        return frozenset((family(self.low),))

    def suspicion(self) -> tuple[str, str] | None:
        """Return a caution if an end is a string that looks like a number, a time or a pattern."""
        return about_strings(self.operands, ordered=True)


def clean_ends(low: Any, high: Any, limits: Limits) -> tuple[Scalar, Scalar]:
    """Return clean ends of one type that has an order."""
    first, last = clean_scalar(low, limits, "BETWEEN"), clean_scalar(high, limits, "BETWEEN")
    if bool in (type(first), type(last)):
        raise TypeMismatch("BETWEEN cannot order a boolean")
    if family(first) != family(last):
        raise TypeMismatch(f"the ends of BETWEEN have different types: {kind_of(first)} and {kind_of(last)}")
    return first, last
