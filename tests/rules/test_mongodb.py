"""Test query documents of MongoDB: each operator, each refusal, and a duel with a naive reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import rules
from tamis.expression.truth import matches
from tamis.values.event import event_from
from tests.rules.reading import imported

NO_ARRAY = " | a: $elemMatch also accepts a single value, which is no array"
EXPRESSED: list[tuple[Any, str]] = [
    ({}, "TRUE"),
    ({"a": 5, "b.c": "x", "$comment": "why"}, "a = 5 AND b.c = 'x'"),
    ({"a": None}, "a IS NULL OR \"$null\" = 'a'"),
    ({"a": {"$ne": 5}}, "NOT a = 5"),
    ({"a": {"$gt": 1, "$lt": 5}}, "a > 1 AND a < 5"),
    (
        {"a": {"$in": [1, None, {"$regularExpression": {"pattern": "^a", "options": "i"}}]}},
        "a IN (1) OR a RLIKE '(?i)^a' OR (a IS NULL OR \"$null\" = 'a')",
    ),
    ({"a": {"$in": []}}, "FALSE"),
    ({"a": {"$nin": [1, 2]}}, "NOT a IN (1, 2)"),
    ({"$or": [{"a": 1}, {"b": 2}], "$nor": [{"c": 1}]}, "(a = 1 OR b = 2) AND NOT c = 1"),
    ({"$and": [{"a": 1}, {"a": 2}]}, "a = 1 AND a = 2"),
    ({"a": {"$exists": True}}, "a IS NOT NULL OR \"$null\" = 'a'"),
    ({"a": {"$exists": False}}, "a IS NULL AND NOT \"$null\" = 'a'"),
    ({"a": {"$not": {"$gt": 5}}}, "NOT a > 5"),
    ({"a": {"$all": [1, 2]}}, "a = 1 AND a = 2"),
    ({"a": {"$elemMatch": {"$gt": 1, "$lte": 5}}}, "a BETWEEN 1.0000000000000002 AND 5" + NO_ARRAY),
    ({"a": {"$elemMatch": {"sku": "x"}}}, "a.sku = 'x'" + NO_ARRAY),
    ({"a": {"$elemMatch": {"q": {"$gt": 1}}}}, "a.q > 1" + NO_ARRAY),
    ({"a": {"$type": ["string", 8]}}, "a LIKE '%' OR a IN (FALSE, TRUE)"),
    ({"a": {"$regex": "^x", "$options": "i"}}, "a RLIKE '(?i)^x'"),
    ({"a": {"$date": "2026-01-01T00:00:00Z"}}, "a = TIMESTAMP '2026-01-01T00:00:00Z'"),
    ({"a": {"$gte": {"$date": {"$numberLong": "0"}}}}, "a >= TIMESTAMP '1970-01-01T00:00:00Z'"),
    ({"_id": {"$oid": "507f"}}, "_id = '507f'"),
    ({"a": {"$geoWithin": {"$box": [[8, 47], [9, 48]]}}}, "a WITHIN BOX (8, 47, 9, 48)"),
    (
        {
            "a": {
                "$geoIntersects": {
                    "$geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
                }
            }
        },
        "a WITHIN POLYGON ((0 0, 1 0, 1 1, 0 0))",
    ),
    (
        {"a": {"$near": {"$geometry": {"type": "Point", "coordinates": [9, 47]}, "$maxDistance": 500}}},
        "a WITHIN 500 M OF POINT (9 47) | a: $near puts nothing in order",
    ),
    ({"a": {"$geoWithin": {"$centerSphere": [[9, 47], 0.001]}}}, "a WITHIN 6371.0088 M OF POINT (9 47)"),
]


@pytest.mark.parametrize(("query", "text"), EXPRESSED, ids=lambda part: str(part)[:40])
def test_query_becomes_a_condition(query: Any, text: str) -> None:
    assert imported("mongodb", query) == text


REFUSED: list[tuple[Any, str]] = [
    ({"a": {"$size": 1}}, "does not count the elements"),
    ({"a": {"$mod": [2, 0]}}, "no arithmetic"),
    ({"a": {"$type": "int"}}, "cannot distinguish the type 'int'"),
    ({"a": {"b": 1}}, "no test for a whole object"),
    ({"a": [1]}, "no test for a whole array"),
    ({"a": {}}, "no test for a whole object"),
    ({"a.0": 1}, "an element at its place"),
    ({"$where": "x"}, "runs no scripts"),
    ({"$expr": {}}, "compares no attributes"),
    ({"$text": {"$search": "a"}}, "name the field"),
    ({"a": {"$elemMatch": {"sku": "x", "q": 1}}}, "in one element of an array"),
    ({"a": {"$elemMatch": {"$ne": 1}}}, "in one element of an array"),
    ({"a": {"$elemMatch": {"sku": {"$ne": 1}}}}, "only one positive condition"),
    ({"a": {"$gt": None}}, '$.a["$gt"]: expected a value'),
    ({"a": {"$nosuch": 1}}, "no operator '$nosuch'"),
    ({"a": {"$gt": 1, "b": 2}}, "no operator 'b'"),
    ({"a": {"$regex": "(?=a)"}}, "invalid perl operator"),
    ({"a": {"$regex": "a", "$options": "x"}}, "no option 'x'"),
    ({"a": {"$geoWithin": {"$center": [[9, 47], 1]}}}, "no circle on the map"),
    ({"a": {"$near": {"$geometry": {"type": "Point", "coordinates": [9, 47]}}}}, "in order"),
    ({"$or": []}, "at least one query"),
    (7, "a query is an object"),
]


@pytest.mark.parametrize(("query", "reason"), REFUSED, ids=lambda part: str(part)[:40])
def test_query_that_cannot_be_expressed_is_refused(query: Any, reason: str) -> None:
    found = imported("mongodb", query)
    assert found.startswith("refused: ")
    assert reason in found


def test_deep_query_is_refused() -> None:
    query: Any = {"a": 1}
    for _ in range(200):
        query = {"$and": [query]}
    assert "deeper than" in imported("mongodb", query)


# -- the duel: a naive reader of logical operators and comparisons, with nulls and arrays -----------------

NAMES = st.sampled_from("abc")
VALUES = st.sampled_from([None, 0, 1, 2, "x", True])
COMPARABLE = st.sampled_from([0, 1, 2, "x"])
OPERATORS = st.one_of(
    st.builds(lambda value: {"$eq": value}, VALUES),
    st.builds(lambda value: {"$ne": value}, VALUES),
    st.builds(lambda op, value: {op: value}, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), COMPARABLE),
    st.builds(
        lambda op, values: {op: values}, st.sampled_from(["$in", "$nin"]), st.lists(VALUES, max_size=3)
    ),
    st.builds(lambda flag: {"$exists": flag}, st.booleans()),
    st.builds(lambda values: {"$all": values}, st.lists(VALUES, min_size=1, max_size=2)),
)
FIELDS = st.builds(
    lambda name, body: {name: body}, NAMES, VALUES | OPERATORS | OPERATORS.map(lambda op: {"$not": op})
)
QUERIES = st.recursive(
    FIELDS,
    lambda inner: st.builds(
        lambda key, parts: {key: parts},
        st.sampled_from(["$and", "$or", "$nor"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
)
EVENTS = st.dictionaries(NAMES, VALUES | st.lists(VALUES, min_size=1, max_size=2))


def naive(query: dict[str, Any], event: dict[str, Any]) -> bool:
    for key, body in query.items():
        if key.startswith("$"):
            each = [naive(one, event) for one in body]
            verdict = {"$and": all(each), "$or": any(each), "$nor": not any(each)}[key]
        else:
            verdict = on_field(body if isinstance(body, dict) else {"$eq": body}, key, event)
        if not verdict:
            return False
    return True


def on_field(operators: dict[str, Any], name: str, event: dict[str, Any]) -> bool:
    stored = event.get(name)
    values = stored if isinstance(stored, list) else [stored]

    def equal(value: Any) -> bool:
        return any(type(one) is type(value) and one == value for one in values)

    ((op, operand),) = operators.items()
    match op:
        case "$eq":
            return equal(operand)
        case "$ne":
            return not equal(operand)
        case "$in":
            return any(map(equal, operand))
        case "$nin":
            return not any(map(equal, operand))
        case "$all":
            return all(map(equal, operand))
        case "$exists":
            return (name in event) == operand
        case "$not":
            return not on_field(operand, name, event)
    alike = [one for one in values if type(one) is type(operand)]
    test = {"$gt": "__gt__", "$gte": "__ge__", "$lt": "__lt__", "$lte": "__le__"}[op]
    return any(getattr(one, test)(operand) for one in alike)


@given(st.lists(QUERIES, min_size=1, max_size=8), st.lists(EVENTS, min_size=1, max_size=6))
def test_imported_queries_match_as_the_naive_reader_says(
    queries: list[dict[str, Any]], events: list[dict[str, Any]]
) -> None:
    found = rules.read("mongodb", json.dumps(queries))
    assert not found.refused
    for event in events:
        read = event_from(event)
        decided = {rule.id for rule in found.rules if matches(rule.expression, read)}
        expected = {f"text:{at}" for at, query in enumerate(queries, 1) if naive(query, event)}
        assert decided == expected, event
