"""Test exports: rules that mean the same, and refusals of all others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import rules
from tamis.errors import ParseError
from tamis.expression.tree import Expr
from tamis.expression.truth import matches
from tamis.language import check_tree
from tamis.rules.export import EXPORTS, export
from tamis.values.event import Event
from tests.strategies import events, expressions


def exported(form: str, text: str) -> Any:
    """Return the rule of an expression, or the reason why there is none."""
    found = export(form, [{"id": "s", "expression": text}])
    return found.rules[0][1] if found.rules else found.refused[0][1].message


EVENTBRIDGE: list[tuple[str, Any]] = [
    ("a = 5 AND b.c IN ('x', 'y')", {"a": [5], "b": {"c": ["x", "y"]}}),
    (
        "a LIKE 'x%' OR a ILIKE 'Y' OR a > 5",
        {"a": [{"prefix": "x"}, {"equals-ignore-case": "Y"}, {"numeric": [">", 5]}]},
    ),
    ("a LIKE 'x*%y'", {"a": [{"wildcard": "x\\**y"}]}),
    (
        "a BETWEEN 1 AND 2 AND ip IN CIDR '10.0.0.0/8'",
        {"a": [{"numeric": [">=", 1, "<=", 2]}], "ip": [{"cidr": "10.0.0.0/8"}]},
    ),
    ("a = 1 OR b = 2", {"$or": [{"a": [1]}, {"b": [2]}]}),
    ("a != 'x' OR \"$null\" = 'a'", {"a": [{"anything-but": ["x"]}]}),
    ("a IS NULL AND NOT \"$null\" = 'a'", {"a": [{"exists": False}]}),
    ("a != 5", "EventBridge has no pattern for a != 5"),
    ("a = 1 AND a = 2", "tests a field once"),
    ("a = 1 ^ 2", "imported again, the rule would say a = 1"),
    ("TRUE", "that every event satisfies"),
]
ELASTICSEARCH: list[tuple[str, Any]] = [
    ("a = 5", {"term": {"a": {"value": 5}}}),
    ("NOT a = 5", {"bool": {"must_not": [{"term": {"a": {"value": 5}}}]}}),
    (
        "a NOT IN (1, 2)",
        {"bool": {"must": [{"exists": {"field": "a"}}], "must_not": [{"terms": {"a": [1, 2]}}]}},
    ),
    ("a < TIMESTAMP '2026-01-01'", {"range": {"a": {"lt": "2026-01-01T00:00:00Z"}}}),
    ("a STARTS WITH 'x*'", {"wildcard": {"a": {"value": "x\\**"}}}),
    ("t HAS ALL ('wool', 'coat')", {"match": {"t": {"query": "wool coat", "operator": "and"}}}),
    ("t HAS PHRASE 'red coat' SLOP 2", {"match_phrase": {"t": {"query": "red coat", "slop": 2}}}),
    ("a = 1 ^ 2", {"bool": {"must": [{"term": {"a": {"value": 1}}}], "boost": 2.0}}),
    ("p WITHIN 5 KM OF POINT (9 47)", {"geo_distance": {"distance": "5000.0m", "p": [9.0, 47.0]}}),
    ("a RLIKE 'x'", "another syntax"),
    ("\"$null\" = 'a'", "does not distinguish null"),
    ("t HAS 'coat*'", "there is no query"),
]


@pytest.mark.parametrize(
    ("form", "text", "rule"),
    [("eventbridge", *case) for case in EVENTBRIDGE] + [("elasticsearch", *case) for case in ELASTICSEARCH],
)
def test_expression_becomes_a_rule_or_is_refused(form: str, text: str, rule: Any) -> None:
    found = exported(form, text)
    assert found == rule or (isinstance(rule, str) and rule in found)


@given(st.sampled_from(list(EXPORTS)), expressions(), st.lists(events(), min_size=1, max_size=5))
def test_exported_rules_match_the_same_events_when_imported_again(
    form: str, expr: Expr, some: list[Event]
) -> None:
    tree = check_tree(expr)
    found = export(form, [{"id": "s", "expression": tree}])
    for _, rule in found.rules:
        (again,) = rules.read(form, json.dumps(rule)).rules
        for event in some:
            assert matches(again.expression, event) == matches(tree, event)


def test_bad_subscriptions_are_refused_one_by_one() -> None:
    found = export("eventbridge", [{"id": "a", "expression": "a ="}, {"id": "b", "expression": "b = 1"}, {}])
    assert [name for name, _ in found.rules] == ["b"]
    assert [name for name, _ in found.refused] == ["a", ""]
    with pytest.raises(ParseError, match="there is no export to 'sigma'"):
        export("sigma", [])


def test_command_exports_what_it_can(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from tamis.cli import main
    from tamis.cli.export import EXPORTS as REPEATED

    assert list(REPEATED) == list(EXPORTS)
    (tmp_path / "book.jsonl").write_text(
        '{"id": "a", "expression": "a = 1"}\n{"id": "b", "expression": "b != 1"}\n'
    )
    result = CliRunner().invoke(main, ["export", "eventbridge", str(tmp_path / "book.jsonl")])
    assert result.exit_code == 3
    assert json.loads(result.stdout) == {"id": "a", "rule": {"a": [1]}}
    assert "1 rule exported, 1 refused" in result.stderr
    (tmp_path / "bad.jsonl").write_text("7\n")
    assert (
        "is no subscription"
        in CliRunner().invoke(main, ["export", "eventbridge", str(tmp_path / "bad.jsonl")]).stderr
    )
