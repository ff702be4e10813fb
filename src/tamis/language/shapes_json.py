"""Read and write shapes in the JSON form: GeoJSON polygons, and boxes and circles in the same spirit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tamis.errors import PatternError
from tamis.expression.operands import clean_point
from tamis.values.shape import Box, Circle, Polygon, Shape

_KEYS = {
    "Polygon": {"coordinates"},
    "MultiPolygon": {"coordinates"},
    "Box": {"bounds"},
    "Circle": {"centre", "metres"},
}


def shape_to_json(shape: Shape) -> dict[str, Any]:
    """Return ``shape`` as plain data."""
    if isinstance(shape, Box):
        return {"type": "Box", "bounds": [shape.west, shape.south, shape.east, shape.north]}
    if isinstance(shape, Circle):
        return {"type": "Circle", "centre": [shape.centre.lon, shape.centre.lat], "metres": shape.metres}
    areas = [[[list(pair) for pair in ring] for ring in area] for area in shape.areas]
    if len(areas) == 1:
        return {"type": "Polygon", "coordinates": areas[0]}
    return {"type": "MultiPolygon", "coordinates": areas}


def shape_from_json(data: Any) -> Shape:
    """Return the shape; its numbers are not checked yet."""
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str) or data["type"] not in _KEYS:
        raise PatternError(f"a shape is an object with a type out of {', '.join(_KEYS)}")
    expected = _KEYS[data["type"]] | {"type"}
    if set(data) != expected:
        raise PatternError(f"a {data['type']} has the keys {', '.join(sorted(expected))}")
    try:
        return _read(data)
    except (TypeError, ValueError):
        raise PatternError(f"the numbers of the {data['type']} are not nested as they should be") from None


def _read(data: Mapping[str, Any]) -> Shape:
    match data["type"]:
        case "Box":
            west, south, east, north = data["bounds"]
            return Box(west, south, east, north)
        case "Circle":
            lon, lat = data["centre"]
            return Circle(clean_point(lon, lat), data["metres"])
        case "Polygon":
            return Polygon((_area(data["coordinates"]),))
    return Polygon(tuple(_area(area) for area in data["coordinates"]))


def _area(rings: Any) -> Any:
    return tuple(tuple(tuple(pair) for pair in ring) for ring in rings)
