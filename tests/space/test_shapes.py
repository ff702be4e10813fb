"""Test many points against many shapes: always the verdict of the shape itself, above all on borders."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.space.shapes import Shapes
from tamis.values.shape import Box, Circle, Polygon, Ring, Shape, covers, distance
from tamis.values.value import Point

pytestmark = pytest.mark.kernels

_lons = st.sampled_from([-180.0, -179.5, 0.0, 0.1, 0.3, 1.0, 2.0, 179.5, 180.0]) | st.floats(-180, 180)
_lats = st.sampled_from([-90.0, -89.9, 0.0, 0.1, 0.3, 1.0, 2.0, 89.9, 90.0]) | st.floats(-90, 90)
_places = st.builds(Point, _lons, _lats)
_metres = st.sampled_from([0.0, 1e-9, 1.0, 1e5, 2e7, 2.1e7, 1e300]) | st.floats(0, 2.1e7)
_small = st.integers(-4, 4).map(lambda n: n / 3)
_corners = st.tuples(_small, _small) | st.tuples(_lons, _lats)


@st.composite
def _rings(draw: st.DrawFn) -> Ring:
    """Draw rings of all sorts: most of them cross themselves."""
    ring = draw(st.lists(_corners, min_size=3, max_size=8))
    return (*ring, ring[0])


@st.composite
def _stars(draw: st.DrawFn) -> Ring:
    """Draw rings around a centre: most of them do not cross themselves."""
    angles = np.sort(np.array(draw(st.lists(st.integers(0, 59), min_size=3, max_size=12, unique=True)))) / 60
    away = np.array(draw(st.lists(st.integers(1, 9), min_size=len(angles), max_size=len(angles)))) / 7
    ring = [
        (float(r * np.cos(6.28 * a)), float(r * np.sin(6.28 * a))) for a, r in zip(angles, away, strict=True)
    ]
    return (*ring, ring[0])


_hole: Ring = ((-0.05, -0.05), (0.05, -0.05), (0.05, 0.05), (-0.05, -0.05))
_areas = st.one_of(_rings(), _stars()).flatmap(lambda ring: st.sampled_from([(ring,), (ring, _hole)]))
_boxes = st.builds(lambda w, e, s, n: Box(w, min(s, n), e, max(s, n)), _lons, _lons, _lats, _lats)
_circles = st.builds(Circle, _places, _metres) | st.builds(
    lambda centre, border: Circle(centre, distance(centre, border)), _places, _places
)
_polygons = st.lists(_areas, min_size=1, max_size=2).map(lambda areas: Polygon(tuple(areas)))
_shapes = st.one_of(_boxes, _circles, _polygons)


def _telling(shape: Shape) -> list[Point]:
    """Return points where a verdict is hardest: corners, the middle of edges, the ends of the axes."""
    if isinstance(shape, Box):
        return [Point(x, y) for x in (shape.west, shape.east) for y in (shape.south, shape.north)]
    if isinstance(shape, Circle):
        far = shape.metres / 111_195.08
        lat = shape.centre.lat
        return [Point(shape.centre.lon, y) for y in (lat + far, lat - far) if abs(y) <= 90.0] + [shape.centre]
    found = []
    for ring in (ring for area in shape.areas for ring in area):
        for (x1, y1), (x2, y2) in pairwise(ring):
            found += [Point(x1, y1), Point((x1 + x2) / 2, (y1 + y2) / 2), Point((x1 + 2 * x2) / 3, y1)]
    return found


def _found(table: Shapes, points: list[Point]) -> set[tuple[int, int]]:
    lon, lat = np.array([p.lon for p in points]), np.array([p.lat for p in points])
    which, dimension = table.find(lon, lat)
    pairs = list(zip(which.tolist(), dimension.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


@given(st.lists(_shapes, min_size=1, max_size=6), st.lists(_places, max_size=6))
def test_found_shapes_are_those_that_cover_the_point(shapes: list[Shape], points: list[Point]) -> None:
    points = points + [point for shape in shapes for point in _telling(shape)]
    table = Shapes([(shape, 100 + n) for n, shape in enumerate(shapes)], [])
    expected = {
        (at, 100 + n)
        for at, point in enumerate(points)
        for n, shape in enumerate(shapes)
        if covers(shape, point)
    }
    assert _found(table, points) == expected
    alone = {(at, d) for at, point in enumerate(points) for _, d in _found(table, [point])}
    assert alone == expected


@given(_circles, st.floats(-180, 180), st.floats(-2e-9, 2e-9))
def test_circles_decide_their_border_exactly(circle: Circle, bearing: float, off: float) -> None:
    lat, lon, far = np.radians(circle.centre.lat), np.radians(circle.centre.lon), circle.metres / 6_371_008.8
    turn = np.radians(bearing)
    y = np.arcsin(np.clip(np.sin(lat) * np.cos(far) + np.cos(lat) * np.sin(far) * np.cos(turn), -1, 1))
    east = np.arctan2(np.sin(turn) * np.sin(far) * np.cos(lat), np.cos(far) - np.sin(lat) * np.sin(y))
    x = (np.degrees(lon + east) + 540.0) % 360.0 - 180.0
    point = Point(float(np.clip(x + off, -180, 180)), float(np.clip(np.degrees(y) + off, -90, 90)))
    assert bool(_found(Shapes([(circle, 7)], []), [point])) == covers(circle, point)


def test_points_of_predicates_match_exactly() -> None:
    table = Shapes([(Box(0.0, 0.0, 1.0, 1.0), 5)], [(Point(0.0, 0.0), 6), (Point(3.0, 3.0), 7)])
    points = [Point(-0.0, 0.0), Point(3.0, 3.0), Point(0.5, 0.5), Point(2.0, 2.0)]
    assert _found(table, points) == {(0, 5), (0, 6), (1, 7), (2, 5)}
    assert _found(Shapes([], []), points) == set()


def test_long_polygons_are_decided_exactly() -> None:
    angles = np.linspace(0, 2 * np.pi, 500)[:-1]
    ring = [(float(np.cos(a)), float(np.sin(a))) for a in angles]
    polygon = Polygon((((*ring, ring[0]),),))
    points = [Point(x / 10, y / 10) for x in range(-12, 13, 3) for y in range(-12, 13, 3)]
    expected = {(at, 1) for at, point in enumerate(points) if covers(polygon, point)}
    assert _found(Shapes([(polygon, 1)], []), points) == expected
    assert expected
