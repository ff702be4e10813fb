"""Write an expression as an EventBridge pattern."""

from __future__ import annotations

from typing import Any

from tamis.errors import ParseError
from tamis.expression.predicates import Between, Compare, Exists, In, Like, Network
from tamis.expression.tree import And, Expr, Not, Or
from tamis.language import to_text
from tamis.values.event import NULLS
from tamis.values.pattern import Wild, parts_of_like

Field = tuple[str, list[Any]]


def pattern_of(tree: Expr) -> dict[str, Any]:
    """Return the pattern; raise an error if a part of the tree has none."""
    pattern: dict[str, Any] = {}
    for part in tree.children if isinstance(tree, And) and _field(tree) is None else (tree,):
        found = _field(part)
        if found is not None:
            _put(pattern, *found)
        elif isinstance(part, Or) and part.children:
            if "$or" in pattern:
                raise ParseError("a pattern has one $or at each level")
            pattern["$or"] = [pattern_of(child) for child in part.children]
        else:
            raise ParseError(f"EventBridge has no pattern for {_shown(part)}")
    if not pattern:
        raise ParseError("EventBridge has no pattern that every event satisfies")
    return pattern


def _put(pattern: dict[str, Any], name: str, entries: list[Any]) -> None:
    """Write the entries of a field into the nested objects of a pattern."""
    *outer, last = name.split(".")
    place: Any = pattern
    for step in outer:
        place = place.setdefault(step, {})
        if not isinstance(place, dict):
            raise ParseError(f"EventBridge tests {name} and a field above it")
    if last in place:
        raise ParseError(f"a pattern tests a field once, and this tests {name} twice")
    place[last] = entries


def _field(node: Expr) -> Field | None:
    """Return the attribute and the entries of a test of one attribute; ``None`` if it is no such test."""
    match node:
        case And((Exists(name, True), Not(Compare(attribute, "=", value)))) if (attribute, value) == (
            NULLS,
            name,
        ):
            return name, [{"exists": False}]
        case Or((Exists(name, False), Compare(attribute, "=", value))) if (attribute, value) == (NULLS, name):
            return name, [{"exists": True}]
        case Or((denied, Compare(attribute, "=", str(name)))) if attribute == NULLS and _is_denial(
            denied, name
        ):
            return name, [{"anything-but": _anything_but(denied)}]
        case Or(children) if children:
            fields = [_field(child) for child in children]
            names = {field[0] for field in fields if field is not None}
            if None in fields or len(names) > 1:
                return None
            return names.pop(), [entry for field in fields if field is not None for entry in field[1]]
        case Compare(attribute, "=", str(name)) if attribute == NULLS:
            return name, [None]
    return _predicate(node)


def _is_denial(node: Expr, name: str) -> bool:
    return isinstance(node, Compare | In) and node.is_negative and node.attribute == name


def _anything_but(node: Any) -> Any:
    return list(node.values) if isinstance(node, In) else [node.value]


def _predicate(node: Expr) -> Field | None:
    match node:
        case Compare(name, "=", str() | int() | float() as value):
            return name, [value]
        case Compare(name, "<" | "<=" | ">" | ">=" as op, int() | float() as value):
            return name, [{"numeric": [op, value]}]
        case Between(name, int() | float() as low, int() | float() as high, False):
            return name, [{"numeric": [">=", low, "<=", high]}]
        case In(name, values, False) if values and all(isinstance(one, str | int | float) for one in values):
            return name, list(values)
        case Like(name, pattern, fold, False):
            return name, [_wildcard(pattern, fold)]
        case Network(name, blocks, False):
            return name, [{"cidr": block} for block in blocks]
    return None


def _wildcard(pattern: str, fold: bool) -> dict[str, Any]:
    parts = list(parts_of_like(pattern))
    wild = Wild.ANY
    match parts:
        case [str(text)]:
            return {"equals-ignore-case": text} if fold else {"wildcard": _escaped(text)}
        case [str(text), one] if one is wild:
            return {"prefix": {"equals-ignore-case": text} if fold else text}
        case [one, str(text)] if one is wild:
            return {"suffix": {"equals-ignore-case": text} if fold else text}
    if fold or Wild.ONE in parts:
        raise ParseError(f"EventBridge has no pattern for the wildcards of {pattern[:60]!r}")
    return {"wildcard": "".join("*" if isinstance(part, Wild) else _escaped(part) for part in parts)}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("*", "\\*")


def _shown(node: Expr) -> str:
    return to_text(node)[:80]
