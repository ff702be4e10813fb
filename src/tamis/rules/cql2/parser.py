"""Read CQL2 text and CQL2 JSON as the same nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from tamis.errors import EventValue, ParseError
from tamis.expression.operands import kind_of
from tamis.language.eventbridge.place import Place
from tamis.rules.infix.parser import Call, Constant, Name, Node, Parser, number
from tamis.values.shape import Box
from tamis.values.value import parse_time

_PATTERN = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<string>'(?:[^'\\]|''|\\.)*+')|(?P<quoted>\"(?:[^\"]|\"\")++\")"
    r"|(?P<name>[^\W\d][\w.:]*)|(?P<sign><>|<=|>=|[-=<>+*/%^(),])"
)
_RESERVED = ("and", "or", "not", "is", "like", "in", "between", "null", "div")
_SHAPES = (
    "point",
    "multipoint",
    "linestring",
    "multilinestring",
    "polygon",
    "multipolygon",
    "geometrycollection",
)


class Shape(NamedTuple):
    """A geometry, as shapely holds it, or a box."""

    geometry: Any


class Interval(NamedTuple):
    """Two ends; each is a time, an attribute, or ``None`` for an open end."""

    low: Node | None
    high: Node | None


class CQL2Parser(Parser):
    """A parser of CQL2 text."""

    PATTERN: ClassVar[re.Pattern[str]] = _PATTERN
    BINARY: ClassVar[Mapping[str, int]] = {
        "or": 1, "and": 2, "=": 4, "<>": 4, "<": 4, "<=": 4, ">": 4, ">=": 4,
        "+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "div": 6, "^": 7,
    }  # fmt: skip
    UNARY: ClassVar[Mapping[str, int]] = {"not": 3, "-": 8, "+": 8}

    def special(self, left: Node, sign: str, least: int) -> Node | None:
        """Read IS NULL, LIKE, IN and BETWEEN, each perhaps denied."""
        if least > 4 or sign not in ("is", "like", "in", "between", "not"):
            return None
        self.advance()
        denied = sign == "not" or (sign == "is" and self.accept("not"))
        if sign == "not":
            sign = self.sign()
            self.advance()
        if sign == "is":
            self.expect("null")
            found: Node = Call("isnull", (left,))
        elif sign == "like":
            found = Call("like", (left, self.expression(5)))
        elif sign == "in":
            self.expect("(")
            found = Call("in", (left, Constant(self.arguments())))
        elif sign == "between":
            low = self.expression(5)
            self.expect("and")
            found = Call("between", (left, low, self.expression(5)))
        else:
            self.fail("LIKE, IN or BETWEEN")
        return Call("not", (found,)) if denied else found

    def operand(self) -> Node:
        """Read a literal, a name, a function, a geometry or an expression in parentheses."""
        token = self.token
        if token.kind not in ("number", "string", "quoted", "name", "(") or self.sign() in _RESERVED:
            self.fail("a value, a name or a function")
        self.advance()
        if token.kind == "number":
            return Constant(number(token.text))
        if token.kind == "string":
            return Constant(re.sub(r"''|\\'", "'", token.text[1:-1]))
        if token.kind == "quoted":
            return Name(token.text[1:-1].replace('""', '"'))
        if token.kind == "(":
            found = self.expression()
            if self.accept(","):
                return Constant((found, *self.arguments()))
            self.expect(")")
            return found
        word = token.text.lower()
        if word in ("true", "false"):
            return Constant(word == "true")
        if word in _SHAPES and (self.token.kind == "(" or self.sign() in ("z", "m", "zm")):
            return self._geometry(token.start)
        if self.accept("("):
            return function(word, self.arguments())
        return Name(token.text)

    def _closing(self, start: int) -> int:
        """Return the place behind the parenthesis that closes the first one from ``start`` on."""
        depth = 0
        for at in range(start, len(self.text)):
            depth += {"(": 1, ")": -1}.get(self.text[at], 0)
            if depth == 0 and self.text[at] == ")":
                return at + 1
        self.fail("a geometry in parentheses")

    def _geometry(self, start: int) -> Node:
        """Read a geometry in well-known text, up to its closing parenthesis."""
        end = self._closing(start)
        written = self.text[start:end]
        self.go_to(end)
        import shapely

        try:
            return Constant(Shape(shapely.from_wkt(written)))
        except shapely.errors.ShapelyError as bad:
            raise ParseError(
                f"the geometry cannot be read: {str(bad).strip()}", text=self.text, position=start
            ) from None


def function(name: str, arguments: tuple[Node, ...]) -> Node:
    """Return a call, or the constant that a call of DATE, TIMESTAMP, INTERVAL or BBOX is."""
    values = [one.value for one in arguments if isinstance(one, Constant)]
    if name in ("date", "timestamp") and len(values) == len(arguments) == 1:
        return Constant(moment(values[0]))
    if name == "interval" and len(arguments) == 2:
        return Constant(Interval(*map(_end, arguments)))
    if name == "bbox":
        if len(values) != len(arguments) or len(values) not in (4, 6):
            raise ParseError("BBOX takes four numbers, or six with heights")
        half = len(values) // 2
        return Constant(Shape(Box(values[0], values[1], values[half], values[half + 1])))
    return Call(name, arguments)


def _end(node: Node) -> Node | None:
    if isinstance(node, Constant) and isinstance(node.value, str):
        return None if node.value == ".." else Constant(moment(node.value))
    return node


def moment(text: Any) -> datetime:
    """Return the time that an ISO 8601 text says."""
    try:
        return parse_time(str(text))
    except (ValueError, EventValue):
        raise ParseError(f"{str(text)[:40]!r} is no date and no time") from None


def from_json(rule: Any, place: Place, depth: int = 1) -> Node:
    """Return the node of a filter in CQL2 JSON."""
    if depth > 100:
        place.refuse("the filter nests too deeply")
    if isinstance(rule, list):
        return Constant(tuple(from_json(one, place.inside(at), depth + 1) for at, one in enumerate(rule)))
    if not isinstance(rule, Mapping):
        if rule is None:
            place.refuse("null is no value here; write isNull")
        return Constant(rule)
    if "op" in rule:
        return _operation(rule, place, depth)
    if "property" in rule:
        return Name(str(rule["property"]))
    if "date" in rule or "timestamp" in rule:
        return Constant(moment(rule.get("date", rule.get("timestamp"))))
    if isinstance(rule.get("interval"), list) and len(rule["interval"]) == 2:
        low, high = (from_json(one, place.inside("interval"), depth + 1) for one in rule["interval"])
        return Constant(Interval(_end(low), _end(high)))
    if isinstance(rule.get("bbox"), list):
        return function("bbox", tuple(map(Constant, rule["bbox"])))
    if "coordinates" in rule or "geometries" in rule:
        return _geojson(rule, place)
    place.refuse(f"expected an operation, a property or a value, found {kind_of(rule)}")


def _operation(rule: Mapping[str, Any], place: Place, depth: int) -> Node:
    arguments = rule.get("args")
    if not isinstance(rule["op"], str) or not isinstance(arguments, list):
        place.refuse("an operation has 'op', a text, and 'args', a list")
    here = place.inside("args")
    found = tuple(from_json(one, here.inside(at), depth + 1) for at, one in enumerate(arguments))
    name = rule["op"].lower()
    if name in ("and", "or"):
        if not found:
            place.refuse(f"{name} of no conditions says nothing")
        joined: Node = found[0]
        for one in found[1:]:
            joined = Call(name, (joined, one))
        return joined
    return Call(name, found)


def _geojson(rule: Mapping[str, Any], place: Place) -> Node:
    import json

    import shapely

    try:
        return Constant(Shape(shapely.from_geojson(json.dumps(rule))))
    except (shapely.errors.ShapelyError, TypeError, ValueError) as bad:
        place.refuse(f"the geometry cannot be read: {bad}")
