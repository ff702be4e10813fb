"""Test filters of CQL2: text and JSON, each function, each refusal."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.reading import imported, verdict

POINTS = " | geom: a value of an event is a point; features that are lines or areas never match"
TEXTS = [
    ("a = 5 AND \"b c\" <> 'it''s' OR NOT d", "a = 5 AND \"b c\" != 'it''s' OR d = FALSE"),
    ("NOT (a > 5 OR b LIKE 'x%')", "(a IS NOT NULL AND NOT a > 5) AND b NOT LIKE 'x%'"),
    (
        "5 < a AND a BETWEEN -1 AND 2.5 AND b NOT IN ('x', 'y')",
        "a > 5 AND a BETWEEN -1 AND 2.5 AND b NOT IN ('x', 'y')",
    ),
    ("a IS NOT NULL AND b IS NULL", "a IS NOT NULL AND b IS NULL"),
    (
        "CASEI(a) = casei('Ab') AND CASEI(b) IN (casei('x'), casei('y'))",
        "a ILIKE 'Ab' AND (b ILIKE 'x' OR b ILIKE 'y')",
    ),
    ("CASEI(a) LIKE casei('x%')", "a ILIKE 'x%'"),
    ("a >= TIMESTAMP('2026-01-01T00:00:00Z')", "a >= TIMESTAMP '2026-01-01T00:00:00Z'"),
    ("T_AFTER(a, DATE('2026-01-01'))", "a > TIMESTAMP '2026-01-01T00:00:00Z'"),
    ("T_AFTER(DATE('2026-01-01'), a)", "a < TIMESTAMP '2026-01-01T00:00:00Z'"),
    (
        "NOT T_DURING(INTERVAL(a, b), INTERVAL('2026-01-01', '2026-02-01'))",
        "a IS NOT NULL AND NOT a > TIMESTAMP '2026-01-01T00:00:00Z'"
        " OR b IS NOT NULL AND NOT b < TIMESTAMP '2026-02-01T00:00:00Z'",
    ),
    ("T_INTERSECTS(a, INTERVAL('2026-01-01', '..'))", "a >= TIMESTAMP '2026-01-01T00:00:00Z'"),
    ("T_AFTER(a, INTERVAL('2026-01-01', '..'))", "FALSE"),
    ("S_INTERSECTS(geom, BBOX(8, 47, 9, 48))", "geom WITHIN BOX (8, 47, 9, 48)" + POINTS),
    (
        "S_DISJOINT(geom, POLYGON((0 0, 1 0, 1 1, 0 0)))",
        "geom NOT WITHIN POLYGON ((0 0, 1 0, 1 1, 0 0))" + POINTS,
    ),
    ("NOT S_DISJOINT(geom, POINT(1 2))", "geom = POINT (1 2)" + POINTS),
    ("A_CONTAINS(a, ('x', 'y')) AND A_OVERLAPS(b, (1, 2))", "(a = 'x' AND a = 'y') AND b IN (1, 2)"),
]


@pytest.mark.parametrize(("rule", "text"), TEXTS)
def test_text_becomes_a_condition(rule: str, text: str) -> None:
    assert imported("cql2", rule) == text


JSON: list[tuple[Any, str]] = [
    (
        {
            "op": "and",
            "args": [
                {"op": "=", "args": [{"property": "a"}, 5]},
                {"op": "isNull", "args": [{"property": "b"}]},
            ],
        },
        "a = 5 AND b IS NULL",
    ),
    ({"op": "in", "args": [{"property": "a"}, ["x", "y"]]}, "a IN ('x', 'y')"),
    ({"op": "between", "args": [{"property": "a"}, 1, 2]}, "a BETWEEN 1 AND 2"),
    ({"op": "not", "args": [{"op": "like", "args": [{"property": "a"}, "x%"]}]}, "a NOT LIKE 'x%'"),
    (
        {"op": "t_before", "args": [{"property": "a"}, {"date": "2026-01-01"}]},
        "a < TIMESTAMP '2026-01-01T00:00:00Z'",
    ),
    (
        {"op": "s_intersects", "args": [{"property": "geom"}, {"bbox": [8, 47, 9, 48]}]},
        "geom WITHIN BOX (8, 47, 9, 48)" + POINTS,
    ),
    (
        {"op": "s_equals", "args": [{"property": "geom"}, {"type": "Point", "coordinates": [1, 2]}]},
        "geom = POINT (1 2)" + POINTS,
    ),
]


@pytest.mark.parametrize(("rule", "text"), JSON, ids=lambda part: str(part)[:40])
def test_json_becomes_a_condition(rule: Any, text: str) -> None:
    assert imported("cql2", rule) == text


REFUSED: list[tuple[Any, str]] = [
    ("a < b", "with the attribute b"),
    ("a + 1 > 5", "computes nothing: '+'"),
    ("avg(a) > 5", "no function 'avg'"),
    ("ACCENTI(a) = 'x'", "no function 'accenti'"),
    ("S_TOUCHES(geom, POINT(1 2))", "a value of an event is a point"),
    ("S_INTERSECTS(geom, LINESTRING(0 0, 1 1))", "LineString is none"),
    ("S_INTERSECTS(geom, POLYGON((0 0)", "a geometry in parentheses"),
    ("S_INTERSECTS(geom, POLYGON((0 0)))", "the geometry cannot be read"),
    ("T_AFTER(a, b)", "compares an attribute with a DATE"),
    ("a = DATE('x')", "no date and no time"),
    ("a = ", "expected a value, a name or a function, found the end"),
    ("a = 5 5", "expected an operator or the end"),
    ("a ~ 5", "'~' is not expected"),
    ("a = 'x" + "\\" * 5_000, "is not expected"),
    ("(" * 500 + "a = 1" + ")" * 500, "nests too deeply"),
    ("NOT " * 500 + "a = 1", "nests too deeply"),
    ({"op": "and"}, "'args', a list"),
    ({"op": "and", "args": []}, "says nothing"),
    ("and()", "found 'and'"),
    ({"op": "=", "args": [{"property": "a"}, None]}, "null is no value"),
    ({"op": "=", "args": [{"property": "a"}]}, "takes two arguments"),
    ({"nosuch": 1}, "expected an operation"),
]


@pytest.mark.parametrize(("rule", "reason"), REFUSED, ids=lambda part: str(part)[:40])
def test_filter_that_cannot_be_expressed_is_refused(rule: Any, reason: str) -> None:
    found = imported("cql2", rule)
    assert found.startswith("refused: ")
    assert reason in found


def test_long_chain_is_read_without_recursion() -> None:
    assert verdict("cql2", " OR ".join(f"a = {n}" for n in range(400)), {"a": 399}) is True
