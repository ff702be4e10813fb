"""Read queries on the map: boxes, distances and polygons."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tamis.errors import PatternError, TypeMismatch
from tamis.expression.operands import clean_point, kind_of
from tamis.expression.predicates import Within
from tamis.expression.tree import Expr
from tamis.language.eventbridge.place import Place
from tamis.language.shapes_json import shape_from_json
from tamis.values.shape import Box, Circle, Polygon
from tamis.values.value import Point

_DISTANCE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?([A-Za-z]*)")
_METRES = {"": 1.0, "m": 1.0, "meters": 1.0, "km": 1000.0, "kilometers": 1000.0, "cm": 0.01, "mm": 0.001}
_METRES |= {"mi": 1609.344, "miles": 1609.344, "yd": 0.9144, "yards": 0.9144, "ft": 0.3048, "feet": 0.3048}
_METRES |= {"in": 0.0254, "inch": 0.0254, "nmi": 1852.0, "NM": 1852.0, "nauticalmiles": 1852.0}
SETTINGS = ("validation_method", "ignore_unmapped", "_name", "boost", "distance_type", "type")
_PAIR = re.compile(r"\s*(-?[0-9.]+)\s*,\s*(-?[0-9.]+)\s*")
_WKT_POINT = re.compile(r"\s*POINT\s*\(\s*(-?[0-9.]+)\s+(-?[0-9.]+)\s*\)\s*", re.IGNORECASE)


def point_of(value: Any, place: Place) -> Point:
    """Return a point in any of its written forms, except a geohash."""
    if isinstance(value, Mapping) and {"lat", "lon"} <= value.keys():
        return _point(value["lon"], value["lat"], place)
    if isinstance(value, list | tuple) and len(value) == 2:
        return _point(value[0], value[1], place)
    if isinstance(value, str):
        if found := _PAIR.fullmatch(value):
            return _point(float(found[2]), float(found[1]), place)
        if found := _WKT_POINT.fullmatch(value):
            return _point(float(found[1]), float(found[2]), place)
    if isinstance(value, Mapping) and value.get("type") == "Point":
        return point_of(value.get("coordinates"), place)
    place.refuse(f"expected a point such as {{'lat': 47, 'lon': 9}}, found {str(value)[:60]}", TypeMismatch)


def _point(lon: Any, lat: Any, place: Place) -> Point:
    if not all(isinstance(part, str | int | float) for part in (lon, lat)):
        place.refuse("the coordinates of a point are numbers", TypeMismatch)
    try:
        with place.blamed():
            return clean_point(float(lon), float(lat))
    except ValueError:
        place.refuse("the coordinates of a point are numbers", TypeMismatch)


def bounding_box(name: str, body: Any, place: Place) -> Expr:
    """Return the test that a point lies in a box."""
    if not isinstance(body, Mapping):
        place.refuse(f"expected an object, found {kind_of(body)}")
    match sorted(body):
        case ["bottom", "left", "right", "top"]:
            west, south, east, north = (body[key] for key in ("left", "bottom", "right", "top"))
            low, high = _point(west, south, place), _point(east, north, place)
        case ["bottom_right", "top_left"]:
            corner, other = point_of(body["top_left"], place), point_of(body["bottom_right"], place)
            low, high = Point(corner.lon, other.lat), Point(other.lon, corner.lat)
        case ["bottom_left", "top_right"]:
            low, high = point_of(body["bottom_left"], place), point_of(body["top_right"], place)
        case _:
            place.refuse("a box has top_left and bottom_right, or top, left, bottom and right")
    return Within(name, Box(low.lon, low.lat, high.lon, high.lat))


def distance(name: str, body: Any, metres: Any, place: Place) -> Expr:
    """Return the test that a point lies within a distance of another."""
    found = _DISTANCE.fullmatch(str(metres))
    if found is None or found[2] not in _METRES:
        place.refuse(f"{str(metres)[:40]!r} is no distance such as 5km", PatternError)
    return Within(name, Circle(point_of(body, place), float(found[1]) * _METRES[found[2]]))


def polygon(name: str, body: Any, place: Place) -> Expr:
    """Return the test that a point lies in a polygon."""
    points = body.get("points") if isinstance(body, Mapping) else None
    if not isinstance(points, list) or len(points) < 3:
        place.refuse("a polygon has at least three points")
    ring = [(point.lon, point.lat) for point in (point_of(one, place) for one in points)]
    if ring[0] != ring[-1]:
        ring.append(ring[0])
    return Within(name, Polygon(((tuple(ring),),)))


def shape(name: str, body: Any, place: Place) -> Expr:
    """Return the test that a point lies in a GeoJSON shape."""
    given = body.get("shape") if isinstance(body, Mapping) else None
    if not isinstance(given, Mapping):
        place.refuse("Tamis needs the shape itself; an indexed shape is not read")
    relation = str(body.get("relation", "intersects")).lower()
    if relation not in ("intersects", "within"):
        place.refuse(f"the relation {relation!r:.40} is not one that a point can have with a shape here")
    kind, coordinates = str(given.get("type", "")), given.get("coordinates")
    if kind.lower() == "envelope" and isinstance(coordinates, list) and len(coordinates) == 2:
        return bounding_box(name, {"top_left": coordinates[0], "bottom_right": coordinates[1]}, place)
    if kind.lower() == "point":
        return Within(name, Circle(point_of(coordinates, place), 0))
    names = {"polygon": "Polygon", "multipolygon": "MultiPolygon"}
    if kind.lower() not in names:
        place.refuse(f"Tamis has no shape of the type {kind!r:.40}")
    with place.blamed():
        return Within(name, shape_from_json({"type": names[kind.lower()], "coordinates": coordinates}))
