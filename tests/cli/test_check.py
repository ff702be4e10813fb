"""Test ``tamis check``, ``explain``, ``info`` and the group itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tamis import __version__, language
from tamis.cli.check import FORMS


def test_expression_is_printed_in_canonical_form(tamis: Any) -> None:
    result = tamis("check", "price<=580 and model in ('a','b')")
    assert (result.exit_code, result.stdout) == (0, "price <= 580 AND model IN ('a', 'b')\n")


@pytest.mark.parametrize(
    ("form", "text", "canonical"),
    [
        ("query", "mark=FORD&model=FOCUS&model=MONDEO&year_from=2014",
         "mark = 'FORD' AND model IN ('FOCUS', 'MONDEO') AND year >= 2014"),
        ("query-string", "a=1", "a = 1"),
        ("search", "+wool", "text HAS 'wool'"),
        ("search-box", "wool", "text HAS 'wool'"),
        ("eventbridge", '{"a": {"b": ["x", "y"]}}', "a.b IN ('x', 'y')"),
        ("lucene", "+wool -price:[10 TO *]", "text HAS 'wool' AND NOT price >= 10"),
        ("json", '{"attribute": "a", "op": "=", "value": 1}', "a = 1"),
        ("text", "a = 1", "a = 1"),
    ],
)  # fmt: skip
def test_check_reads_every_form(tamis: Any, form: str, text: str, canonical: str) -> None:
    assert tamis("check", "--form", form, text).stdout == canonical + "\n"


def test_forms_are_those_of_the_library() -> None:
    assert tuple(language.FORMS) == FORMS


def test_json_is_recognised(tamis: Any) -> None:
    assert tamis("check", '{"attribute": "a", "op": "=", "value": 1}').stdout == "a = 1\n"


def test_check_reads_an_expression_from_a_pipe(tamis: Any) -> None:
    assert tamis("check", "-", stdin="a = 1 AND b = 2\n").stdout == "a = 1 AND b = 2\n"


def test_wrong_expression_shows_the_place(tamis: Any) -> None:
    result = tamis("check", "a = 1 AND b IN ('x' OR")
    assert result.exit_code == 1
    assert result.stdout == ""
    first, text, caret = result.stderr.splitlines()
    assert first.startswith("tamis: expression-syntax: ")
    assert text[caret.index("^") :] == "OR"


def test_wrong_expression_is_reported_as_json(tamis: Any) -> None:
    result = tamis("check", "--json", "a = ")
    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert answer["valid"] is False
    assert answer["error"]["code"] == "expression-syntax"


def test_both_forms_are_reported_as_json(tamis: Any) -> None:
    answer = json.loads(tamis("check", "--json", "a = 1").stdout)
    assert answer == {"valid": True, "text": "a = 1", "expression": {"attribute": "a", "op": "=", "value": 1}}


def test_broken_json_is_a_syntax_error(tamis: Any) -> None:
    result = tamis("check", "--form", "json", "{")
    assert result.exit_code == 1
    assert "expression-syntax" in result.stderr


def test_sound_index_passes_check(tamis: Any, index: Path) -> None:
    result = tamis("check", index)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{index}: 4 subscriptions, sound\n"
    assert json.loads(tamis("check", "--json", index).stdout)["valid"] is True


def test_damaged_index_fails_check(tamis: Any, tmp_path: Path) -> None:
    target = tmp_path / "index"
    tamis("build", "-", "-o", target, stdin='{"id": "a", "expression": "x = 1"}\n')
    largest = max(
        (file for file in target.rglob("*") if file.is_file()), key=lambda file: file.stat().st_size
    )
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 0xFF
    largest.write_bytes(data)
    result = tamis("check", target)
    assert result.exit_code == 1
    assert "tamis: index-corrupt: " in result.stderr


def test_explain_shows_the_verdicts(tamis: Any, index: Path, tmp_path: Path) -> None:
    event = '{"model": "iphone5s", "price": 600}'
    result = tamis("explain", index, "phone", event)
    assert result.exit_code == 0, result.output
    assert "price <= 580" in result.stdout
    (tmp_path / "event.json").write_text(event, encoding="utf-8")
    assert tamis("explain", index, "phone", tmp_path / "event.json").stdout == result.stdout
    assert tamis("explain", index, "phone", stdin=event).stdout == result.stdout
    assert json.loads(tamis("explain", index, "phone", event, "--json").stdout)["matched"] is False


def test_explain_refuses_unknown_ids_and_bad_events(tamis: Any, index: Path) -> None:
    unknown = tamis("explain", index, "nobody", "{}")
    assert unknown.exit_code == 1
    assert "subscription-unknown" in unknown.stderr
    assert "event-syntax" in tamis("explain", index, "phone", "no event").stderr
    assert "event-syntax" in tamis("explain", index, "phone", stdin="[1]").stderr


def test_info_describes_the_index(tamis: Any, index: Path) -> None:
    assert "subscriptions: 4" in tamis("info", index).stdout
    assert json.loads(tamis("info", index, "--json").stdout)["subscriptions"] == 4


def test_help_and_version_are_printed(tamis: Any) -> None:
    assert __version__ in tamis("--version").stdout
    listed = tamis("-h").stdout
    for command in ("build", "match", "top", "explain", "check", "info"):
        assert f"  {command} " in listed
        assert tamis(command, "-h").exit_code == 0


def test_wrong_usage_exits_with_two(tamis: Any) -> None:
    assert tamis("nonsense").exit_code == 2
    assert tamis("match").exit_code == 2
