"""Define ``attribute IS NOT NULL`` and ``IS NULL``."""

from __future__ import annotations

from typing import ClassVar, Self

from tamis.expression.predicate import NOTHING, PRESENT, Access, Operator, Predicate, Spelling
from tamis.limits import Limits
from tamis.values.value import Value


class Exists(Predicate, frozen=True):
    """The test ``attribute IS NOT NULL``; negated, ``attribute IS NULL``."""

    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (
        Operator(30, "exists", (Spelling("IS NOT NULL", NOTHING),), {}, ("IS NULL",)),
    )
    OPERANDS: ClassVar[tuple[str, ...]] = ()
    MAY_BE_EMPTY: ClassVar[bool] = True
    ACCESS: ClassVar[Access] = "presence"
    STRENGTH: ClassVar[int] = 0
    LIKELIHOOD: ClassVar[float] = PRESENT

    def accepts(self, value: Value) -> bool:
        """Return true: every value is accepted."""
        return True

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate; it has no operands."""
        return self.changed(negated=bool(self.negated))

    @property
    def families(self) -> frozenset[str]:
        """The empty set: the predicate accepts values of every family."""
        return frozenset()
