"""Turn the spatial functions of CQL2 into tests of points."""

from __future__ import annotations

from typing import Any

from tamis.errors import ParseError, PatternError
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import Compare, Within
from tamis.rules.cql2.parser import Shape
from tamis.rules.infix.parser import Constant, Name, Node
from tamis.values.shape import Box, Polygon
from tamis.values.value import Point

NAMES = (
    "s_intersects",
    "s_within",
    "s_disjoint",
    "s_equals",
    "s_contains",
    "s_touches",
    "s_crosses",
    "s_overlaps",
)


def predicate(name: str, arguments: tuple[Node, ...], differences: list[str]) -> tuple[Predicate, bool]:
    """Return a predicate on a point, and whether the function is its denial."""
    if len(arguments) != 2:
        raise ParseError(f"{name} takes two arguments, not {len(arguments)}")
    one, two = arguments
    if isinstance(one, Constant) and isinstance(two, Name):
        one, two = two, one
        name = {"s_within": "s_contains", "s_contains": "s_within"}.get(name, name)
    if not isinstance(one, Name) or not isinstance(two, Constant) or not isinstance(two.value, Shape):
        raise ParseError(f"{name} compares an attribute with a geometry")
    if name in ("s_touches", "s_crosses", "s_overlaps"):
        raise ParseError(f"{name} needs lines or areas in events, and a value of an event is a point")
    differences.append(
        f"{one.name}: a value of an event is a point; features that are lines or areas never match"
    )
    geometry = two.value.geometry
    if not isinstance(geometry, Box) and geometry.is_empty:
        raise PatternError("the geometry is empty")
    if not isinstance(geometry, Box) and geometry.geom_type == "Point":
        return Compare(one.name, "=", Point(geometry.x, geometry.y)), name == "s_disjoint"
    if name in ("s_equals", "s_contains"):
        raise ParseError(f"{name} of a point needs a point, and the geometry is none")
    if name == "s_within":
        differences.append(f"{one.name}: a point on the border is within the area; in CQL2 it is not")
    return Within(one.name, _area(geometry)), name == "s_disjoint"


def _area(geometry: Any) -> Box | Polygon:
    if isinstance(geometry, Box):
        return geometry
    kinds = {"Polygon": lambda: [geometry], "MultiPolygon": lambda: list(geometry.geoms)}
    if geometry.geom_type not in kinds:
        raise PatternError(f"Tamis tests whether a point lies in an area; {geometry.geom_type} is none")
    areas = tuple(
        tuple(tuple((x, y) for x, y, *_ in ring.coords) for ring in (part.exterior, *part.interiors))
        for part in kinds[geometry.geom_type]()
    )
    return Polygon(areas)
