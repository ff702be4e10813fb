"""Read the tests of ``some``, ``all`` and ``none`` on the elements of an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tamis.expression.predicates import Compare
from tamis.language.eventbridge.place import Place

FLIPPED: dict[str, Any] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Element(NamedTuple):
    """A reader of the test on the elements of an array."""

    array: str

    def predicate(self, rule: Any, place: Place) -> Compare:
        """Return the predicate on the elements, or on one of their fields."""
        if not isinstance(rule, Mapping) or len(rule) != 1:
            place.refuse("the test of elements is one comparison")
        ((sign, operands),) = rule.items()
        if sign not in ("==", "===", *FLIPPED) or not isinstance(operands, list) or len(operands) != 2:
            place.refuse(f"the test of elements is one comparison with a constant, not {str(sign)[:40]!r}")
        one, two = operands
        if not isinstance(one, Mapping):
            one, two, sign = two, one, FLIPPED.get(sign, sign)
        if (
            not isinstance(one, Mapping)
            or list(one) != ["var"]
            or isinstance(two, Mapping | list)
            or two is None
        ):
            place.refuse("the test of elements compares a field with a constant")
        field = one["var"][0] if isinstance(one["var"], list) and one["var"] else one["var"]
        if not isinstance(field, str):
            place.refuse("the name of a field is a text")
        op: Any = "=" if sign in ("==", "===") else sign
        return Compare(f"{self.array}.{field}" if field else self.array, op, two)
