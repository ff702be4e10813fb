"""Read the literals of the text form: strings, numbers, booleans, times, points and shapes."""

from __future__ import annotations

from datetime import datetime

from tamis.errors import EventValue, ParseError, TypeMismatch
from tamis.expression.operands import clean_operand, clean_point
from tamis.expression.shapes import clean_shape
from tamis.language.scan import Cursor, Token
from tamis.values.shape import Box, Circle, Polygon, Ring, Shape
from tamis.values.value import Point, Scalar, parse_time

_METRES = {"M": 1.0, "KM": 1000.0}
_BOOLEANS = {"TRUE": True, "FALSE": False}


def read_value(cursor: Cursor) -> Scalar | Point:
    """Read a value and clean it."""
    token = cursor.token
    if token.kind == "string":
        value: Scalar = unquote(cursor.advance().text)
    elif token.kind == "number":
        value = read_number(cursor)
    elif token.kind == "word":
        return _read_word(cursor)
    else:
        if token.kind == "name" and token.text[0] == '"':
            cursor.fail(f"a value; strings stand in single quotes, as in '{token.text[1:-1][:40]}'")
        cursor.fail("a value")
    return cursor.checked(lambda: clean_operand(value, cursor.limits), token.start)


def _read_word(cursor: Cursor) -> Scalar | Point:
    token = cursor.token
    word = token.text.upper()
    if word in _BOOLEANS:
        cursor.advance()
        return _BOOLEANS[word]
    if word in ("TIMESTAMP", "DATE"):
        cursor.advance()
        return _read_time(cursor, word)
    if word == "POINT":
        cursor.advance()
        return read_place(cursor)
    if word == "NULL":
        cursor.fail("a value; to test for absence, write IS NULL")
    cursor.fail("a value; strings stand in single quotes")


def unquote(text: str) -> str:
    """Return the content of a quoted token."""
    quote = text[0]
    return text[1:-1].replace(quote + quote, quote)


def read_number(cursor: Cursor) -> int | float:
    """Read a number that fits 64 bits or is finite."""
    token = cursor.token
    if token.kind != "number":
        cursor.fail("a number")
    cursor.advance()
    text = token.text
    if text.lstrip("+-").isdigit():
        if len(text) > 40:  # so long that Python itself might refuse to read it
            sign = text[0] if text[0] in "+-" else ""
            text = sign + (text.removeprefix(sign).lstrip("0") or "0")
        if len(text) > 40:
            raise TypeMismatch(
                f"the integer {text[:30]}… does not fit 64 bits", text=cursor.text, position=token.start
            )
        return int(text)
    return float(text)


def read_string(cursor: Cursor, what: str) -> str:
    """Read a string literal."""
    if cursor.token.kind != "string":
        hint = "; strings stand in single quotes" if cursor.token.kind in ("name", "word") else ""
        cursor.fail(f"{what} in single quotes" if not hint else what + hint)
    return unquote(cursor.advance().text)


def read_strings(cursor: Cursor, what: str) -> tuple[str, ...]:
    """Read a parenthesised list of string literals."""
    cursor.expect("(", f"before the list of {what}s")
    found = [read_string(cursor, f"a {what}")]
    while cursor.op(","):
        found.append(read_string(cursor, f"a {what}"))
    cursor.expect(")", f"after the list of {what}s")
    return tuple(found)


def _read_time(cursor: Cursor, word: str) -> datetime:
    called = cursor.op("(")
    token = cursor.token
    text = read_string(cursor, f"a time after {word}")
    if called:
        cursor.expect(")", f"after {word}('…'")
    try:
        return parse_time(text)
    except (ValueError, EventValue) as bad:
        reason = (
            bad.message if isinstance(bad, EventValue) else "write ISO 8601, as in '2026-11-15T08:00:00Z'"
        )
        raise ParseError(
            f"{text[:40]!r} is not a time: {reason}", text=cursor.text, position=token.start
        ) from None


def read_place(cursor: Cursor) -> Point:
    """Read ``(lon lat)`` or ``(lon, lat)``."""
    start = cursor.token.start
    cursor.expect("(", "after POINT")
    lon = read_number(cursor)
    cursor.op(",")
    lat = read_number(cursor)
    cursor.expect(")", "after the latitude")
    return cursor.checked(lambda: clean_point(lon, lat), start)


def read_shape(cursor: Cursor) -> Shape:
    """Read the shape after WITHIN."""
    start = cursor.token
    if start.kind == "number":
        shape: Shape = _read_circle(cursor)
    elif cursor.keyword("POLYGON"):
        shape = Polygon((_read_area(cursor),))
    elif cursor.keyword("MULTIPOLYGON"):
        shape = _read_areas(cursor)
    elif cursor.keyword("BOX"):
        shape = _read_box(cursor)
    else:
        cursor.fail("POLYGON, MULTIPOLYGON, BOX or a distance such as 5 KM OF POINT (lon lat)")
    return cursor.checked(lambda: clean_shape(shape, cursor.limits), start.start)


def _read_circle(cursor: Cursor) -> Circle:
    number = read_number(cursor)
    unit: Token = cursor.token
    factor = _METRES.get(unit.text.upper()) if unit.kind == "word" else None
    if factor is None:
        cursor.fail("a unit, M or KM")
    cursor.advance()
    if not cursor.keyword("OF"):
        cursor.fail("OF POINT (lon lat)")
    if not cursor.keyword("POINT"):
        cursor.fail("POINT (lon lat)")
    return Circle(read_place(cursor), float(number) * factor)


def _read_box(cursor: Cursor) -> Box:
    cursor.expect("(", "after BOX")
    corners = [float(read_number(cursor))]
    for following in ("south", "east", "north"):
        cursor.expect(",", f"before the {following} of the box")
        corners.append(float(read_number(cursor)))
    cursor.expect(")", "after the box")
    return Box(*corners)


def _read_areas(cursor: Cursor) -> Polygon:
    cursor.expect("(", "after MULTIPOLYGON")
    areas = [_read_area(cursor)]
    while cursor.op(","):
        areas.append(_read_area(cursor))
    cursor.expect(")", "after the last polygon")
    return Polygon(tuple(areas))


def _read_area(cursor: Cursor) -> tuple[Ring, ...]:
    cursor.expect("(", "before the rings of a polygon")
    rings = [_read_ring(cursor)]
    while cursor.op(","):
        rings.append(_read_ring(cursor))
    cursor.expect(")", "after the rings of a polygon")
    return tuple(rings)


def _read_ring(cursor: Cursor) -> Ring:
    cursor.expect("(", "before a ring of points")
    ring = [_read_pair(cursor)]
    while cursor.op(","):
        ring.append(_read_pair(cursor))
    cursor.expect(")", "after a ring of points")
    return tuple(ring)


def _read_pair(cursor: Cursor) -> tuple[float, float]:
    return float(read_number(cursor)), float(read_number(cursor))
