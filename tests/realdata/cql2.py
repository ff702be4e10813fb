"""OGC CQL2 predicates and their features in our language.

Sayable: comparisons, sets, LIKE, IS NULL, dates and times, every temporal function (a relation of two
intervals is a comparison of their ends), and spatial functions of *points*. Not sayable: spatial functions
of features that are lines or areas, since an event's value is a point.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from tamis import parse
from tamis.expression.predicates import Compare
from tamis.expression.tree import And, Expr, Or
from tamis.values.value import Point, clean_time

POINTS = "ne_110m_populated_places_simple"
_TEMPORAL = re.compile(r"(t_\w+)\((interval\(\w+,\w+\)|[\w\"]+),(.*)\)", re.IGNORECASE)
_SPATIAL = re.compile(r"(S_\w+)\(geom,((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")


def expression_of(case: dict[str, Any]) -> Expr | None:
    """The expression of a case; ``None`` if our language cannot say it."""
    rule = case["rule"]
    if temporal := _TEMPORAL.fullmatch(rule):
        return _relation(*temporal.groups())
    if "S_" in rule:
        if case["collection"] != POINTS:
            return None
        rule = _SPATIAL.sub(_of_points, rule)
    return parse(rule)


def _of_points(match: re.Match[str]) -> str:
    """For a point, to intersect an area or to lie within it is the same."""
    function, shape = match.groups()
    if function == "S_EQUALS":
        return f"geom = {shape}"
    shape = re.sub(r"BBOX\((.*)\)", r"BOX(\1)", shape)
    inside = f"geom WITHIN {shape}"
    return {"S_INTERSECTS": inside, "S_WITHIN": inside, "S_DISJOINT": f"NOT {inside}"}[function]


def _relation(function: str, left: str, right: str) -> Expr:
    """A relation between an event's time or interval and a fixed one, by their four ends."""
    names = re.findall(r"\w+", left.removeprefix("interval"))
    start, end = names[0], names[-1]
    fixed = [None if text == ".." else clean_time(_moment(text)) for text in re.findall(r"'([^']*)'", right)]
    low, high = fixed[0], fixed[-1]
    relations = {
        "after": ((start, ">", high),),
        "before": ((end, "<", low),),
        "equals": ((start, "=", low), (end, "=", high)),
        "intersects": ((start, "<=", high), (end, ">=", low)),
        "contains": ((start, "<", low), (end, ">", high)),
        "during": ((start, ">", low), (end, "<", high)),
        "finishes": ((end, "=", high), (start, ">", low)),
        "finishedby": ((end, "=", high), (start, "<", low)),
        "meets": ((end, "=", low),),
        "metby": ((start, "=", high),),
        "overlaps": ((start, "<", low), (end, ">", low), (end, "<", high)),
        "overlappedby": ((start, ">", low), (start, "<", high), (end, ">", high)),
        "starts": ((start, "=", low), (end, "<", high)),
        "startedby": ((start, "=", low), (end, ">", high)),
    }
    relation = function.lower().removeprefix("t_")
    if relation == "disjoint":
        return Or((Compare(end, "<", low), Compare(start, ">", high)))  # type: ignore[arg-type]
    return And(tuple(Compare(name, op, at) for name, op, at in relations[relation]))  # type: ignore[arg-type]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def event_of(feature: dict[str, Any]) -> dict[str, Any]:
    """A feature as an event: times as times, truth values as booleans, a point as a point."""
    event = {name: value for name, value in feature.items() if name not in ("collection", "fid", "geom")}
    for name in ("date", "start", "end"):
        if event.get(name):
            event[name] = clean_time(_moment(event[name]))
    if "boolean" in event:
        event["boolean"] = bool(event["boolean"])
    if feature["geom"]["type"] == "Point":
        event["geom"] = Point(*feature["geom"]["coordinates"])
    return event
