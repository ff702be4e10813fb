"""Read and write the JSON form: the same trees as plain data, for an API body or a table column.

::

    {
        "and": [
            {"attribute": "model", "op": "=", "value": "iphone5s"},
            {"not": {"attribute": "color", "op": "in", "values": ["red", "pink"]}},
        ]
    }

Times and points are tagged as in events: ``{"$time": "…"}``, ``{"$point": [lon, lat]}``; polygons are
GeoJSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from tamis.errors import EventError, ExpressionError, ParseError, TypeMismatch
from tamis.expression.operands import depth_limit, kind_of, over
from tamis.expression.predicate import TEXTUAL, Operator
from tamis.expression.predicates import OPERATORS, Predicate
from tamis.expression.tree import And, Expr, Not, Or
from tamis.language.check import check_tree
from tamis.language.hints.json_words import object_hint, operator_hint
from tamis.language.parse import utf8_size
from tamis.language.printer import leaf
from tamis.language.shapes_json import shape_from_json, shape_to_json
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers, analyser_of
from tamis.values.event import tagged, tagged_value
from tamis.values.value import Interval

_NAMED: dict[str, tuple[type[Predicate], Operator, bool]] = {}
for _kind, _operator in OPERATORS:
    _NAMED[_operator.name] = _kind, _operator, False
    if _operator.negative is not None:
        _NAMED["!=" if _operator.name == "=" else f"not {_operator.name}"] = _kind, _operator, True


_FURTHER = ("attribute", "op", "weight")


def from_json(
    source: Mapping[str, Any] | str | bytes,
    limits: Limits = DEFAULT_LIMITS,
    analysers: Analysers = NO_ANALYSERS,
) -> Expr:
    """Return the tree of a JSON object, passed as decoded data or as JSON text."""
    decoded = decode_json(source, limits) if isinstance(source, str | bytes) else source
    return check_tree(_read(decoded, 1, depth_limit(limits)), limits, analysers)


def to_json(expr: Expr) -> dict[str, Any]:
    """Return the JSON form of a valid tree; ``from_json`` gives the tree back."""
    if isinstance(expr, And | Or):
        return {"and" if isinstance(expr, And) else "or": [to_json(child) for child in expr.children]}
    if isinstance(expr, Not):
        return {"not": to_json(expr.child)}
    written = {"attribute": leaf(expr).attribute, "op": _name_of(expr), **_operands_of(expr)}
    return written if expr.weight == 1.0 else {**written, "weight": expr.weight}


def decode_json(source: str | bytes, limits: Limits) -> Any:
    """Return the data of a JSON text; check its size, repeated keys and infinite numbers."""
    size = len(source) if isinstance(source, bytes) else utf8_size(source)
    if size > limits.expression_bytes:
        raise over("expression_bytes", limits.expression_bytes, f"the JSON text has {size} bytes")
    try:
        return json.loads(source, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except ExpressionError:
        raise
    except json.JSONDecodeError as bad:
        raise ParseError(f"not JSON: {bad.msg}", text=bad.doc, position=bad.pos) from None
    except (ValueError, RecursionError) as bad:  # bad UTF-8, integers of thousands of digits, deep nesting
        raise ParseError(f"not JSON that can be read: {str(bad)[:80]}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ParseError(f"a key stands twice in one object: {', '.join(key for key, _ in pairs)[:80]}")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise TypeMismatch(f"{name} is not a finite number")


def _read(data: Any, depth: int, deepest: int) -> Expr:
    """Return an unchecked tree; verify only the facts that the checker cannot see."""
    if depth > deepest:
        raise over("expression_depth", deepest, f"the expression is at least {depth} levels deep")
    if not isinstance(data, Mapping):
        raise ParseError(f"an expression is a JSON object, not {kind_of(data)}")
    if len(data) == 1:
        (key, body), *_ = data.items()
        if key in ("and", "or"):
            if not isinstance(body, list | tuple):
                raise ParseError(f"{key!r} takes a list of expressions, not {kind_of(body)}")
            node = And if key == "and" else Or
            return node(tuple([_read(child, depth + 1, deepest) for child in body]))
        if key == "not":
            return Not(_read(body, depth + 1, deepest))
    return _read_predicate(data)


def _read_predicate(data: Mapping[str, Any]) -> Predicate:
    op = data.get("op")
    if not isinstance(op, str) or "attribute" not in data:
        expected = 'one of the keys "and", "or", "not", or both "attribute" and "op"'
        found = ", ".join(map(repr, data))[:80] or "an empty object"
        raise ParseError(f"expected {expected}, found {found}. {object_hint(data)}")
    if op not in _NAMED:
        known = tuple(operator.name for _, operator in OPERATORS)
        raise ParseError(f"{op[:40]!r} is not an operator of the JSON form. {operator_hint(op[:40], known)}")
    kind, operator, negated = _NAMED[op]
    keys = kind.OPERANDS
    further = (*_FURTHER, "analyser") if kind.TAKES_ANALYSER else _FURTHER
    for key in data:
        if key not in keys and key not in further:
            raise ParseError(f"{key!r} is not a key of {op!r}; its keys are {', '.join(keys) or 'none'}")
    missing = [key for key in keys if key not in data]
    if missing:
        raise ParseError(f"{op!r} needs the key {missing[0]!r}")
    operands = tuple(data[key] for key in keys)
    if kind.LISTED:
        operands = (*_list(operands[0], keys[0]), *operands[1:])
    if operator.operand.kind == "shape":
        operands = tuple(map(shape_from_json, operands))
    elif operator.operand.kind not in TEXTUAL:
        operands = tuple(map(_value, operands))
    built = kind.build(operator, data["attribute"], operands, negated, data.get("weight", 1.0))
    return built.changed(analyser=_analyser(data["analyser"])) if "analyser" in data else built


def _analyser(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeMismatch(f"the name of an analyser is a string, not {kind_of(name)}")
    return analyser_of(name).name


def _value(data: Any) -> Any:
    if not isinstance(data, Mapping):
        if data is None:
            raise TypeMismatch('null is not a value; to test for absence, use "not exists"')
        return data
    try:
        value = tagged_value(data)
    except EventError as bad:
        raise TypeMismatch(bad.message) from None
    if value is None or isinstance(value, Interval):
        raise TypeMismatch('an object cannot be a value, except {"$time": …} and {"$point": …}')
    return value


def _list(data: Any, what: str) -> tuple[Any, ...]:
    if not isinstance(data, list | tuple):
        raise TypeMismatch(f"{what} takes a list, not {kind_of(data)}")
    return tuple(data)


def _name_of(predicate: Predicate) -> str:
    name = predicate.operator.name
    if not predicate.is_negative:
        return name
    return "!=" if name == "=" else f"not {name}"


def _operands_of(predicate: Predicate) -> dict[str, Any]:
    """Return the operands by their keys, and the analyser if there is one."""
    write = shape_to_json if predicate.operator.operand.kind == "shape" else tagged
    fields = [(name, getattr(predicate, name)) for name in predicate.OPERANDS]
    analyser = getattr(predicate, "analyser", "")
    listed = predicate.OPERANDS[0] if predicate.LISTED else ""
    written = {name: list(map(write, field)) if name == listed else write(field) for name, field in fields}
    return {**written, "analyser": analyser} if analyser else written
