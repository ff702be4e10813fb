"""Read the shapes of MongoDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tamis.errors import PatternError, TypeMismatch
from tamis.expression.operands import clean_point, kind_of
from tamis.expression.predicates import Within
from tamis.expression.tree import Expr
from tamis.language.eventbridge.place import Place
from tamis.language.shapes_json import shape_from_json
from tamis.values.shape import EARTH_RADIUS_M, Box, Circle, Polygon
from tamis.values.value import Point


def within(name: str, body: Any, place: Place) -> Expr:
    """Return the test that a point lies in a shape, borders included."""
    if not isinstance(body, Mapping) or len(body) != 1:
        place.refuse("expected an object with one shape")
    ((kind, shape),) = body.items()
    here = place.inside(str(kind))
    match kind, shape:
        case "$geometry", Mapping():
            return _geometry(name, shape, here)
        case "$box", [low, high]:
            corner, other = _point(low, here), _point(high, here)
            return Within(name, Box(corner.lon, corner.lat, other.lon, other.lat))
        case "$polygon", [_, _, _, *_]:
            ring = [(point.lon, point.lat) for point in (_point(one, here) for one in shape)]
            return Within(name, Polygon(((tuple(ring if ring[0] == ring[-1] else [*ring, ring[0]]),),)))
        case "$centerSphere", [centre, int() | float() as radians]:
            return Within(name, Circle(_point(centre, here), radians * EARTH_RADIUS_M))
        case "$center", _:
            here.refuse("a circle in degrees is no circle on the map; write $centerSphere")
    here.refuse(f"{str(kind)[:40]!r} is no shape that can be read")


def _geometry(name: str, shape: Mapping[str, Any], place: Place) -> Expr:
    if "crs" in shape:
        place.refuse("coordinates are longitude and latitude; another system is not read")
    kind = shape.get("type")
    if kind == "Point":
        return Within(name, Circle(_point(shape.get("coordinates"), place), 0))
    if kind not in ("Polygon", "MultiPolygon"):
        place.refuse(f"Tamis has no shape of the type {str(kind)[:40]!r}", PatternError)
    with place.blamed():
        return Within(name, shape_from_json({"type": kind, "coordinates": shape.get("coordinates")}))


def near(name: str, operand: Any, fields: Mapping[str, Any], spherical: bool, place: Place) -> Expr:
    """Return the test that a point lies within the greatest distance; nothing is put in order."""
    body = operand if isinstance(operand, Mapping) and "$geometry" in operand else None
    limits = fields if body is None else body
    if "$minDistance" in limits:
        place.refuse("Tamis has no least distance")
    if "$maxDistance" not in limits:
        place.refuse("without $maxDistance it only puts documents in order")
    distance = limits["$maxDistance"]
    if isinstance(distance, bool) or not isinstance(distance, int | float) or distance < 0:
        place.refuse(f"a distance is a number, not {kind_of(distance)}", TypeMismatch)
    if body is not None:
        geometry = body["$geometry"]
        centre = _point(geometry.get("coordinates") if isinstance(geometry, Mapping) else None, place)
        return Within(name, Circle(centre, float(distance)))
    if not spherical:
        place.refuse("a distance in degrees is no distance on the map; write $nearSphere or $geometry")
    return Within(name, Circle(_point(operand, place), float(distance) * EARTH_RADIUS_M))


def _point(value: Any, place: Place) -> Point:
    if not isinstance(value, list) or len(value) != 2:
        place.refuse(f"expected [longitude, latitude], found {str(value)[:40]}", TypeMismatch)
    with place.blamed():
        return clean_point(*value)
