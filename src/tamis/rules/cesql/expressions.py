"""Import expressions of CloudEvents SQL.

An expression about an absent attribute is an error there, and an event with an error does not match. So NOT
is carried down to the comparisons, and the denial of a comparison needs the attribute.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from tamis.errors import ParseError, TypeMismatch
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import Compare, Exists, In, Like
from tamis.expression.tree import FALSE, TRUE, And, Expr, Or
from tamis.rules.cesql.constants import integer, text, truth, worked_out
from tamis.rules.cesql.patterns import like_of
from tamis.rules.expressions import Expressions
from tamis.rules.infix.parser import Call, Constant, Name, Node, Parser, chain
from tamis.rules.trees import all_of, denied, either, literal

_FLIPPED: dict[str, Any] = {"=": "=", "!=": "!=", "<>": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FOLDS = "LOWER and UPPER become ILIKE, which folds case by Unicode's rules (ß is ss)"
_RESERVED = ("and", "or", "xor", "not", "like", "in")
_MOST_READS = 4_096


class CESQLParser(Parser):
    """A parser of CloudEvents SQL."""

    PATTERN: ClassVar[re.Pattern[str]] = re.compile(
        r"(?P<space>\s+)|(?P<number>[0-9]+)|(?P<string>'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
        r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign><>|!=|<=|>=|[-=<>+*/%(),])",
        re.DOTALL,
    )
    BINARY: ClassVar[Mapping[str, int]] = {
        "xor": 1, "or": 2, "and": 3, "=": 4, "!=": 4, "<>": 4, "<": 4, "<=": 4, ">": 4, ">=": 4,
        "+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
    }  # fmt: skip
    UNARY: ClassVar[Mapping[str, int]] = {"not": 9, "-": 9, "exists": 9}

    def special(self, left: Node, sign: str, least: int) -> Node | None:
        """Read LIKE and IN, each perhaps denied."""
        following = self.following.text.lower()
        if least > 7 or not (sign in ("like", "in") or (sign == "not" and following in ("like", "in"))):
            return None
        self.advance()
        is_denied = sign == "not"
        if is_denied:
            sign = following
            self.advance()
        if sign == "like":
            if self.token.kind != "string":
                self.fail("a pattern in quotes")
            found: Node = Call("like", (left, self.operand()))
        else:
            self.expect("(")
            found = Call("in", (left, *self.arguments()))
        return Call("not", (found,)) if is_denied else found

    def operand(self) -> Node:
        """Read a literal, an attribute, a function or an expression in parentheses."""
        token = self.token
        if token.kind not in ("number", "string", "name", "(") or self.sign() in _RESERVED:
            self.fail("a value, an attribute or a function")
        self.advance()
        if token.kind == "number":
            return Constant(int(token.text))
        if token.kind == "string":
            return Constant(re.sub(r"\\(['\"])", r"\1", token.text[1:-1]))
        if token.kind == "(":
            found = self.expression()
            self.expect(")")
            return found
        word = token.text.lower()
        if word in ("true", "false"):
            return Constant(word == "true")
        return Call(word, self.arguments()) if self.accept("(") else Name(word)


class CESQL(Expressions):
    """The importer."""

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of an expression."""
        return _Condition(differences).read(CESQLParser(rule, self.limits).whole(), False)


class _Condition:
    """A reader of one expression; ``negated`` asks when it is false instead of when it is true."""

    def __init__(self, differences: list[str]) -> None:
        self._differences = differences
        self._reads = 0

    def read(self, node: Node, negated: bool) -> Expr:
        self._reads += 1  # XOR reads both of its sides twice
        if self._reads > _MOST_READS:
            raise ParseError("the expression has too many parts")
        if isinstance(node, Call) and node.name in ("and", "or"):
            return self._logic(node, negated)
        constant = _constant(node)
        if constant is not None:
            return TRUE if truth(constant.value) != negated else FALSE
        if isinstance(node, Name):
            return self._compared(node, "=", True, negated)
        assert isinstance(node, Call)
        match node.name, node.arguments:
            case "not", (inner,):
                return self.read(inner, not negated)
            case "xor", (one, two):
                differ = And((self.read(one, False), self.read(two, not negated)))
                return Or((differ, And((self.read(one, True), self.read(two, negated)))))
            case "exists", (Name(name),):
                return Exists(name, negated=negated)
            case "like", (left, Constant(pattern)):
                return self._like(left, pattern, negated)
            case "in", (left, *values):
                return self._among(left, values, negated)
            case sign, (left, right) if sign in _FLIPPED:
                return self._comparison(sign, left, right, negated)
        raise ParseError(f"Tamis computes no {node.name[:40]!r} of attributes")

    def _logic(self, node: Call, negated: bool) -> Expr:
        """Return AND or OR; a constant on the left may decide without the right side."""
        decides = node.name == "or"
        operands = chain(node.name, node)
        first = _constant(operands[0])
        if first is not None and truth(first.value) == decides:
            return TRUE if decides != negated else FALSE
        return (either if decides != negated else all_of)([self.read(one, negated) for one in operands])

    def _leaf(self, found: Predicate, negated: bool) -> Expr:
        return denied(found) if negated else found

    # ------------------------------------------------------------------------------------------- comparisons

    def _comparison(self, sign: str, left: Node, right: Node, negated: bool) -> Expr:
        one, two = _constant(left), _constant(right)
        if one is not None and two is None:
            left, two, sign = right, one, _FLIPPED[sign]
        if two is None:
            raise ParseError(
                "Tamis does not compare an attribute with another attribute, and computes nothing"
            )
        if isinstance(left, Call) and left.name in ("lower", "upper") and len(left.arguments) == 1:
            return self._folded(left, sign, two.value, negated)
        value = two.value
        if isinstance(left, Call) and left.name in ("int", "string") and len(left.arguments) == 1:
            value = integer(value) if left.name == "int" else text(value)
            left = left.arguments[0]
        return self._compared(left, _FLIPPED[_FLIPPED[sign]], value, negated)

    def _compared(self, left: Node, sign: str, value: Any, negated: bool) -> Expr:
        if not isinstance(left, Name):
            raise ParseError(
                "Tamis compares an attribute with a constant, and computes nothing of attributes"
            )
        if sign in ("=", "!="):
            return self._equal(left.name, value, negated != (sign == "!="))
        op: Any = sign
        what = "must carry an integer; CloudEvents SQL also reads integers in strings"
        self._differences.append(f"{left.name}: events {what}")
        return self._leaf(Compare(left.name, op, integer(value)), negated)

    def _equal(self, name: str, value: Any, negated: bool) -> Expr:
        """Return the test of an equality; the attribute is cast to the type of the value."""
        if isinstance(value, bool):
            parts: list[Predicate] = [Compare(name, "=", value), Like(name, text(value), True)]
            if negated:
                parts = [Compare(name, "=", not value), Like(name, text(not value), True)]
            return Or(tuple(parts))  # any other value is an error, whether it is denied or not
        if isinstance(value, int):
            self._differences.append(f"{name}: of the strings that say {value}, only the shortest is equal")
        return self._leaf(_one_of(name, _twins(value)), negated)

    def _among(self, left: Node, values: list[Node], negated: bool) -> Expr:
        constants = [_constant(value) for value in values]
        if not isinstance(left, Name) or None in constants:
            raise ParseError("IN compares an attribute with constants")
        found = [twin for one in constants if one is not None for twin in _members(one.value)]
        return self._leaf(_one_of(left.name, found), negated) if found else (TRUE if negated else FALSE)

    def _like(self, left: Node, pattern: Any, negated: bool) -> Expr:
        fold = isinstance(left, Call) and left.name in ("lower", "upper")
        if isinstance(left, Call) and left.name in ("lower", "upper", "string") and len(left.arguments) == 1:
            left = left.arguments[0]
        if not isinstance(left, Name):
            raise ParseError("LIKE tests an attribute")
        if fold:
            self._differences.append(_FOLDS)
        return self._leaf(Like(left.name, like_of(str(pattern)), fold), negated)

    def _folded(self, call: Call, sign: str, value: Any, negated: bool) -> Expr:
        inner = call.arguments[0]
        if sign not in ("=", "!=", "<>") or not isinstance(inner, Name) or not isinstance(value, str):
            raise ParseError(f"{call.name.upper()} of an attribute is compared with = a text, or with LIKE")
        if value != (value.lower() if call.name == "lower" else value.upper()):
            raise ParseError(
                f"{call.name.upper()} never equals {value[:40]!r}, which has letters of the other case"
            )
        self._differences.append(_FOLDS)
        return self._leaf(Like(inner.name, literal(value), True), negated != (sign != "="))


def _constant(node: Node) -> Constant | None:
    """Return the constant that a node amounts to; ``None`` if it needs an attribute."""
    if isinstance(node, Constant):
        return node
    if isinstance(node, Name) or node.name == "exists":
        return None
    parts = []
    for at, one in enumerate(node.arguments):
        part = _constant(one)
        if part is None:
            return None
        if node.name in ("and", "or") and at == 0 and truth(part.value) == (node.name == "or"):
            return Constant(node.name == "or")
        parts.append(part.value)
    if node.name in ("and", "or"):
        return Constant(truth(parts[1]))
    return Constant(worked_out(node.name, parts))


def _twins(value: Any) -> list[Any]:
    """Return the values that are equal to a constant after a cast."""
    if isinstance(value, str):
        if value in ("true", "false"):
            return [value, value == "true"]
        is_plain = value.lstrip("-").isdigit() and str(int(value)) == value and len(value) < 19
        return [value, int(value)] if is_plain else [value]
    if isinstance(value, bool):
        return [value, text(value)]
    also = [bool(value)] if value in (0, 1) else []
    return [value, str(value), *also]


def _members(value: Any) -> list[Any]:
    """Return the values that are in a list because of a constant, which is cast to their type."""
    if isinstance(value, str):
        found: list[Any] = [value]
        if value.lower() in ("true", "false"):
            found.append(truth(value))
        try:
            return [*found, integer(value)]
        except TypeMismatch:
            return found
    return [value, text(value), int(value)] if isinstance(value, bool) else [value, text(value)]


def _one_of(name: str, values: list[Any]) -> Predicate:
    return Compare(name, "=", values[0]) if len(values) == 1 else In(name, tuple(values))
