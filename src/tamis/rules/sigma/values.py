"""Turn a field and a value of a Sigma rule into a predicate.

Sigma compares without regard to case, and a number equals its digits. So an equality of a text is an
``ILIKE``, and a number is compared both as a number and as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sigma.types import (
    CompareOperators,
    Placeholder,
    SigmaBool,
    SigmaCasedString,
    SigmaCIDRExpression,
    SigmaCompareExpression,
    SigmaExists,
    SigmaExpansion,
    SigmaFieldReference,
    SigmaNull,
    SigmaNumber,
    SigmaRegularExpression,
    SigmaString,
    SigmaTimestampPart,
    SigmaType,
    SpecialChars,
)

from tamis.errors import SubscriptionError
from tamis.expression.predicates import Compare, Exists, Like, Network, Regex
from tamis.expression.tree import Expr, Or
from tamis.rules.trees import any_of, literal

_OPS: Mapping[CompareOperators, Any] = {
    CompareOperators.LT: "<",
    CompareOperators.LTE: "<=",
    CompareOperators.GT: ">",
    CompareOperators.GTE: ">=",
}
_WILD = {SpecialChars.WILDCARD_MULTI: "%", SpecialChars.WILDCARD_SINGLE: "_"}
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,15}+)")


def predicate(field: str, value: SigmaType) -> Expr:
    """Return the test of one value; raise an error that says why there is none."""
    for kind, make in _TESTS:
        if isinstance(value, kind):
            return make(field, value)
    raise SubscriptionError(f"{field}: Tamis has no test for a {type(value).__name__}")


def _expansion(field: str, value: SigmaExpansion) -> Expr:
    return any_of([predicate(field, one) for one in value.values])


def _text(field: str, value: SigmaString) -> Expr:
    pattern = pattern_of(value)
    if pattern.strip("%") == "" and pattern:
        return Exists(field)
    like = Like(field, pattern, fold=not isinstance(value, SigmaCasedString))
    if _NUMBER.fullmatch(pattern):
        return Or((Compare(field, "=", int(pattern)), like))
    if pattern.lower() in ("true", "false"):
        return Or((Compare(field, "=", pattern.lower() == "true"), like))
    return like


def pattern_of(value: SigmaString) -> str:
    """Return the LIKE pattern of a text with Sigma's wildcards."""
    pieces: list[str] = []
    for part in value.s:
        if isinstance(part, Placeholder):
            raise SubscriptionError(
                f"the placeholder %{part.name}% has no values; give them in placeholders={{{part.name!r}: …}}"
            )
        pieces.append(_WILD[part] if isinstance(part, SpecialChars) else literal(part))
    return "".join(pieces)


def _number(field: str, value: SigmaNumber) -> Expr:
    _check_size(field, value)
    return Or((Compare(field, "=", value.number), Like(field, str(value.number), fold=True)))


def _check_size(field: str, value: SigmaNumber) -> None:
    """Refuse a whole number beyond 64 bits: pySigma has rounded it already."""
    if abs(value.number) >= 2**63:
        raise SubscriptionError(f"{field}: {value.number} lies beyond the integers of 64 bits; quote it")


def _truth(field: str, value: SigmaBool) -> Expr:
    return Or((Compare(field, "=", bool(value)), Like(field, str(bool(value)).lower(), fold=True)))


def _regex(field: str, value: SigmaRegularExpression) -> Expr:
    if value.contains_placeholder():
        raise SubscriptionError(f"{field}: Tamis puts no values into a regular expression; list the patterns")
    flags = "".join(sorted(SigmaRegularExpression.sigma_to_re_flag[flag] for flag in value.flags))
    pattern = str(value.regexp)
    return Regex(field, f"(?{flags}){pattern}" if flags else pattern)


def _comparison(field: str, value: SigmaCompareExpression) -> Expr:
    op = _OPS.get(value.op)
    if op is None:
        raise SubscriptionError(f"{field}: Tamis has no comparison {value.op.name}")
    if isinstance(value.number, SigmaTimestampPart):
        return _part_of_a_time(field, value.number)
    _check_size(field, value.number)
    return Compare(field, op, value.number.number)


def _part_of_a_time(field: str, value: SigmaTimestampPart) -> Expr:
    raise SubscriptionError(
        f"{field}: Tamis does not compare the {value.timestamp_part.name.lower()} of a time"
    )


def _reference(field: str, value: SigmaFieldReference) -> Expr:
    raise SubscriptionError(f"{field}: Tamis does not compare an attribute with the attribute {value.field}")


_TESTS: tuple[tuple[type[SigmaType], Callable[[str, Any], Expr]], ...] = (
    (SigmaExpansion, _expansion),
    (SigmaString, _text),
    (SigmaTimestampPart, _part_of_a_time),
    (SigmaFieldReference, _reference),
    (SigmaNumber, _number),
    (SigmaBool, _truth),
    (SigmaRegularExpression, _regex),
    (SigmaCIDRExpression, lambda field, value: Network(field, (str(value.network),))),
    (SigmaCompareExpression, _comparison),
    (SigmaExists, lambda field, value: Exists(field, negated=not value.exists)),
    (SigmaNull, lambda field, value: Exists(field, negated=True)),
)
