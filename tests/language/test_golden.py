"""Test the golden files of the language: the result of each text, or the reason for its refusal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.errors import ExpressionError
from tamis.expression.tree import Expr
from tamis.language import (
    expression_from,
    from_eventbridge,
    from_lucene,
    from_query_string,
    from_search_box,
    parse,
    to_text,
)
from tests.golden import golden_pairs

FOLDER = Path(__file__).parent / "golden"
READERS: dict[str, Callable[[str], Expr]] = {
    "text": parse,
    "errors": parse,
    "hints": expression_from,
    "query_string": from_query_string,
    "search_box": from_search_box,
    "eventbridge": from_eventbridge,
    "lucene": from_lucene,
}
CASES = [(name, *pair) for name in READERS for pair in golden_pairs(FOLDER / f"{name}.txt")]


def outcome(read: Callable[[str], Expr], text: str) -> str:
    try:
        return to_text(read(text))
    except ExpressionError as bad:
        place = "" if bad.position is None else f" @ {bad.position}"
        return f"{bad.code}{place}: {bad.message}"


@pytest.mark.parametrize(
    ("form", "text", "expected"), CASES, ids=[f"{case[0]}: {case[1]}"[:60] for case in CASES]
)
def test_golden_file_gives_the_expected_output(form: str, text: str, expected: str) -> None:
    assert outcome(READERS[form], text) == expected


@pytest.mark.parametrize(("text", "expected"), golden_pairs(FOLDER / "text.txt"), ids=lambda text: text[:40])
def test_canonical_text_is_a_fixed_point(text: str, expected: str) -> None:
    assert to_text(parse(expected)) == expected


def test_hundred_mistakes_of_other_languages_have_a_hint() -> None:
    pairs = golden_pairs(FOLDER / "hints.txt")
    assert len({text for text, _ in pairs}) == len(pairs) >= 100
    assert [text for text, expected in pairs if not expected.startswith("expression-")] == []


def test_every_golden_file_is_read() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(READERS)
