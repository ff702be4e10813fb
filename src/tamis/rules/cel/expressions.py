"""Import Boolean expressions of CEL.

An absent attribute is an error there, which ``&&`` and ``||`` pass over if the other side decides. That is
a third truth value, as in SQL. So ``!`` is carried down to the comparisons, and their denial needs the
attribute.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tamis.errors import EventValue, ParseError, TypeMismatch
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import Affix, Compare, Exists, In, Regex
from tamis.expression.tree import FALSE, TRUE, And, Expr, Or
from tamis.rules.cel.parser import CELParser, constant_of
from tamis.rules.expressions import Expressions
from tamis.rules.infix.parser import Call, Constant, Name, Node, chain
from tamis.rules.trees import all_of, denied, either
from tamis.values.event import NULLS
from tamis.values.value import parse_time

_FLIPPED: dict[str, Any] = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_INVERSE: dict[str, Any] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_PLACES: dict[str, Any] = {".startsWith": "prefix", ".endsWith": "suffix", ".contains": "contains"}
_MOST_READS = 4_096


class CEL(Expressions):
    """The importer."""

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of an expression."""
        return _Condition(differences).read(CELParser(rule, self.limits).whole(), False)


class _Condition:
    """A reader of one expression; ``negated`` asks when it is false instead of when it is true."""

    def __init__(self, differences: list[str]) -> None:
        self._differences = differences
        self._reads = 0

    def read(self, node: Node, negated: bool) -> Expr:
        self._reads += 1  # a choice reads its condition twice
        if self._reads > _MOST_READS:
            raise ParseError("the expression has too many parts")
        if isinstance(node, Name):
            return Compare(node.name, "=", not negated)
        if isinstance(node, Constant):
            if not isinstance(node.value, bool):
                raise TypeMismatch(f"{str(node.value)[:40]!r} is no condition")
            return TRUE if node.value != negated else FALSE
        name, arguments = node
        if name in ("&&", "||"):
            parts = [self.read(one, negated) for one in chain(name, node)]
            return (either if (name == "||") != negated else all_of)(parts)
        if name == "!":
            return self.read(arguments[0], not negated)
        if name == "?":
            return self._choice(arguments, negated)
        if name in _FLIPPED:
            return self._comparison(name, arguments[0], arguments[1], negated)
        if name not in _READERS:
            raise ParseError(f"Tamis computes no {name.lstrip('.')[:40]!r} of attributes")
        return _READERS[name](self, node, negated)

    def _choice(self, arguments: tuple[Node, ...], negated: bool) -> Expr:
        condition, one, two = arguments
        first = And((self.read(condition, False), self.read(one, negated)))
        return Or((first, And((self.read(condition, True), self.read(two, negated)))))

    def _leaf(self, found: Predicate, negated: bool) -> Expr:
        return denied(found) if negated else found

    # ------------------------------------------------------------------------------------------- comparisons

    def _comparison(self, sign: str, left: Node, right: Node, negated: bool) -> Expr:
        one, two = _value(left), _value(right)
        if one is not None and two is None:
            left, two, sign = right, one, _FLIPPED[sign]
        elif one is not None and two is not None:
            return _constants(one.value, sign, two.value, negated)
        if two is None:
            raise ParseError(
                "Tamis does not compare an attribute with another attribute, and computes nothing"
            )
        name, value = _name(left), two.value
        if sign in ("==", "!="):
            return self._equal(name, value, negated != (sign == "!="))
        if value is None or isinstance(value, list):
            raise TypeMismatch("lists and null have no order")
        # Values of another type are an error, whether the comparison is denied or not.
        return Compare(name, _INVERSE[sign] if negated else sign, value)  # type: ignore[arg-type]

    def _equal(self, name: str, value: Any, negated: bool) -> Expr:
        if isinstance(value, list):
            raise ParseError("Tamis has no test for a list as a whole")
        if value is None:
            return Exists(name) if negated else Compare(NULLS, "=", name)
        return self._leaf(Compare(name, "=", value), negated)

    def in_(self, node: Call, negated: bool) -> Expr:
        left, right = node.arguments
        one, two = _value(left), _value(right)
        if one is None and two is not None:
            if not isinstance(two.value, list) or any(
                isinstance(each, list) or each is None for each in two.value
            ):
                raise ParseError("'in' takes a list of plain values")
            name = _name(left)
            if not two.value:
                return Exists(name) if negated else FALSE
            return self._leaf(In(name, tuple(two.value)), negated)
        if one is None or two is not None:
            raise ParseError("'in' compares an attribute with constants")
        if isinstance(one.value, list) or one.value is None:
            raise ParseError("'in' looks for one plain value")
        name = _name(right)
        self._differences.append(f"{name}: 'in' looks for an element of a list; keys of maps are not found")
        return self._leaf(Compare(name, "=", one.value), negated)

    def has(self, node: Call, negated: bool) -> Expr:
        if len(node.arguments) != 1:
            raise ParseError("has takes one field")
        name = _name(node.arguments[0])
        return Exists(name, negated=negated)

    def text(self, node: Call, negated: bool) -> Expr:
        if len(node.arguments) != 2:
            raise ParseError(f"{node.name[1:]} takes one argument")
        value = _value(node.arguments[1])
        if value is None or not isinstance(value.value, str):
            raise ParseError(f"{node.name[1:]} takes a constant text")
        name = _name(node.arguments[0])
        if node.name == ".matches":
            return self._leaf(Regex(name, value.value), negated)
        return self._leaf(Affix(name, _PLACES[node.name], value.value), negated)

    def matches(self, node: Call, negated: bool) -> Expr:
        return self.text(Call(".matches", node.arguments), negated)

    def exists(self, node: Call, negated: bool) -> Expr:
        """Return the test that some element satisfies one condition."""
        if len(node.arguments) != 3:
            raise ParseError("exists takes a variable and a condition")
        array, variable, condition = node.arguments
        if not isinstance(variable, Name):
            raise ParseError("exists takes a variable and a condition")
        inner = _renamed(condition, variable.name, _name(array))
        found = self.read(inner, False)
        if not isinstance(found, Predicate) or found.is_negative or isinstance(found, Exists):
            raise ParseError("exists takes one positive condition on the variable; Tamis flattens arrays")
        return self._leaf(found, negated)


def _renamed(node: Node, variable: str, array: str) -> Node:
    """Return a condition on an element as one on the array; refuse other attributes in it."""
    if isinstance(node, Name):
        first, _, rest = node.name.partition(".")
        if first != variable:
            raise ParseError(
                f"the condition on elements of {array} names another attribute, {node.name[:40]}"
            )
        return Name(f"{array}.{rest}" if rest else array)
    if isinstance(node, Call):
        return Call(node.name, tuple(_renamed(one, variable, array) for one in node.arguments))
    return node


def _value(node: Node) -> Constant | None:
    """Return a constant, also one of timestamp(); ``None`` if the node needs an attribute."""
    if isinstance(node, Call) and node.name == "timestamp" and len(node.arguments) == 1:
        inner = constant_of(node.arguments[0])
        if inner is not None:
            try:
                return Constant(parse_time(str(inner.value)))
            except (ValueError, EventValue):
                raise TypeMismatch(f"{str(inner.value)[:40]!r} is no ISO 8601 time") from None
    found: Constant | None = constant_of(node)
    return found


def _name(node: Node) -> str:
    if isinstance(node, Name):
        return node.name
    if isinstance(node, Call) and node.name == "index":
        raise ParseError("an element by its place in a list is not read; Tamis flattens arrays")
    if isinstance(node, Call):
        raise ParseError(f"Tamis computes no {node.name.lstrip('.')[:40]!r} of attributes")
    raise ParseError("expected an attribute")


def _constants(one: Any, sign: str, two: Any, negated: bool) -> Expr:
    if sign not in ("==", "!=") and type(one) is not type(two):
        raise TypeMismatch("constants of different types have no order")
    alike = isinstance(one, bool) == isinstance(two, bool) and one == two
    try:
        verdict = alike if sign == "==" else not alike if sign == "!=" else _ORDER[sign](one, two)
    except TypeError:
        raise TypeMismatch("these constants have no order") from None
    return TRUE if verdict != negated else FALSE


_READERS: dict[str, Callable[[_Condition, Call, bool], Expr]] = {
    "in": _Condition.in_,
    "has": _Condition.has,
    **dict.fromkeys((*_PLACES, ".matches"), _Condition.text),
    "matches": _Condition.matches,
    ".exists": _Condition.exists,
}
