"""Test feature flags: the strategies of Unleash and the conditions of GrowthBook."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tamis import rules
from tests.rules.reading import imported, verdict


def constraint(operator: str, *values: str, **more: Any) -> dict[str, Any]:
    name = more.pop("name", "plan")
    return {
        "strategies": [
            {"constraints": [{"contextName": name, "operator": operator, "values": list(values), **more}]}
        ]
    }


UNLEASH: list[tuple[Any, str]] = [
    ({"strategies": []}, "TRUE"),
    ({"enabled": False}, "FALSE"),
    (constraint("IN", "a", "5", "true"), "properties.plan IN ('a', '5', 5, 'true', TRUE)"),
    (constraint("NOT_IN", "a", name="userId"), "NOT userId IN ('a')"),
    (constraint("NOT_IN", "a", inverted=True), "properties.plan IN ('a')"),
    (constraint("STR_ENDS_WITH", "a_", caseInsensitive=True), r"properties.plan ILIKE '%a\_'"),
    (
        constraint("STR_CONTAINS", "a", "b", inverted=True),
        "NOT (properties.plan CONTAINS 'a' OR properties.plan CONTAINS 'b')",
    ),
    (constraint("IN_CIDR", "10.0.0.0/8", name="remoteAddress"), "remoteAddress IN CIDR '10.0.0.0/8'"),
    (constraint("REGEX", value="^a", values=None, caseInsensitive=True), "properties.plan RLIKE '(?i)^a'"),
    (
        constraint("NUM_GTE", value="12", values=None),
        "properties.plan >= 12 | properties.plan: events must carry a number;"
        " Unleash also reads numbers in texts",
    ),
    (
        constraint("SEMVER_GTE", value="1.2.3", values=None),
        "properties.plan VERSION >= '1.2.3' | properties.plan: v2.1 is read as 2.1.0; for Unleash it is no"
        " version",
    ),
    (
        constraint("SEMVER_EQ", value="v1.2.3", values=None),
        "FALSE | 'v1.2.3' is no version for Unleash; its constraint never holds",
    ),
    (constraint("IN"), "FALSE"),
    (constraint("NOSUCH", "a"), "FALSE | Unleash has no operator 'NOSUCH'; its constraint never holds"),
    ({"strategies": [{"name": "userWithId", "parameters": {"userIds": "a, 7"}}]}, "userId IN ('a', '7', 7)"),
    ({"strategies": [{"name": "flexibleRollout", "parameters": {"rollout": "100"}}]}, "TRUE"),
    (
        {
            "strategies": [{"segments": [1]}],
            "segments": [
                {"id": 1, "constraints": [{"contextName": "appName", "operator": "IN", "values": ["x"]}]}
            ],
        },
        "appName IN ('x')",
    ),
    ({"strategies": [{"segments": [2]}]}, "FALSE | there is no segment 2, so its strategy is never active"),
]


@pytest.mark.parametrize(("feature", "text"), UNLEASH, ids=lambda part: str(part)[:50])
def test_unleash_feature_becomes_a_condition(feature: Any, text: str) -> None:
    assert imported("unleash", feature) == text


@pytest.mark.parametrize(
    ("feature", "reason"),
    [
        ({"strategies": [{"name": "flexibleRollout", "parameters": {"rollout": 50}}]}, "needs a hash"),
        ({"strategies": [{"name": "custom"}]}, "no strategy 'custom'"),
        ({"dependencies": [{"feature": "x"}]}, "depends on another"),
        (constraint("NUM_GT", value="x", values=None), "could not convert"),
        (constraint("IN_CIDR", "x"), "$.strategies[0].constraints[0]: 'x' is not a CIDR block"),
        ({"strategies": 7}, "expected a list"),
        (7, "expected an object"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_unleash_feature_that_cannot_be_expressed_is_refused(feature: Any, reason: str) -> None:
    found = imported("unleash", feature)
    assert found.startswith("refused: ")
    assert reason in found


def test_export_of_unleash_holds_several_features() -> None:
    shared = [{"id": 1, "constraints": [{"contextName": "userId", "operator": "IN", "values": ["x"]}]}]
    features = [{"name": "a", "description": "A", "strategies": [{"segments": [1]}]}, {"name": "b"}]
    found = rules.read("unleash", json.dumps({"version": 2, "features": features, "segments": shared}))
    assert [(rule.id, rule.text) for rule in found.rules] == [("a", "userId IN ('x')"), ("b", "TRUE")]
    assert found.rules[0].metadata == {"description": "A"}


GROWTHBOOK: list[tuple[Any, str]] = [
    ({}, "TRUE"),
    ({"id": {"$in": ["a", "b"]}, "paid": {"$exists": True}}, "id IN ('a', 'b') AND paid IS NOT NULL"),
    ({"$not": {"id": {"$nin": ["a"]}}}, "NOT NOT id IN ('a')"),
    ({"$or": [{"a": None}, {"b": {"$inGroup": "vip"}}]}, "a IS NULL OR b IN ('x', 'y')"),
    ({"$nor": [{"a": {"$regex": "^x"}}]}, "NOT a RLIKE '^x'"),
    ({"a": {"$gt": 5}}, "a > 5 | a: $gt needs a value of the same type; GrowthBook converts"),
    ({"a": 5}, "a = 5 | a: an array with an equal element passes, too"),
    ({"a": {"$type": "string"}}, "a LIKE '%'"),
    ({"a": {"$not": {"$regex": "x"}}}, "NOT a RLIKE 'x'"),
    (
        {"tags": {"$elemMatch": {"$in": ["x"]}}},
        "tags IN ('x') | tags: $elemMatch also accepts a single value, which is no array",
    ),
]


@pytest.mark.parametrize(("condition", "text"), GROWTHBOOK, ids=lambda part: str(part)[:40])
def test_growthbook_condition_becomes_an_expression(condition: Any, text: str) -> None:
    assert imported("growthbook", condition, groups={"vip": ["x", "y"]}) == text


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"v": {"$vgt": "new"}}, "'new' is not a semantic version"),
        ({"a": {"$inGroup": "nosuch"}}, "has no values"),
        ({"a": {"$size": 1}}, "no operator '$size'"),
        ({"a": [1]}, "as a whole"),
        ({"a": {"$gt": None}}, "expected a number or a text"),
        ({"$where": 1}, "no operator '$where'"),
        ({"a": {"$elemMatch": {"$gt": 1, "$lt": 5}}}, "one positive operator"),
        ([], "a condition is an object"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_growthbook_condition_that_cannot_be_expressed_is_refused(condition: Any, reason: str) -> None:
    source = condition if condition else [condition]
    found = imported("growthbook", source)
    assert found.startswith("refused: ")
    assert reason in found


def test_absent_attributes_satisfy_denials() -> None:
    for condition, expected in (
        ({"a": {"$ne": 5}}, True),
        ({"a": {"$nin": [5]}}, True),
        ({"a": {"$exists": False}}, True),
    ):
        assert verdict("growthbook", condition, {}) is expected
