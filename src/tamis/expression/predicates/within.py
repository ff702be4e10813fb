"""Define ``attribute [NOT] WITHIN shape``."""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from tamis.expression.predicate import SHAPE, Operator, Predicate, operator
from tamis.expression.shapes import clean_shape
from tamis.expression.views import Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.shape import Polygon, Shape, covers
from tamis.values.value import Point, Value


class Within(Predicate, frozen=True):
    """The test ``attribute [NOT] WITHIN shape``: a point in the shape or on its border."""

    shape: Shape
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (operator(26, "within", SHAPE),)
    OPERANDS: ClassVar[tuple[str, ...]] = ("shape",)
    LIKELIHOOD: ClassVar[float] = 0.05
    FAMILY: ClassVar[str] = "point"

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a point that the shape covers."""
        return isinstance(value, Point) and covers(self.shape, value)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with a valid shape."""
        return self.changed(shape=clean_shape(self.shape, limits), negated=bool(self.negated))

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return the flag of the shape."""
        return (OnFlag(Flag.SHAPE, msgspec.json.encode(self.shape).decode()),)

    @property
    def comparisons(self) -> int:
        """The vertices of a polygon; 1 for other shapes."""
        if isinstance(self.shape, Polygon):
            return sum(len(ring) for area in self.shape.areas for ring in area)
        return 1
