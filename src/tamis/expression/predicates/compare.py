"""Define ``attribute op value``: equality and order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import msgspec

from tamis.errors import ParseError, TypeMismatch
from tamis.expression.operands import clean_operand, kind_of
from tamis.expression.predicate import ONE_VALUE, PRESENT, VALUE, Access, Operator, Predicate, operator
from tamis.expression.suspicions import about_strings
from tamis.expression.views import Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.ranges import Accepted, Range, in_range, point
from tamis.values.value import Point, Scalar, Value, family

CompareOp = Literal["=", "!=", "<", "<=", ">", ">="]


class Compare(Predicate, frozen=True):
    """The test ``attribute op value``; ``!=`` is the negative form of ``=``."""

    op: CompareOp
    value: Scalar | Point
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (
        operator(0, "=", VALUE, "==", fields={"op": "="}, negative=("!=", "<>")),
        operator(2, "<", VALUE, fields={"op": "<"}, negative=None),
        operator(4, "<=", VALUE, fields={"op": "<="}, negative=None),
        operator(6, ">", VALUE, fields={"op": ">"}, negative=None),
        operator(8, ">=", VALUE, fields={"op": ">="}, negative=None),
    )
    OPERANDS: ClassVar[tuple[str, ...]] = ("value",)
    ACCESS: ClassVar[Access] = "comparison"

    @property
    def operator(self) -> Operator:
        """The operator of the positive form."""
        return _BY_SIGN[self.op]

    @property
    def code(self) -> int:
        """The code of the operator in columns."""
        return _CODES[self.op]

    @property
    def operands(self) -> tuple[Any, ...]:
        """The value."""
        return (self.value,)

    @classmethod
    def build(
        cls, operator: Operator, attribute: Any, operands: Sequence[Any], negated: bool, weight: Any
    ) -> Self:
        """Return the comparison; it is not checked."""
        return cls(attribute, "!=" if negated else operator.fields["op"], operands[0], weight)

    @property
    def is_negative(self) -> bool:
        """Whether this is the negative form."""
        return self.op == "!="

    def positive(self) -> Self:
        """Return the positive form that this comparison is or denies."""
        return msgspec.structs.replace(self, op="=") if self.op == "!=" else self

    def negative(self) -> Self:
        """Return the negative form of an equality."""
        return msgspec.structs.replace(self, op="!=")

    def accepts(self, value: Value) -> bool:
        """Return whether the positive form accepts one value."""
        operand, op = self.value, self.op
        if isinstance(value, Point) or isinstance(operand, Point):
            return op in ("=", "!=") and value == operand
        low, high = (None if op in ("<", "<=") else operand), (None if op in (">", ">=") else operand)
        return in_range(value, low, high, op == ">", op == "<")

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the comparison with a clean value; booleans and points have no order."""
        op: Any = self.op
        if not isinstance(op, str) or op not in _CODES:
            raise ParseError(f"{op!r} is not an operator; the operators are = != < <= > >=")
        value = clean_operand(self.value, limits)
        if self.op not in ("=", "!=") and type(value) in (bool, Point):
            raise TypeMismatch(f"{self.op} cannot order {kind_of(value)}; only = and != can compare it")
        return self.changed(value=value)

    def accepted(self) -> Accepted | None:
        """Return the accepted values as a point or a range; points on the map have no order."""
        if isinstance(self.value, Point):
            return None
        if self.op == "=":
            return Accepted({point(self.value): self.value}, None)
        low, high = (self.value, None) if self.op in (">", ">=") else (None, self.value)
        return Accepted({}, Range(family(self.value), low, self.op == ">", high, self.op == "<"))

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return the flag of a point on the map; other values are located by comparison."""
        return (OnFlag(Flag.POINT, msgspec.json.encode(self.value).decode()),)

    @property
    def is_comparison(self) -> bool:
        """Whether values are compared by order; points on the map are not."""
        return not isinstance(self.value, Point)

    @property
    def strength(self) -> int:
        """The selectivity: an equality is true of few events, an order of many."""
        return 4 if self.op == "=" else 1

    @property
    def likelihood(self) -> float:
        """The share of events that the comparison is likely to be true of."""
        return ONE_VALUE if self.op == "=" else PRESENT / 2

    @property
    def families(self) -> frozenset[str]:
        """The family of the value."""
        return frozenset((family(self.value),))

    def suspicion(self) -> tuple[str, str] | None:
        """Return a caution if the value is a string that looks like a number, a time or a pattern."""
        return about_strings(self.operands, ordered=self.op not in ("=", "!="))


_BY_SIGN: dict[str, Operator] = {one.fields["op"]: one for one in Compare.OPERATORS}
_BY_SIGN["!="] = _BY_SIGN["="]
_CODES: dict[str, int] = {sign: one.code | (sign == "!=") for sign, one in _BY_SIGN.items()}
