"""Import filters of CQL2.

A comparison with an absent property is unknown, as in SQL, so NOT is carried down to the comparisons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tamis.errors import ParseError, TypeMismatch
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import Between, Compare, Exists, In, Like
from tamis.expression.tree import FALSE, TRUE, Expr
from tamis.language.eventbridge.place import Place
from tamis.rules.cql2 import spatial, temporal
from tamis.rules.cql2.parser import CQL2Parser, Interval, Shape, from_json
from tamis.rules.expressions import Entry, Expressions
from tamis.rules.imported import Place as Line
from tamis.rules.infix.parser import Call, Constant, Name, Node, chain
from tamis.rules.trees import all_of, denied, either, literal

_FLIPPED: dict[str, Any] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ARITHMETIC = ("+", "-", "*", "/", "%", "div", "^")


class CQL2(Expressions):
    """The importer; a rule is a text, or an object of CQL2 JSON."""

    def entry(self, value: Any, name: str, place: Line) -> Entry:
        """Return the entry of a filter; an object is written as JSON again, because a rule is a text here."""
        entry = super().entry(value, name, place)
        return entry._replace(rule=json.dumps(entry.rule)) if isinstance(entry.rule, Mapping) else entry

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of a filter."""
        if rule.lstrip().startswith("{"):
            value = self._decoded(rule)
            if isinstance(value, Exception):
                raise value
            node = from_json(value, Place("", "$", self.limits))
        else:
            node = CQL2Parser(rule, self.limits).whole()
        return _Filter(differences).read(node, False)


class _Filter:
    """A reader of one filter; ``negated`` asks when it is false instead of when it is true."""

    def __init__(self, differences: list[str]) -> None:
        self._differences = differences

    def read(self, node: Node, negated: bool) -> Expr:
        if isinstance(node, Constant) and isinstance(node.value, bool):
            return TRUE if node.value != negated else FALSE
        if isinstance(node, Name):
            return Compare(node.name, "=", not negated)
        if isinstance(node, Constant):
            raise ParseError(f"{str(node.value)[:40]!r} is no condition")
        name, arguments = node
        if name in ("and", "or"):
            parts = [self.read(one, negated) for one in chain(name, node)]
            return (either if (name == "or") != negated else all_of)(parts)
        if name == "not":
            return self.read(_one(node), not negated)
        if name in _FLIPPED:
            return self._comparison(name, *_two(node), negated)
        if name in temporal.NAMES:
            return self._temporal(name, arguments, negated)
        if name in spatial.NAMES:
            found, is_denial = spatial.predicate(name, arguments, self._differences)
            return denied(found) if negated != is_denial else found
        if name not in _READERS:
            _refuse(node)
        return _READERS[name](self, node, negated)

    def _leaf(self, found: Predicate, negated: bool) -> Expr:
        return denied(found) if negated else found

    def _comparison(self, sign: str, left: Node, right: Node, negated: bool) -> Expr:
        if isinstance(left, Constant) and not isinstance(right, Constant):
            left, right, sign = right, left, _FLIPPED[sign]
        if isinstance(left, Constant) and isinstance(right, Constant):
            raise ParseError("a comparison of two constants is not read")
        folded = self._folded(left)
        if folded is not None:
            text = self._text(right)
            if sign not in ("=", "<>"):
                raise ParseError("CASEI is compared with =, <>, LIKE and IN only")
            return self._leaf(Like(folded, literal(text), True), negated != (sign == "<>"))
        op: Any = "!=" if sign == "<>" else sign
        return self._leaf(Compare(self._name(left), op, self._value(right)), negated)

    def _temporal(self, name: str, arguments: tuple[Node, ...], negated: bool) -> Expr:
        parts, all_needed = temporal.conditions(name, arguments)
        each = [self._leaf(one, negated) if isinstance(one, Predicate) else one for one in parts]
        if negated and any(not isinstance(one, Predicate) for one in parts):
            raise ParseError(f"the denial of {name} with an open end is not read")
        if not each:
            return FALSE if negated else TRUE
        return (all_of if all_needed != negated else either)(each)

    def isnull(self, node: Call, negated: bool) -> Expr:
        return Exists(self._name(_one(node)), negated=not negated)

    def like(self, node: Call, negated: bool) -> Expr:
        left, right = _two(node)
        folded = self._folded(left)
        name = self._name(left) if folded is None else folded
        return self._leaf(Like(name, self._text(right), folded is not None), negated)

    def in_(self, node: Call, negated: bool) -> Expr:
        left, right = _two(node)
        listed = right.value if isinstance(right, Constant) and isinstance(right.value, tuple) else None
        if listed is None:
            raise ParseError("IN takes a list of values")
        folded = self._folded(left)
        if folded is not None:
            parts = [self._leaf(Like(folded, literal(self._text(one)), True), negated) for one in listed]
            return (all_of if negated else either)(parts) if parts else FALSE
        return self._leaf(In(self._name(left), tuple(map(self._value, listed))), negated)

    def between(self, node: Call, negated: bool) -> Expr:
        if len(node.arguments) != 3:
            raise ParseError("BETWEEN takes a value and two ends")
        left, low, high = node.arguments
        return self._leaf(Between(self._name(left), self._value(low), self._value(high)), negated)

    def array(self, node: Call, negated: bool) -> Expr:
        left, right = _two(node)
        if not isinstance(right, Constant) or not isinstance(right.value, tuple) or not right.value:
            raise ParseError(f"{node.name} takes an attribute and a list of values")
        values = tuple(map(self._value, right.value))
        if node.name == "a_overlaps":
            return self._leaf(In(self._name(left), values), negated)
        parts = [self._leaf(Compare(self._name(left), "=", value), negated) for value in values]
        return (either if negated else all_of)(parts)

    # ---------------------------------------------------------------------------------------------- operands

    def _folded(self, node: Node) -> str | None:
        """Return the attribute inside CASEI; ``None`` if there is no CASEI."""
        if isinstance(node, Call) and node.name == "casei":
            return self._name(_one(node))
        return None

    def _text(self, node: Node) -> str:
        if isinstance(node, Call) and node.name == "casei":
            node = _one(node)
        value = self._value(node)
        if not isinstance(value, str):
            raise TypeMismatch(f"expected a text, found {str(value)[:40]!r}")
        return value

    def _name(self, node: Node) -> str:
        if isinstance(node, Name):
            return node.name
        _refuse(node)

    def _value(self, node: Node) -> Any:
        if isinstance(node, Constant) and not isinstance(node.value, Shape | Interval | tuple):
            return node.value
        if isinstance(node, Name):
            raise ParseError(f"Tamis does not compare an attribute with the attribute {node.name}")
        _refuse(node)


def _refuse(node: Node) -> NoReturn:
    """Raise the error that a node stands where an attribute or a value should."""
    if isinstance(node, Call) and node.name in _ARITHMETIC:
        raise ParseError(f"Tamis computes nothing: {node.name!r}")
    if isinstance(node, Call):
        raise ParseError(f"Tamis has no function {node.name[:40]!r} here")
    raise ParseError("expected an attribute on one side and a value on the other")


def _one(node: Call) -> Node:
    if len(node.arguments) != 1:
        raise ParseError(f"{node.name} takes one argument, not {len(node.arguments)}")
    return node.arguments[0]


def _two(node: Call) -> tuple[Node, Node]:
    if len(node.arguments) != 2:
        raise ParseError(f"{node.name} takes two arguments, not {len(node.arguments)}")
    return node.arguments[0], node.arguments[1]


_READERS: dict[str, Callable[[_Filter, Call, bool], Expr]] = {
    "isnull": _Filter.isnull,
    "like": _Filter.like,
    "in": _Filter.in_,
    "between": _Filter.between,
    "a_contains": _Filter.array,
    "a_overlaps": _Filter.array,
}
