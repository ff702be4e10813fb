"""``attribute IS NOT NULL`` and ``IS NULL``."""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from tamis.expression.predicate import NOTHING, PRESENT, Access, Operator, Predicate, Spelling
from tamis.limits import Limits
from tamis.values.value import Value


class Exists(Predicate, frozen=True):
    """``attribute IS NOT NULL``; negated, ``attribute IS NULL``."""

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
        """Return that any value will do."""
        return True

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate; there are no operands."""
        return msgspec.structs.replace(self, negated=bool(self.negated))

    @property
    def families(self) -> frozenset[str]:
        """No family: every value will do."""
        return frozenset()
