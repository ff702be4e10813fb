"""Test queries of Elasticsearch: each query, each refusal, and a duel with a naive reader of queries."""

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

MAPPING = {
    "properties": {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "tag": {"type": "keyword"},
        "n": {"type": "integer"},
        "b": {"type": "boolean"},
        "d": {"type": "date"},
        "ip": {"type": "ip"},
        "loc": {"type": "geo_point"},
    }
}
EXPRESSED: list[tuple[Any, str]] = [
    ({"match_all": {}}, "TRUE"),
    ({"term": {"tag": 1}}, "tag = '1'"),
    ({"term": {"title.raw": {"value": "A_b", "case_insensitive": True}}}, r"title.raw ILIKE 'A\_b'"),
    ({"term": {"n": "5"}}, "n = 5"),
    ({"term": {"b": "true"}}, "b = TRUE"),
    ({"term": {"ip": "10.0.0.0/8"}}, "ip IN CIDR '10.0.0.0/8'"),
    ({"term": {"other": {"value": 5, "boost": 2}}}, "other = 5 ^ 2"),
    (
        {"term": {"title": "Wool"}},
        "title HAS 'wool' | title: the word 'Wool' is compared without regard to case and accents",
    ),
    ({"terms": {"tag": ["a", "b"]}}, "tag IN ('a', 'b')"),
    ({"range": {"n": {"gt": 1, "lte": 9}}}, "n BETWEEN 1.0000000000000002 AND 9"),
    ({"range": {"tag": {"gte": "a", "lt": "b"}}}, "tag >= 'a' AND tag < 'b'"),
    (
        {"range": {"d": {"gte": "2026-01", "lte": "2026-01-31"}}},
        "d BETWEEN TIMESTAMP '2026-01-01T00:00:00Z' AND TIMESTAMP '2026-01-31T23:59:59.999999Z'",
    ),
    ({"range": {"d": {"gte": "2026-01-31||+1M/d"}}}, "d >= TIMESTAMP '2026-02-28T00:00:00Z'"),
    ({"range": {"d": {"gt": "2026-02-10||/M"}}}, "d > TIMESTAMP '2026-02-28T23:59:59.999999Z'"),
    ({"range": {"d": {"lt": "2026-02-11||-1y/w"}}}, "d < TIMESTAMP '2025-02-10T00:00:00Z'"),
    ({"range": {"d": {"lt": 0}}}, "d < TIMESTAMP '1970-01-01T00:00:00Z'"),
    ({"match": {"title": "Wool Coat"}}, "title HAS ANY ('wool', 'coat')"),
    ({"match": {"title": {"query": "red wool", "operator": "and"}}}, "title HAS ALL ('red', 'wool')"),
    (
        {"match": {"title": {"query": "a b c", "minimum_should_match": "70%"}}},
        "title HAS AT LEAST 2 OF ('a', 'b', 'c')",
    ),
    ({"match": {"title": {"query": "woolen", "fuzziness": "AUTO"}}}, "title HAS 'woolen~2'"),
    ({"match": {"tag": "Red Coat"}}, "tag = 'Red Coat'"),
    ({"match_phrase": {"title": {"query": "red coat", "slop": 2}}}, "title HAS PHRASE 'red coat' SLOP 2"),
    ({"match_phrase_prefix": {"title": "new yo"}}, "title HAS PHRASE 'new yo*'"),
    ({"match_bool_prefix": {"title": "new yo"}}, "title HAS ANY ('new', 'yo*')"),
    (
        {"multi_match": {"query": "a b", "fields": ["title^2", "text"], "type": "phrase"}},
        "title HAS PHRASE 'a b' ^ 2 OR text HAS PHRASE 'a b'",
    ),
    ({"query_string": {"query": "a AND b*", "default_field": "title"}}, "title HAS 'a' AND title HAS 'b*'"),
    ({"prefix": {"tag": "ab_"}}, r"tag LIKE 'ab\_%'"),
    ({"wildcard": {"tag": {"value": r"a*b?\*", "case_insensitive": True}}}, "tag ILIKE 'a%b_*'"),
    ({"regexp": {"tag": r"a[0-9]+\.b"}}, r"tag RLIKE '(?s)^(?:a[0-9]+\.b)$'"),
    ({"fuzzy": {"title": "coot"}}, "title HAS 'coot~1'"),
    ({"exists": {"field": "tag"}}, "tag IS NOT NULL"),
    ({"ids": {"values": ["1", 2]}}, "_id IN ('1', '2')"),
    ({"geo_distance": {"distance": "5km", "loc": "47,9"}}, "loc WITHIN 5 KM OF POINT (9 47)"),
    (
        {"geo_bounding_box": {"loc": {"top_left": [8, 48], "bottom_right": {"lat": 47, "lon": 9}}}},
        "loc WITHIN BOX (8, 47, 9, 48)",
    ),
    (
        {"geo_polygon": {"loc": {"points": [[0, 0], [1, 0], [1, 1]]}}},
        "loc WITHIN POLYGON ((0 0, 1 0, 1 1, 0 0))",
    ),
    (
        {"geo_shape": {"loc": {"shape": {"type": "envelope", "coordinates": [[0, 1], [1, 0]]}}}},
        "loc WITHIN BOX (0, 0, 1, 1)",
    ),
    ({"nested": {"path": "items", "query": {"term": {"items.sku": "x"}}}}, "items.sku = 'x'"),
    (
        {"bool": {"filter": {"term": {"tag": "x"}}, "should": [{"term": {"n": 5}}], "boost": 2}},
        "tag = 'x' ^ 0 AND (n = 5 ^ 2 OR TRUE)",
    ),
    (
        {"bool": {"should": [{"term": {"n": n}} for n in (1, 2, 3)], "minimum_should_match": 2}},
        "(n = 1 OR n = 2) AND (n = 1 OR n = 3) AND (n = 2 OR n = 3)",
    ),
    ({"constant_score": {"filter": {"term": {"tag": "a"}}, "boost": 3}}, "tag = 'a' ^ 3"),
    (
        {
            "function_score": {
                "query": {"term": {"tag": "a"}},
                "functions": [{"filter": {"term": {"n": 1}}, "weight": 5}],
                "score_mode": "sum",
                "boost_mode": "sum",
            }
        },
        "tag = 'a' AND (n = 1 ^ 5 OR TRUE)",
    ),
    ({"dis_max": {"queries": [{"term": {"n": 1}}, {"term": {"n": 2}}]}}, "n = 1 OR n = 2"),
    (
        {"boosting": {"positive": {"term": {"n": 1}}, "negative": {"term": {"n": 2}}, "negative_boost": 0.5}},
        "n = 1 | boosting: the negative query does not lower the score",
    ),
]


@pytest.mark.parametrize(("query", "text"), EXPRESSED, ids=lambda part: str(part)[:40])
def test_query_becomes_a_condition(query: Any, text: str) -> None:
    assert imported("elasticsearch", {"query": query}, mapping=MAPPING) == text


REFUSED: list[tuple[Any, str]] = [
    ({"range": {"d": {"gte": "now-1d"}}}, "$.query.range.d.gte: 'now-1d' is relative"),
    ({"range": {"d": {"gte": "2026-02-30"}}}, "there is no date"),
    ({"range": {"n": {"gte": 1, "gt": 2}}}, "gt or gte, not both"),
    ({"range": {"n": {"gte": "x"}}}, "'x' is no number"),
    ({"term": {"n": 1, "tag": 2}}, "term names one field, not 2"),
    ({"term": {"title": "two words"}}, "is not one word"),
    ({"terms": {"tag": {"index": "a", "id": "b"}}}, "looks no values up"),
    ({"bool": {"filtr": []}}, "$.query.bool: Tamis does not know the parameter 'filtr'"),
    ({"script": {}}, "runs no scripts"),
    ({"has_child": {}}, "one event at a time"),
    ({"function_score": {"min_score": 1}}, "excludes by score"),
    (
        {"nested": {"path": "i", "query": {"bool": {"must": [{"term": {"i.a": 1}}, {"term": {"i.b": 1}}]}}}},
        "in one element of an array",
    ),
    ({"nested": {"path": "i", "query": {"bool": {"must_not": {"term": {"i.a": 1}}}}}}, "in one element"),
    ({"geo_distance": {"distance": "5 parsecs", "loc": "47,9"}}, "is no distance"),
    ({"regexp": {"tag": "~a"}}, "complement"),
    ({"a": {}, "b": {}}, "an object with one key, not 2 keys"),
    ([], "a query is an object with one key"),
]


@pytest.mark.parametrize(("query", "reason"), REFUSED, ids=lambda part: str(part)[:40])
def test_query_that_cannot_be_expressed_is_refused(query: Any, reason: str) -> None:
    found = imported("elasticsearch", {"query": query}, mapping=MAPPING)
    assert found.startswith("refused: ")
    assert reason in found


def test_deep_query_is_refused() -> None:
    query: Any = {"match_all": {}}
    for _ in range(200):
        query = {"bool": {"must": query}}
    assert "deeper than" in imported("elasticsearch", query)


def test_stored_documents_keep_id_and_metadata() -> None:
    hits = [{"_id": "a", "_source": {"query": {"term": {"n": 1}}, "owner": "me"}}, {"match_none": {}}]
    found = rules.read("elasticsearch", json.dumps(hits))
    assert [(rule.id, rule.text) for rule in found.rules] == [("a", "n = 1"), ("text:2", "FALSE")]
    assert found.rules[0].metadata == {"owner": "me"}


# -- the duel: a naive reader of bool, term, terms, range, prefix and exists ----------------------------

NAMES = st.sampled_from("abc")
VALUES = st.sampled_from([0, 1, 2, 3])
LEAVES = st.one_of(
    st.builds(lambda name, value: {"term": {name: value}}, NAMES, VALUES),
    st.builds(lambda name, values: {"terms": {name: values}}, NAMES, st.lists(VALUES, max_size=3)),
    st.builds(lambda name: {"exists": {"field": name}}, NAMES),
    st.builds(
        lambda name, low, high: {"range": {name: {low[0]: low[1], high[0]: high[1]}}},
        NAMES,
        st.tuples(st.sampled_from(["gt", "gte"]), VALUES),
        st.tuples(st.sampled_from(["lt", "lte"]), VALUES),
    ),
)


def _bools(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(children, max_size=3)
    keys = {"must": lists, "filter": lists, "should": lists, "must_not": lists}
    keys["minimum_should_match"] = st.integers(0, 3)
    return st.fixed_dictionaries({}, optional=keys).map(lambda body: {"bool": body})


QUERIES = st.recursive(LEAVES, _bools, max_leaves=6)
EVENTS = st.dictionaries(NAMES, st.lists(VALUES, max_size=2))
_OPS: dict[str, Any] = {
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
}


def naive(query: dict[str, Any], event: dict[str, list[int]]) -> bool:
    ((kind, body),) = query.items()
    if kind == "exists":
        return bool(event.get(body["field"]))
    if kind == "bool":
        should = [naive(one, event) for one in body.get("should", [])]
        required = [naive(one, event) for key in ("must", "filter") for one in body.get(key, [])]
        default = 0 if body.get("must") or body.get("filter") or not should else 1
        enough = sum(should) >= body.get("minimum_should_match", default)
        return all(required) and enough and not any(naive(one, event) for one in body.get("must_not", []))
    ((name, operand),) = body.items()
    values = event.get(name, [])
    if kind == "range":
        return any(all(_OPS[op](value, end) for op, end in operand.items()) for value in values)
    return any(value in (operand if kind == "terms" else [operand]) for value in values)


@given(st.lists(QUERIES, min_size=1, max_size=8), st.lists(EVENTS, min_size=1, max_size=6))
def test_imported_queries_match_as_the_naive_reader_says(
    queries: list[dict[str, Any]], events: list[dict[str, list[int]]]
) -> None:
    found = rules.read("elasticsearch", json.dumps(queries))
    assert not found.refused
    for event in events:
        read = event_from(event)
        decided = {rule.id for rule in found.rules if matches(rule.expression, read)}
        expected = {f"text:{at}" for at, query in enumerate(queries, 1) if naive(query, event)}
        assert decided == expected, event
