"""Define shapes on the map, and when a point lies in one.

A point lies in a polygon of several areas if it lies in one of them, also where areas overlap. Polygons and
boxes are planar in degrees, borders included; distance is the great circle on a sphere of the Earth's mean
radius. The spatial locator narrows the candidates with an index, but these same functions give the verdict.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import msgspec

from tamis.values.value import Point

EARTH_RADIUS_M = 6_371_008.8

Ring = tuple[tuple[float, float], ...]


class Polygon(msgspec.Struct, frozen=True, tag="polygon"):
    """One or more areas; each is an outer ring followed by its holes, as (lon, lat) pairs."""

    areas: tuple[tuple[Ring, ...], ...]


class Box(msgspec.Struct, frozen=True, tag="box"):
    """A box: west, south, east, north; west > east means across the antimeridian."""

    west: float
    south: float
    east: float
    north: float


class Circle(msgspec.Struct, frozen=True, tag="circle"):
    """All points within ``metres`` of ``centre``."""

    centre: Point
    metres: float


Shape = Polygon | Box | Circle


def covers(shape: Shape, point: Point) -> bool:
    """Return whether ``point`` lies in ``shape`` or on its border."""
    if isinstance(shape, Box):
        return box_covers(shape, point)
    if isinstance(shape, Circle):
        return distance(shape.centre, point) <= shape.metres
    import shapely

    place = shapely.Point(point.lon, point.lat)
    return any(bool(shapely.covers(geometry(part), place)) for part in parts_of(shape))


def box_covers(box: Box, point: Point) -> bool:
    """Return whether ``point`` lies in ``box``, which may cross the antimeridian."""
    if not box.south <= point.lat <= box.north:
        return False
    if box.west <= box.east:
        return box.west <= point.lon <= box.east
    return point.lon >= box.west or point.lon <= box.east


def distance(a: Point, b: Point) -> float:
    """Return the great-circle distance in metres (haversine)."""
    lat_a, lat_b = math.radians(a.lat), math.radians(b.lat)
    half_lat = math.sin((lat_b - lat_a) / 2.0)
    half_lon = math.sin(math.radians(b.lon - a.lon) / 2.0)
    chord = half_lat * half_lat + math.cos(lat_a) * math.cos(lat_b) * half_lon * half_lon
    return 2.0 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(chord)))


@lru_cache(maxsize=4096)
def parts_of(polygon: Polygon) -> tuple[Polygon, ...]:
    """Return polygons that together cover the same points: itself, or its areas if they overlap or touch.

    The geometry library counts a point in two overlapping areas as outside, so it never sees both at once.
    """
    import shapely

    if len(polygon.areas) == 1 or shapely.is_valid(geometry(polygon)):
        return (polygon,)
    return tuple(Polygon((area,)) for area in polygon.areas)


@lru_cache(maxsize=4096)
def geometry(polygon: Polygon) -> Any:
    """Return the shapely geometry of ``polygon``, prepared for repeated point tests."""
    import shapely

    shape = shapely.MultiPolygon([(area[0], list(area[1:])) for area in polygon.areas])
    shapely.prepare(shape)
    # The first test inside the bounds builds the library's index of edges. It is made here, by the only
    # thread that knows the geometry: later tests run without the interpreter's lock.
    west, south, east, north = shape.bounds
    shapely.covers(shape, shapely.Point((west + east) / 2.0, (south + north) / 2.0))
    return shape
