"""Match 51,095 rules about map objects with 81,611 OpenStreetMap objects and their municipalities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.workloads.real import geo
from bench.workloads.real.data import lines
from tamis import Index, Limits
from tamis.expression.predicates import Within
from tamis.values.shape import Polygon
from tamis.values.value import Point
from tests.realdata.common import assert_every_engine, sampled

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def _polygon(geometry: dict[str, Any]) -> Polygon:
    areas = geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
    return Polygon(tuple(tuple(tuple((x, y) for x, y in ring) for ring in area) for area in areas))


def test_map_rules_give_the_expected_pairs(shared_data: Path) -> None:
    folder = shared_data / "geo_osm"
    rules = {rule["id"]: geo.expression_of(rule) for rule in lines(folder / "rules.jsonl.gz")}
    assert len(rules) == 51_095
    objects = list(lines(folder / "events.jsonl.gz"))
    assert len(objects) == 81_611
    expected = {
        (line["event"], rule) for line in lines(folder / "matches.jsonl.gz") for rule in line["rules"]
    }
    assert len(expected) == 160_398
    objects, names, expected = sampled(objects, [line["id"] for line in objects], expected)
    assert_every_engine(Index.build(rules), map(geo.event_of, objects), names, expected)


def test_municipalities_cover_their_objects(shared_data: Path) -> None:
    folder = shared_data / "geo_osm"
    towns = {
        line["name"]: Within("at", _polygon(line["geometry"]))
        for line in lines(folder / "municipalities_li.geojsonl.gz")
    }
    assert len(towns) == 11
    objects = [line for line in lines(folder / "events.jsonl.gz") if line["country"] == "li"]
    places = [{"at": Point(line["lon"], line["lat"])} for line in objects]
    expected = {(line["id"], town) for line in objects for town in line.get("_in", ())}
    assert len(expected) == 50_012
    wide, names = Limits(polygon_vertices=20_000), [line["id"] for line in objects]
    assert_every_engine(Index.build(towns, limits=wide), places, names, expected)
