"""Literals as the text form writes them."""

from __future__ import annotations

from datetime import datetime

from tamis.values.shape import Box, Circle, Ring, Shape
from tamis.values.value import Point, Scalar, format_time


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
