"""Invalid polygons are refused with reason and place in all three forms; overlapping areas are united."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tamis import Index, from_json, parse, to_json, to_text
from tamis.engines.engines import NAMES as ENGINES
from tamis.errors import PatternError
from tamis.expression.predicates import Within
from tamis.language import check_tree
from tamis.values.event import Event
from tamis.values.shape import Polygon, Ring, covers
from tamis.values.value import Point
from tests.duel.expected import assert_same_pairs, match_one_by_one, named, pairs_of

Areas = tuple[tuple[Ring, ...], ...]


def square(west: float, south: float, side: float) -> Ring:
    east, north = west + side, south + side
    return ((west, south), (east, south), (east, north), (west, north), (west, south))


BOW: Ring = ((0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 2.0), (0.0, 0.0))
INVALID: dict[str, tuple[Areas, str]] = {
    "crossing": (((BOW,),), r"self-intersection at \(1 1\)"),
    "hole on an edge": (((square(0, 0, 4), square(0, 1, 1)),), "self-intersection at"),
    "hole outside": (((square(0, 0, 4), square(9, 9, 1)),), r"hole lies outside shell at \(9 9\)"),
    "holes overlap": (((square(0, 0, 9), square(1, 1, 3), square(2, 2, 3)),), "self-intersection at"),
    "flat": (((((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), (0.0, 0.0)),),), "too few points"),
    "second of two": (((square(8, 8, 1),), (BOW,)), "polygon 2 of 2 is not valid: self-intersection"),
}
OVERLAPPING: dict[str, Areas] = {
    "two squares": ((square(0, 0, 4),), (square(2, 2, 4),)),
    "one inside the other": ((square(0, 0, 6),), (square(2, 2, 1),)),
    "the same twice": ((square(0, 0, 4),), (square(0, 0, 4),)),
    "sharing an edge": ((square(0, 0, 3),), (square(3, 0, 3),)),
    "filling a hole": ((square(0, 0, 6), square(1, 1, 3)), (square(1, 1, 3),)),
    "three in a row": tuple((square(n, n, 2),) for n in range(3)),
}


def _text(areas: Areas) -> str:
    rings = [
        "(" + ", ".join("(" + ", ".join(f"{x} {y}" for x, y in ring) + ")" for ring in area) + ")"
        for area in areas
    ]
    return f"MULTIPOLYGON ({', '.join(rings)})" if len(areas) > 1 else f"POLYGON {rings[0]}"


def _geojson(areas: Areas) -> dict[str, Any]:
    if len(areas) > 1:
        return {"type": "MultiPolygon", "coordinates": areas}
    return {"type": "Polygon", "coordinates": areas[0]}


FORMS: dict[str, Callable[[Areas], Any]] = {
    "text": lambda areas: parse(f"p WITHIN {_text(areas)}"),
    "JSON": lambda areas: from_json({"attribute": "p", "op": "within", "shape": _geojson(areas)}),
    "Python": lambda areas: check_tree(Within("p", Polygon(areas))),
}


@pytest.mark.parametrize("case", INVALID)
@pytest.mark.parametrize("form", FORMS)
def test_invalid_polygon_is_refused_with_reason_and_remedy(form: str, case: str) -> None:
    areas, reason = INVALID[case]
    with pytest.raises(PatternError, match=reason) as caught:
        FORMS[form](areas)
    assert "make_valid" in caught.value.message


def test_hole_that_touches_its_ring_in_one_point_is_valid() -> None:
    hole: Ring = ((0.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 1.0))
    shape = check_tree(Within("p", Polygon(((square(0, 0, 4), hole),)))).shape  # type: ignore[union-attr]
    assert covers(shape, Point(0.0, 1.0))
    assert not covers(shape, Point(0.9, 1.1))


@pytest.mark.parametrize("case", OVERLAPPING)
@pytest.mark.parametrize("engine", ENGINES)
def test_overlapping_areas_are_united(engine: str, case: str, tmp_path: Path) -> None:
    areas = OVERLAPPING[case]
    trees = [read(areas) for read in FORMS.values()]
    assert trees[0] == trees[1] == trees[2]
    assert parse(to_text(trees[0])) == from_json(to_json(trees[0])) == trees[0]
    book = [trees[0], Within("p", trees[0].shape, True), Within("p", Polygon((areas[0],)))]
    grid = [float(at) for at in np.arange(-0.5, 7.0, 0.5)]
    batch = [Event({"p": (Point(x, y),)}) for x in grid for y in grid]
    batch += [Event({"p": (Point(0.5, 0.5), Point(2.5, 2.5))}), Event({})]
    inside = [
        any(covers(Polygon((area,)), event.attributes["p"][0]) for area in areas) for event in batch[:-2]
    ]
    assert [covers(trees[0].shape, event.attributes["p"][0]) for event in batch[:-2]] == inside
    index = Index.build(named(book), engine=engine)
    assert_same_pairs(pairs_of(index.match_many(batch)), book, batch, "match_many")
    index.save(tmp_path / "index")
    stored = Index.open(tmp_path / "index")
    assert_same_pairs(match_one_by_one(stored, batch), book, batch, "a stored index")
