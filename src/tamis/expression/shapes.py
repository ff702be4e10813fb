"""Check shapes in expressions: coordinates in range, rings closed, areas valid, limits kept."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tamis.errors import PatternError
from tamis.expression.operands import clean_coordinate, clean_point, kind_of, over
from tamis.limits import Limits
from tamis.values.shape import Box, Circle, Polygon, Ring, Shape


def clean_shape(shape: Any, limits: Limits) -> Shape:
    """Return ``shape`` with float coordinates; raise :class:`~tamis.errors.PatternError` if it is invalid."""
    try:
        if isinstance(shape, Box):
            return _box(shape)
        if isinstance(shape, Circle):
            return _circle(shape)
        if isinstance(shape, Polygon):
            return _polygon(shape, limits)
    except (TypeError, AttributeError):  # a shape built in Python may hold anything
        raise PatternError(f"the parts of the shape have the wrong types: {str(shape)[:80]}") from None
    raise PatternError(f"WITHIN takes a polygon, a box or a circle, not {kind_of(shape)}")


def _box(box: Box) -> Box:
    west, south, east, north = map(clean_coordinate, (box.west, box.south, box.east, box.north))
    for lon, lat in ((west, south), (east, north)):
        _in_range(lon, lat)
    if south > north:
        raise PatternError(
            f"a box is west, south, east, north; its south {south} lies beyond its north {north}"
        )
    return Box(west, south, east, north)


def _circle(circle: Circle) -> Circle:
    metres = clean_coordinate(circle.metres)
    if not 0.0 <= metres < math.inf:
        raise PatternError(f"a distance is a finite number of at least 0, not {metres}")
    return Circle(clean_point(circle.centre.lon, circle.centre.lat), metres)


def _polygon(polygon: Polygon, limits: Limits) -> Polygon:
    vertices = sum(len(ring) for area in polygon.areas for ring in area)
    if vertices > limits.polygon_vertices:
        raise over("polygon_vertices", limits.polygon_vertices, f"the polygon has {vertices} vertices")
    areas = tuple(tuple(clean_ring(ring) for ring in area) for area in polygon.areas)
    if not areas or not all(areas):
        raise PatternError("a polygon needs at least one ring")
    for number, area in enumerate(areas, 1):
        _check_area(area, f"polygon {number} of {len(areas)}" if len(areas) > 1 else "the polygon")
    return Polygon(areas)


def _check_area(area: tuple[Ring, ...], what: str) -> None:
    """Raise an error if rings cross or share an edge: then inside and outside are not defined.

    Areas of one polygon may overlap: a point lies in the polygon if it lies in one of them.
    """
    import shapely

    reason = str(shapely.is_valid_reason(shapely.Polygon(area[0], list(area[1:]))))
    if reason == "Valid Geometry":
        return
    fault, _, place = reason.removesuffix("]").partition("[")
    where = f" at ({place})" if place else ""
    raise PatternError(
        f"{what} is not valid: {fault[:1].lower()}{fault[1:]}{where}; its rings must neither cross nor share "
        "an edge, and holes must lie inside the outer ring. Repair it, for example with shapely.make_valid, "
        "or write overlapping areas as a MULTIPOLYGON",
        reason=fault,
    )


def clean_ring(pairs: Iterable[Any]) -> Ring:
    """Return a closed ring of at least four (lon, lat) pairs."""
    ring = tuple([_pair(pair) for pair in pairs])
    if len(ring) < 4:
        raise PatternError(
            f"a ring has at least 4 points, the last equal to the first; this one has {len(ring)}"
        )
    if ring[0] != ring[-1]:
        raise PatternError(f"the ring is not closed: it begins at {ring[0]} and ends at {ring[-1]}")
    return ring


def _pair(pair: Any) -> tuple[float, float]:
    try:
        lon, lat = pair
    except (TypeError, ValueError):
        raise PatternError(
            f"a point of a ring is a pair (longitude, latitude), not {str(pair)[:40]}"
        ) from None
    place = clean_coordinate(lon), clean_coordinate(lat)
    _in_range(*place)
    return place


def _in_range(lon: float, lat: float) -> None:
    if not (-180.0 <= lon <= 180.0 and -90.0 <= lat <= 90.0):
        raise PatternError(
            f"longitude lies in [-180, 180] and latitude in [-90, 90]; ({lon}, {lat}) does not"
        )
