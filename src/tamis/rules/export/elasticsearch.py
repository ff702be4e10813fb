"""Write an expression as an Elasticsearch query."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from tamis.errors import ParseError
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import (
    Affix,
    AtLeast,
    Between,
    Compare,
    Exists,
    In,
    Like,
    Near,
    Regex,
    Text,
    Within,
)
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.language import to_text
from tamis.language.shapes_json import shape_to_json
from tamis.values.event import NULLS
from tamis.values.pattern import Wild, parts_of_like
from tamis.values.shape import Box, Circle
from tamis.values.value import Point, format_time

_RANGES = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}
_WORD = re.compile(r"\w+")


def query_of(tree: Expr) -> dict[str, Any]:
    """Return the query; raise an error if a part of the tree has none."""
    if tree == TRUE:
        return {"match_all": {}}
    if tree == FALSE:
        return {"match_none": {}}
    match tree:
        case And(children):
            return {"bool": _conjunction(children)}
        case Or(children):
            return {"bool": {"should": [query_of(child) for child in children]}}
        case Not(child):
            return {"bool": {"must_not": [query_of(child)]}}
    assert isinstance(tree, Predicate)
    if tree.is_negative and not isinstance(tree, Exists):
        positive = query_of(tree.positive())
        return {"bool": {"must": [{"exists": {"field": tree.attribute}}], "must_not": [positive]}}
    return _boosted(_predicate(tree), tree.weight)


def _conjunction(children: tuple[Expr, ...]) -> dict[str, list[Any]]:
    """Return the lists of a bool query; an alternative with TRUE only counts in the score."""
    found: dict[str, list[Any]] = {"must": [], "should": [], "must_not": []}
    for child in children:
        if isinstance(child, Not):
            found["must_not"].append(query_of(child.child))
        elif isinstance(child, Or) and len(child.children) == 2 and child.children[1] == TRUE:
            found["should"].append(query_of(child.children[0]))
        else:
            found["must"].append(query_of(child))
    if not found["must"] and found["should"]:
        found["must"].append({"match_all": {}})
    return {key: queries for key, queries in found.items() if queries}


def _boosted(query: dict[str, Any], weight: float) -> dict[str, Any]:
    if weight == 1:
        return query
    return {"bool": {"must": [query], "boost": weight}}


def _predicate(node: Predicate) -> dict[str, Any]:
    if node.attribute == NULLS:
        raise ParseError("Elasticsearch does not distinguish null from absence")
    match node:
        case Compare(name, "=", value) if not isinstance(value, Point | datetime):
            return {"term": {name: {"value": value}}}
        case Compare(name, "<" | "<=" | ">" | ">=" as op, value) if not isinstance(value, bool):
            return {"range": {name: {_RANGES[op]: _end(value)}}}
        case Between(name, low, high, False):
            return {"range": {name: {"gte": _end(low), "lte": _end(high)}}}
        case In(name, values, False) if not any(isinstance(one, Point | datetime) for one in values):
            return {"terms": {name: list(values)}}
        case Exists(name, negated):
            found = {"exists": {"field": name}}
            return {"bool": {"must_not": [found]}} if negated else found
        case Like(name, pattern, fold, False):
            return {"wildcard": {name: {"value": _wildcard(pattern), "case_insensitive": fold}}}
        case Affix(name, place, text, False):
            before, after = ("" if place == "prefix" else "*", "" if place == "suffix" else "*")
            return {"wildcard": {name: {"value": f"{before}{_escaped(text)}{after}"}}}
        case Text(name, "phrase", (phrase,), False):
            return {"match_phrase": {name: {"query": _plain(phrase)}}}
        case Text(name, mode, terms, False) if all(map(_WORD.fullmatch, terms)):
            return {"match": {name: {"query": " ".join(terms), "operator": "and" if mode == "all" else "or"}}}
        case AtLeast(name, terms, count, False) if all(map(_WORD.fullmatch, terms)):
            return {"match": {name: {"query": " ".join(terms), "minimum_should_match": count}}}
        case Near(name, "slop", (phrase,), slop, False):
            return {"match_phrase": {name: {"query": _plain(phrase), "slop": slop}}}
        case Within(name, shape, False):
            return _area(name, shape)
        case Regex():
            raise ParseError("Elasticsearch matches whole values with another syntax of expressions")
    raise ParseError(f"there is no query for {to_text(node)[:80]}")


def _end(value: Any) -> Any:
    return format_time(value) if isinstance(value, datetime) else value


def _plain(phrase: str) -> str:
    if not all(map(_WORD.fullmatch, phrase.split())):
        raise ParseError(f"the phrase {phrase[:60]!r} has terms that are no plain words")
    return phrase


def _wildcard(pattern: str) -> str:
    found = []
    for part in list(parts_of_like(pattern)):
        if isinstance(part, Wild):
            found.append("*" if part is Wild.ANY else "?")
        else:
            found.append(_escaped(part))
    return "".join(found)


def _escaped(text: str) -> str:
    return re.sub(r"([\\*?])", r"\\\1", text)


def _area(name: str, shape: Any) -> dict[str, Any]:
    if isinstance(shape, Circle):
        return {"geo_distance": {"distance": f"{shape.metres}m", name: [shape.centre.lon, shape.centre.lat]}}
    if isinstance(shape, Box):
        corners = {"top_left": [shape.west, shape.north], "bottom_right": [shape.east, shape.south]}
        return {"geo_bounding_box": {name: corners}}
    return {"geo_shape": {name: {"shape": shape_to_json(shape), "relation": "intersects"}}}
