"""Test ``tamis import``: what it writes, its summary and its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tamis.cli.import_ import FORMATS
from tamis.rules import FORMATS as ALL

RULE = "title: T\nname: r1\nlogsource: {{service: a}}\ndetection: {{a: {}, condition: a}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "rules"
    found.mkdir()
    (found / "good.yml").write_text(RULE.format("{x: 1}"))
    return found


def test_formats_are_those_of_the_library() -> None:
    assert list(FORMATS) == list(ALL)


def test_imported_rules_can_be_built(tamis: Any, folder: Path, tmp_path: Path) -> None:
    book, page, data = (tmp_path / name for name in ("book.jsonl", "report.html", "report.json"))
    result = tamis("import", "sigma", folder, "-o", book, "--report", page, "--report", data)
    assert result.exit_code == 0, result.output
    assert "1 rule: 0 imported, 1 with a stated difference, 0 refused" in result.stderr
    assert page.read_text().startswith("<!doctype html>")
    assert json.loads(data.read_text())["summary"]["rules"] == 1
    assert json.loads(book.read_text())["metadata"]["title"] == "T"
    built = tamis("build", book, "-o", tmp_path / "index")
    assert built.exit_code == 0, built.output
    found = tamis("match", tmp_path / "index", stdin='{"x": 1, "_logsource.service": "a"}')
    assert json.loads(found.stdout)["subscriptions"] == ["r1"]


def test_refused_rule_gives_exit_status_3(tamis: Any, folder: Path) -> None:
    (folder / "bad.yml").write_text(RULE.format("[word]"))
    result = tamis("import", "sigma", folder)
    assert result.exit_code == 3
    assert json.loads(result.stdout)["id"] == "r1"
    assert "refused T (" in result.stderr
    options = ("--option", "keywords=message", "--option", "unmapped=ignore")
    assert tamis("import", "sigma", folder, *options).exit_code == 3  # the same name twice


def test_option_may_come_from_a_file(tamis: Any, folder: Path, tmp_path: Path) -> None:
    (folder / "good.yml").write_text(RULE.format("{x|expand: '%who%'}"))
    (tmp_path / "who.json").write_text('{"who": ["me"]}')
    result = tamis("import", "sigma", folder, "--option", f"placeholders=@{tmp_path / 'who.json'}")
    assert result.exit_code == 0, result.output
    assert "x ILIKE 'me'" in result.stdout


def test_wrong_usage_ends_with_one_message(tamis: Any, folder: Path, tmp_path: Path) -> None:
    for words, part in [
        (["--report", tmp_path / "a.pdf"], ".html or .json"),
        (["--option", "a"], "NAME=VALUE"),
        (["--option", "a=b"], "no option 'a'"),
        (["--json"], "--output"),
        (["--limit", "nosuch=1"], "no limit 'nosuch'"),
    ]:
        result = tamis("import", "sigma", folder, *words)
        assert result.exit_code == 1
        assert part in result.stderr
