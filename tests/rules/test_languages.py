"""Test that EventBridge patterns and Lucene queries are imported like rules of other systems."""

from __future__ import annotations

import json
from pathlib import Path

from tamis import rules
from tests.rules.reading import imported

PATTERN = {"source": ["aws.ec2"], "detail": {"state": [{"anything-but": "pending"}]}}
ARRAYS = " | 'anything-but' denies all values of an array; EventBridge accepts an array if one value differs"


def test_eventbridge_patterns_are_imported_with_their_difference() -> None:
    text = "source = 'aws.ec2' AND (detail.state != 'pending' OR \"$null\" = 'detail.state')"
    assert imported("eventbridge", PATTERN) == text + ARRAYS
    assert imported("eventbridge", {"a": [1]}) == "a = 1"
    assert "$.a: a field holds a list" in imported("eventbridge", {"a": 1})


def test_lucene_queries_are_imported_with_the_options_of_the_parser() -> None:
    assert imported("lucene", "wool coat", default_field="title") == "title HAS 'wool' OR title HAS 'coat'"
    assert imported("lucene", "wool", default_field="a,b") == "a HAS 'wool' OR b HAS 'wool'"
    assert imported("lucene", "a b", default_operator="AND") == "text HAS 'a' AND text HAS 'b'"
    assert "prohibited clauses alone" in imported("lucene", "-wool")


def test_lines_and_lists_are_rules_of_their_own(tmp_path: Path) -> None:
    lines = [json.dumps({"id": "a", "rule": "wool", "owner": "me"}), "", '"coat"', "{", "7"]
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    (tmp_path / "one.lucene").write_text(" wool \n")
    found = rules.read("lucene", tmp_path)
    assert [(rule.id, rule.place.line) for rule in found.rules] == [("one", 1), ("a", 1), ("q:3", 3)]
    assert found.rules[1].metadata == {"owner": "me"}
    assert [(one.id, one.place.line) for one in found.refused] == [("q:4", 4), ("q:5", 5)]
    both = rules.read(
        "eventbridge", json.dumps([PATTERN, {"id": "b", "rule": {"a": [1]}}, {"id": [], "rule": 1}])
    )
    assert [rule.id for rule in both.rules] == ["text:1", "b"]
    assert "an id is a text" in both.refused[0].error.message
