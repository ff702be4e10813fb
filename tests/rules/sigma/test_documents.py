"""Test Sigma documents: log sources, several rules in a stream, and documents that are wrong."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from tamis import rules
from tamis.errors import InputError

RULE = """
title: New service
id: 5d6b36f2-7b6e-4b1d-9d2f-000000000001
author: A. Writer
status: test
level: high
tags: [attack.t1543]
logsource: {product: windows, service: system}
detection:
  selection: {EventID: 7045, Name|contains: evil}
  filter: {Path|startswith: 'C:/Windows'}
  condition: selection and not filter
"""


def read(text: str, **options: Any) -> rules.Imported:
    return rules.read("sigma", text, **options)


def reasons(found: rules.Imported) -> list[tuple[int, str]]:
    return [(one.place.line, one.error.message) for one in found.refused]


def test_rule_has_expression_and_metadata() -> None:
    (rule,) = read(RULE).rules
    assert rule.text == (
        "Channel ILIKE 'System' AND (((EventID = 7045 OR EventID ILIKE '7045') AND Name ILIKE '%evil%')"
        " AND NOT Path ILIKE 'C:/Windows%')"
    )
    assert (rule.id, rule.place.line, rule.differences) == ("5d6b36f2-7b6e-4b1d-9d2f-000000000001", 2, ())
    assert rule.metadata["author"] == "A. Writer"
    assert (rule.metadata["level"], rule.metadata["tags"]) == ("high", ["attack.t1543"])
    assert rule.metadata["logsource"] == {"product": "windows", "service": "system"}


def test_category_becomes_channel_and_event_numbers_of_every_source() -> None:
    text = RULE.replace("service: system", "category: process_creation")
    (rule,) = read(text).rules
    assert "Channel ILIKE 'Microsoft-Windows-Sysmon/Operational'" in rule.text
    assert "EventID = 4688" in rule.text


def test_unknown_log_source_is_tested_ignored_or_refused() -> None:
    text = RULE.replace("product: windows, service: system", "product: linux")
    (rule,) = read(text).rules
    assert rule.text.startswith("_logsource.product ILIKE 'linux' AND ")
    assert "events must carry it: _logsource.product ILIKE 'linux'" in rule.differences[0]
    (rule,) = read(text, unmapped="ignore").rules
    assert "is not tested" in rule.differences[0]
    assert "linux" not in rule.text
    assert "no log source describes product linux" in read(text, unmapped="refuse").refused[0].error.message


def test_configuration_maps_log_sources_and_fields(tmp_path: Path) -> None:
    file = tmp_path / "sources.yml"
    file.write_text(
        "logsources:\n  - {product: windows, service: system, where: \"log = 'sys'\","
        " conditions: {kind: [1, a]}}\n"
        "fields: {EventID: event.code}\n"
    )
    (rule,) = read(RULE, logsources=file).rules
    assert rule.text.startswith("(log = 'sys' AND (kind = 1 OR kind ILIKE ANY ('1', 'a'))) AND ")
    assert "event.code = 7045" in rule.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a", "no list 'logsources'"),
        ("logsources: [{service: a, were: b}]", "'were'"),
        ("logsources: [{where: 'a = 1'}]", "names no product"),
        ("logsources: [{service: a, where: 'a ='}]", "expected a value"),
        ("logsources: []\nfields: [a]", "'fields'"),
        ("logsources: {", "no YAML"),
    ],
)
def test_wrong_configuration_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "sources.yml").write_text(text)
    with pytest.raises(InputError, match=reason):
        read(RULE, logsources=tmp_path / "sources.yml")


def test_documents_of_a_stream_are_refused_one_by_one() -> None:
    correlation = "title: C\ncorrelation: {type: event_count, rules: [a], group-by: [b], timespan: 1m}"
    wrong = [
        "- a list",
        "title: twice\ntitle: twice",
        "title: no detection\nlogsource: {service: a}",
        RULE.replace("selection and", "selection und").replace("0001", "0002"),
        RULE.replace("condition: selection and not filter", "condition: 7"),
        correlation,
        "title: F\nfilter: {rules: [a], selection: {b: 1}, condition: selection}",
        "action: nosuch",
        "a: 2026-13-45",
        RULE,
        "? [a]\n: 1",
        "a: [",
    ]
    found = read("\n---\n".join([RULE.strip(), *wrong]))
    assert len(found.rules) == 1
    assert len(found.refused) == len(wrong)
    messages = " | ".join(message for _, message in reasons(found))
    for part in (
        "a Sigma rule is a mapping",
        "line 16: the key 'title' stands twice",
        "must have",
        "a condition is a text, not 7",
        "a correlation counts several events",
        "a filter changes other rules",
        "the action 'nosuch'",
        "month must be in 1..12",
        "stands at text:1, too",
        "unhashable key",
        "the text is no YAML",
    ):
        assert part in messages


@pytest.mark.parametrize("text", ["[" * 50_000, "{a: " * 50_000, "- " * 50_000])
def test_deep_document_is_refused_before_the_parser_recurses(text: str) -> None:
    ((_, message),) = reasons(read(text))
    assert "nests deeper" in message


def test_aliases_that_multiply_are_refused() -> None:
    steps = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    ((_, message),) = reasons(read(f"a0: &a0 [x]\n{steps}" + RULE.strip()))
    assert "alias" in message


def test_global_document_completes_the_rules_behind_it() -> None:
    shared = "action: global\nlogsource: {product: windows, service: system}\ndetection: {condition: a}"
    parts = [f"title: T{n}\nname: r{n}\ndetection: {{a: {{x: {n}}}}}" for n in (1, 2)]
    found = read("\n---\n".join([shared, *parts]))
    assert [rule.id for rule in found.rules] == ["r1", "r2"]
    assert "x = 2" in found.rules[1].text
    found = read("\n---\n".join([shared, "action: reset", *parts]))
    assert len(found.refused) == 2


def test_mutilated_rules_are_imported_or_refused() -> None:
    chance = random.Random(7)
    junk: list[Any] = [
        None,
        [],
        {},
        "",
        -1,
        1.5,
        True,
        "1 of them",
        "(a",
        {"a": None},
        [[{}]],
        {1: 2},
        10**30,
    ]
    for _ in range(150):
        rule = yaml.safe_load(RULE)
        node: Any = rule
        while chance.random() < 0.6:
            below = [value for value in node.values() if isinstance(value, dict)]
            if not below:
                break
            node = chance.choice(below)
        node[chance.choice(list(node))] = chance.choice(junk)
        found = read(yaml.safe_dump(rule), keywords="message")
        assert len(found.rules) + len(found.refused) == 1
