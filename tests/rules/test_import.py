"""Test what all formats share: sources, options, limits, doubles and reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tamis
from tamis import Limits, rules
from tamis.errors import InputError
from tamis.rules.report import html_report

RULE = (
    "title: <b>&{n}\nname: r{n}\nlogsource: {{service: a}}\ndetection: {{a: {{x: '<{n}'}}, condition: a}}\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "b.yml").write_text(RULE.format(n=1))
    (tmp_path / "deep" / "a.yaml").write_text(RULE.format(n=2))
    (tmp_path / "again.yml").write_text(RULE.format(n=2))
    (tmp_path / "notes.txt").write_text("no rule")
    (tmp_path / "latin.yml").write_bytes("title: \xe9".encode("latin-1"))
    return tmp_path


def test_folder_is_read_file_by_file(folder: Path) -> None:
    steps: list[tuple[int, int | None]] = []
    found = rules.read("sigma", folder, progress=lambda done, total: steps.append((done, total)))
    assert [rule.id for rule in found.rules] == ["r2", "r1"]
    assert {one.error.code for one in found.refused} == {"input-invalid", "subscription-duplicate"}
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert found.summary() == {"rules": 4, "imported": 0, "with_difference": 2, "refused": 2}
    assert tamis.Index.build(found.subscriptions()).match({"x": "<1", "_logsource.service": "a"}) == ["r1"]


def test_reports_have_every_rule_and_escape_it(folder: Path) -> None:
    found = rules.read("sigma", folder)
    page = html_report(found)
    assert "<b>&1" not in page
    assert "&lt;b&gt;&amp;1" in page
    assert "is not UTF-8" in page
    assert "http" not in page.replace("http-equiv", "")
    plain = json.loads(json.dumps(found.as_dict()))
    assert [one["id"] for one in plain["rules"]] == ["r2", "r1"]
    assert plain["refused"][0]["source"].endswith(":1")


def test_wrong_calls_are_refused(tmp_path: Path) -> None:
    for form, source, options, reason in [
        ("nosuch", "", {}, "no rule format 'nosuch'"),
        ("sigma", "", {"keyword": "a"}, "no option 'keyword'; there are logsources"),
        ("sigma", "", {"unmapped": "a"}, "unmapped is one of"),
        ("sigma", tmp_path, {}, "has no file that ends in .yml"),
        ("sigma", tmp_path / "absent", {}, "is no file and no folder"),
        ("sigma", 7, {}, "not from a int"),
    ]:
        with pytest.raises(InputError, match=reason):
            rules.read(form, source, **options)  # type: ignore[arg-type]


def test_file_is_refused_when_it_exceeds_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(RULE.format(n=1))
    size = (tmp_path / "a.yml").stat().st_size
    assert not rules.read("sigma", tmp_path, limits=Limits(import_bytes=size)).refused
    (one,) = rules.read("sigma", tmp_path, limits=Limits(import_bytes=size - 1)).refused
    assert one.error.details["limit"] == "import_bytes"


def test_expression_that_is_too_long_to_read_again_is_refused() -> None:
    text = RULE.format(n=1).replace("<1", "a" * 2_000)
    (one,) = rules.read("sigma", text, limits=Limits(expression_bytes=1_000)).refused
    assert one.error.details["limit"] == "expression_bytes"
    assert not rules.read("sigma", text).refused
