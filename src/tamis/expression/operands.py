"""Clean operands (names, values, weights and terms), check them against the limits, and print them."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from tamis.errors import EventValue, ExpressionLimit, ParseError, TypeMismatch
from tamis.limits import Limits
from tamis.values.shape import Box, Circle, Ring, Shape
from tamis.values.value import Interval, Point, Scalar, clean_string, clean_value, format_time

# Functions on trees may recurse; Python's own stack bounds them whatever the configured limit is.
DEEPEST = 100

_NAMES = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    dict: "an object",
    type(None): "null",
    Point: "a point",
}


def depth_limit(limits: Limits) -> int:
    """Return how deep a tree may be under ``limits``."""
    return min(limits.expression_depth, DEEPEST)


def over(limit: str, bound: int, what: str) -> ExpressionLimit:
    """Return the error that says ``what`` passes the bound named ``limit``."""
    return ExpressionLimit(f"{what}, more than {limit} = {bound}", limit=limit, bound=bound)


def kind_of(value: Any) -> str:
    """Return the type of ``value`` in the user's words."""
    return _NAMES.get(type(value)) or ("a time" if hasattr(value, "year") else f"a {type(value).__name__}")


def clean_name(name: Any, limits: Limits) -> str:
    """Return an attribute's name: a non-empty string in NFC."""
    if not isinstance(name, str):
        raise ParseError(f"an attribute's name is a string, not {kind_of(name)}")
    if not name:
        raise ParseError("an attribute's name cannot be empty")
    clean = _clean_text(name)
    size = len(clean) if clean.isascii() else len(clean.encode())
    if size > limits.attribute_name_bytes:
        raise over(
            "attribute_name_bytes", limits.attribute_name_bytes, f"an attribute's name has {size} bytes"
        )
    return clean


def clean_text(text: Any, limits: Limits, what: str = "a string") -> str:
    """Return a string operand in NFC, no longer than the limit."""
    if not isinstance(text, str):
        raise TypeMismatch(f"expected {what}, found {kind_of(text)}")
    clean = _clean_text(text)
    size = len(clean) if clean.isascii() else len(clean.encode())
    if size > limits.string_bytes:
        raise over("string_bytes", limits.string_bytes, f"{what} has {size} bytes")
    return clean


def _clean_text(text: str) -> str:
    try:
        return clean_string(str(text))
    except EventValue as bad:
        raise ParseError(bad.message) from None


def clean_operand(value: Any, limits: Limits) -> Scalar | Point:
    """Return a value to compare with: any value except an interval."""
    if isinstance(value, str):
        return clean_text(value, limits)
    try:
        cleaned = clean_value(value)
    except EventValue as bad:
        raise TypeMismatch(bad.message) from None
    if isinstance(cleaned, Interval):
        raise TypeMismatch("an interval cannot be compared with; write BETWEEN low AND high")
    if isinstance(cleaned, Point):
        return clean_point(cleaned.lon, cleaned.lat)
    return cleaned


def clean_scalar(value: Any, limits: Limits, where: str) -> Scalar:
    """Return a value that is not a point, for ``where``."""
    cleaned = clean_operand(value, limits)
    if isinstance(cleaned, Point):
        raise TypeMismatch(f"a point cannot stand in {where}")
    return cleaned


def clean_coordinate(number: Any) -> float:
    """Return a finite float; negative zero becomes zero."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise TypeMismatch(f"a coordinate is a number, not {kind_of(number)}")
    try:
        degrees = float(number) + 0.0
    except OverflowError:
        degrees = math.inf
    if not math.isfinite(degrees):
        raise TypeMismatch("a coordinate is a finite number")
    return degrees


def clean_point(lon: Any, lat: Any) -> Point:
    """Return a point with both coordinates in range."""
    try:
        return Point(clean_coordinate(lon), clean_coordinate(lat))
    except EventValue as bad:
        raise TypeMismatch(bad.message) from None


def clean_weight(weight: Any) -> float:
    """Return a predicate's weight: finite and not negative."""
    if type(weight) is float and 0.0 <= weight < math.inf:
        return weight + 0.0
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise TypeMismatch(f"a weight is a number, not {kind_of(weight)}")
    try:
        number = float(weight) + 0.0
    except OverflowError:
        number = math.inf
    if not 0.0 <= number < math.inf:
        raise TypeMismatch(f"a weight is a finite number of at least 0, not {number}")
    return number


def clean_whole(value: Any, what: str, least: int) -> int:
    """Return a whole number of 64 bits that is at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
        found = value if isinstance(value, int | float) and not isinstance(value, bool) else kind_of(value)
        raise TypeMismatch(f"{what} takes a whole number of at least {least}, not {str(found)[:40]}")
    return int(value)


def clean_list(values: Any, what: str, limits: Limits) -> tuple[Any, ...]:
    """Return a list of operands in a lasting order, no longer than the limit."""
    if not isinstance(values, tuple | list | set | frozenset):
        raise TypeMismatch(f"{what} takes a list, not {kind_of(values)}")
    if len(values) > limits.in_list_values:
        raise over("in_list_values", limits.in_list_values, f"{what} has {len(values)} values")
    if isinstance(values, set | frozenset):  # a set has no order of its own: sort it
        return tuple(sorted(values, key=lambda value: (str(type(value)), str(value))))
    return tuple(values)


def print_value(value: Scalar | Point) -> str:
    """Return the literal of a value."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, datetime):
        return f"TIMESTAMP '{format_time(value)}'"
    if isinstance(value, Point):
        return f"POINT ({_pair(value.lon, value.lat)})"
    return repr(value)


def quoted(text: str) -> str:
    """Return ``text`` as a string literal."""
    return "'" + text.replace("'", "''") + "'"


def print_number(number: float) -> str:
    """Return a float without a needless fraction, for places where all numbers are floats."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def print_list(texts: tuple[str, ...]) -> str:
    """Return a list of string literals in parentheses."""
    return f"({', '.join(map(quoted, texts))})"


def print_shape(shape: Shape) -> str:
    """Return the text of a shape, as it stands after WITHIN."""
    if isinstance(shape, Box):
        return f"BOX ({', '.join(map(print_number, (shape.west, shape.south, shape.east, shape.north)))})"
    if isinstance(shape, Circle):
        return f"{_distance(shape.metres)} OF {print_value(shape.centre)}"
    areas = [f"({', '.join(map(_ring, area))})" for area in shape.areas]
    return f"POLYGON {areas[0]}" if len(areas) == 1 else f"MULTIPOLYGON ({', '.join(areas)})"


def _distance(metres: float) -> str:
    if metres % 1000.0 == 0.0 and metres < 1e15:
        return f"{int(metres) // 1000} KM"
    return f"{print_number(metres)} M"


def _ring(ring: Ring) -> str:
    return f"({', '.join(_pair(lon, lat) for lon, lat in ring)})"


def _pair(lon: float, lat: float) -> str:
    return f"{print_number(lon)} {print_number(lat)}"
