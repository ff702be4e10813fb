"""Read the query string of a search form as a conjunction.

In ``mark=FORD&model=FOCUS&model=MONDEO&year_from=2014&price_to=5000`` each name is a condition, a name that
occurs several times is a choice, ``_from`` and ``_to`` are the ends of a range.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote_plus

from tamis.errors import ExpressionError, ParseError
from tamis.expression.operands import over
from tamis.expression.predicates import Between, Compare, In, Predicate
from tamis.expression.tree import And, Expr
from tamis.language.check import check_tree
from tamis.language.parse import utf8_size
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers
from tamis.values.value import Scalar

# '007' is a code, not a number: a leading zero keeps a value a string.
_INTEGER = re.compile(r"-?+(?:0|[1-9][0-9]{0,18}+)")
_FLOAT = re.compile(r"-?+(?:0|[1-9][0-9]{0,18}+)\.[0-9]{1,40}+")
_BOOLEANS = {"true": True, "false": False}
_ENDS = ("_from", "_to")


class _Field(NamedTuple):
    name: str
    value: Scalar
    start: int


def from_query_string(
    text: str, limits: Limits = DEFAULT_LIMITS, analysers: Analysers = NO_ANALYSERS
) -> Expr:
    """Return the tree of a form's query string; blank fields are ignored, an empty form is TRUE."""
    if not isinstance(text, str):
        raise ParseError(f"a query string is a string, not a {type(text).__name__}")
    if (size := utf8_size(text)) > limits.expression_bytes:
        raise over("expression_bytes", limits.expression_bytes, f"the query string has {size} bytes")
    groups: dict[str, list[_Field]] = {}
    for field in _fields(text):
        groups.setdefault(_base(field.name), []).append(field)
    try:
        return check_tree(And(tuple(_conditions(text, groups))), limits, analysers)
    except ExpressionError as bad:
        bad.text = text if bad.text is None else bad.text
        raise


def _fields(text: str) -> Iterator[_Field]:
    start = 1 if text.startswith("?") else 0
    for pair in text[start:].split("&"):
        name, sign, value = pair.partition("=")
        if pair and not sign:
            raise ParseError(f"expected name=value, found {pair[:40]}", text=text, position=start)
        if value:
            yield _Field(_decoded(name, text, start), _typed(_decoded(value, text, start)), start)
        start += len(pair) + 1


def _decoded(part: str, text: str, start: int) -> str:
    try:
        return unquote_plus(part, errors="strict")
    except UnicodeDecodeError:
        raise ParseError(f"{part[:40]} is not percent-encoded UTF-8", text=text, position=start) from None


def _typed(value: str) -> Scalar:
    if _INTEGER.fullmatch(value) and -(2**63) <= int(value) < 2**63:
        return int(value)
    if _FLOAT.fullmatch(value):
        return float(value)
    return _BOOLEANS.get(value, value)


def _base(name: str) -> str:
    for end in _ENDS:
        if name.endswith(end) and name != end:
            return name.removesuffix(end)
    return name


def _conditions(text: str, groups: dict[str, list[_Field]]) -> Iterator[Predicate]:
    """Yield for each name, in order of first appearance, its choices, then its range."""
    for base, fields in groups.items():
        choices = [field.value for field in fields if field.name == base]
        if choices:
            yield Compare(base, "=", choices[0]) if len(choices) == 1 else In(base, tuple(choices))
        low, high = (_end(text, fields, base + end) for end in _ENDS)
        if low is not None and high is not None:
            yield Between(base, low, high)
        elif low is not None:
            yield Compare(base, ">=", low)
        elif high is not None:
            yield Compare(base, "<=", high)


def _end(text: str, fields: list[_Field], name: str) -> Scalar | None:
    found = [field for field in fields if field.name == name]
    if len(found) > 1:
        raise ParseError(f"{name[:80]} stands twice; a range has one end", text=text, position=found[1].start)
    return found[0].value if found else None
