"""Find the SHAPE and POINT flags: the shapes that cover each of many points.

A spatial index proposes pairs of points and shapes, and a kernel decides the clear ones. If rounding could
matter, or a polygon is long or crosses itself, the shape itself decides, so the verdict is always that of
:func:`tamis.values.shape.covers`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from tamis.space.shapes._kernels import BOX, CIRCLE, DOUBT, OTHER, POLYGON, YES, judge_points
from tamis.values.shape import Box, Circle, Polygon, Shape, covers, distance, geometry, parts_of
from tamis.values.value import Point

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bounds = tuple[float, float, float, float]  # west, south, east, north

SHORT = 128  # edges up to which a check of each is quicker than the library's index


class Shapes:
    """The shapes and points that predicates on one attribute mention, each with its dimension."""

    def __init__(self, shapes: list[tuple[Shape, int]], points: list[tuple[Point, int]]) -> None:
        parts = [(part, dimension) for shape, dimension in shapes for part in _parts(shape)]
        self._in_parts = len(parts) > len(shapes)  # whether a shape may be found twice
        self._shapes = [shape for shape, _ in parts]
        self._dimension = np.array([dimension for _, dimension in parts], np.int64)
        self._points: dict[tuple[str, str], int] = {_place(point.lon, point.lat): d for point, d in points}
        self._geometry = np.array([_geometry(shape) for shape in self._shapes], object)
        self._figures = _figures(self._shapes)
        boxes = [(box, n) for n, shape in enumerate(self._shapes) for box in bounds_of(shape)]
        self._owner = np.array([n for _, n in boxes], np.int64)
        self._tree = shapely.STRtree(shapely.box(*np.array([box for box, _ in boxes]).T)) if boxes else None

    def find(self, lon: Floats, lat: Floats) -> tuple[Ints, Ints]:
        """Return pairs (place of a point, dimension) for all shapes that cover it and the point itself."""
        which, dimension = self._covering(lon, lat)
        if self._points:
            places = zip(lon.tolist(), lat.tolist(), strict=True)
            named = np.array([self._points.get(_place(x, y), -1) for x, y in places], np.int64)
            itself = np.flatnonzero(named >= 0)
            which, dimension = np.concatenate([which, itself]), np.concatenate([dimension, named[itself]])
        return which, dimension

    def _covering(self, lon: Floats, lat: Floats) -> tuple[Ints, Ints]:
        if self._tree is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        points = shapely.points(lon, lat)
        which, box = self._tree.query(points)
        shape = self._owner[box]
        verdict = np.empty(len(which), np.uint8)
        kind, numbers, start, edges = self._figures
        judge_points(which, shape, lon, lat, kind, numbers, start, edges, verdict)
        doubtful = np.flatnonzero(verdict == DOUBT)
        if len(doubtful):
            verdict[doubtful] = self._ask(which[doubtful], shape[doubtful], points, lon, lat)
        held = verdict == YES
        which, dimension = which[held], self._dimension[shape[held]]
        return _distinct(which, dimension) if self._in_parts else (which, dimension)

    def _ask(self, which: Ints, shape: Ints, points: Any, lon: Floats, lat: Floats) -> npt.NDArray[np.bool_]:
        """Return the verdict of the shapes themselves."""
        geometries = self._geometry[shape]
        found: npt.NDArray[np.bool_] = shapely.covers(geometries, points[which])
        for at in np.flatnonzero(shapely.is_missing(geometries)).tolist():
            point = Point(float(lon[which[at]]), float(lat[which[at]]))
            found[at] = covers(self._shapes[shape[at]], point)
        return found


def _place(lon: float, lat: float) -> tuple[str, str]:
    """Return a hash key that equal points share and nobody can predict (hashes of floats are predictable)."""
    return repr(lon + 0.0), repr(lat + 0.0)


def _parts(shape: Shape) -> tuple[Shape, ...]:
    return parts_of(shape) if isinstance(shape, Polygon) else (shape,)


def _distinct(which: Ints, dimension: Ints) -> tuple[Ints, Ints]:
    """Return the pairs without repetitions: a point may lie in two areas of one polygon."""
    if not len(which):
        return which, dimension
    pairs = np.unique(np.stack([which, dimension], axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _geometry(shape: Shape) -> Any:
    return geometry(shape) if isinstance(shape, Polygon) else None


def _figures(shapes: list[Shape]) -> tuple[Any, Any, Any, Any]:
    """Return shapes for the kernel: kind, four numbers, and the starts of the edges (x1, y1, x2, y2)."""
    kind = np.empty(len(shapes), np.uint8)
    numbers = np.zeros((len(shapes), 4))
    edges: list[Floats] = [np.zeros((0, 4))]
    start = np.zeros(len(shapes) + 1, np.int64)
    for n, shape in enumerate(shapes):
        own = edges[0]
        if isinstance(shape, Box):
            kind[n], numbers[n] = BOX, (shape.west, shape.south, shape.east, shape.north)
        elif isinstance(shape, Circle):
            kind[n], numbers[n, :3] = CIRCLE, (shape.centre.lon, shape.centre.lat, shape.metres)
        else:
            kind[n] = OTHER
            count = sum(len(ring) for area in shape.areas for ring in area)
            if count <= SHORT and shapely.is_valid(geometry(shape)):
                kind[n], own = POLYGON, _edges(shape)
                edges.append(own)
        start[n + 1] = start[n] + len(own)
    return kind, numbers, start, np.concatenate(edges)


def _edges(polygon: Polygon) -> Floats:
    rings = [np.array(ring) for area in polygon.areas for ring in area]
    return np.concatenate([np.hstack([ring[:-1], ring[1:]]) for ring in rings])


def bounds_of(shape: Shape) -> list[Bounds]:
    """Return disjoint bounding boxes that together hold all of ``shape``."""
    if isinstance(shape, Polygon):
        return [tuple(geometry(shape).bounds)]
    if isinstance(shape, Box):
        if shape.west <= shape.east:
            return [(shape.west, shape.south, shape.east, shape.north)]
        return [(shape.west, shape.south, 180.0, shape.north), (-180.0, shape.south, shape.east, shape.north)]
    return _circle_bounds(shape)


def _circle_bounds(circle: Circle) -> list[Bounds]:
    """Return a circle's boxes: all longitudes near a pole, two boxes across the antimeridian."""
    lat, lon = circle.centre.lat, circle.centre.lon
    pad = 1e-6
    degrees = circle.metres / distance(Point(0.0, 0.0), Point(0.0, 1.0)) + pad
    south, north = lat - degrees, lat + degrees
    if south <= -90.0 or north >= 90.0 or degrees >= 90.0:
        return [(-180.0, max(south, -90.0), 180.0, min(north, 90.0))]
    # The meridians that touch a circle bulge: asin, not a plain division by the cosine.
    ratio = math.sin(math.radians(degrees)) / math.cos(math.radians(lat))
    half = math.degrees(math.asin(min(1.0, ratio))) + pad
    west, east = lon - half, lon + half
    if west < -180.0:
        return [(-180.0, south, east, north), (west + 360.0, south, 180.0, north)]
    if east > 180.0:
        return [(west, south, 180.0, north), (-180.0, south, east - 360.0, north)]
    return [(west, south, east, north)]
