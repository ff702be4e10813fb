"""Hints never change what is refused, never fail, and are looked for only after an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import ExpressionError
from tamis.expression.tree import Expr
from tamis.language import hints, parse
from tamis.language.parse import read_expression
from tamis.language.scan import Cursor
from tamis.limits import DEFAULT_LIMITS
from tests.golden import golden_pairs

MISTAKES = [text for text, _ in golden_pairs(Path(__file__).parent / "golden" / "hints.txt")]


def _refusal(read: Callable[[str], Expr], text: str) -> ExpressionError | None:
    try:
        read(text)
    except ExpressionError as bad:
        return bad
    return None


@given(st.sampled_from(MISTAKES), st.sampled_from(MISTAKES), st.integers(0, 40), st.text(max_size=6))
def test_hint_keeps_code_place_and_message(one: str, two: str, at: int, noise: str) -> None:
    for text in (one, f"{one} AND {two}", f"{one[:at]}{noise}{two}", noise + one):
        plain = _refusal(lambda text: read_expression(Cursor(text, DEFAULT_LIMITS)), text)
        hinted = _refusal(parse, text)
        assert type(plain) is type(hinted)
        if plain is not None and hinted is not None:
            assert hinted.message.startswith(plain.message)
            assert (hinted.code, hinted.position) == (plain.code, plain.position)


def test_valid_text_looks_for_no_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("a hint was looked for")

    monkeypatch.setattr(hints, "_hint_of", never)
    parse("a = 1 AND (b IN (1, 2) OR NOT c HAS 'wool') AND p WITHIN 5 KM OF POINT (1 2)")


@pytest.mark.parametrize(
    "text", ["a equal\u017f 1", "a = \u212ag", "a > 5 \u212ag", "a = 1\u00a0000", "a \u017ftartswith 'x'"]
)
def test_letters_that_fold_to_ascii_are_no_trap(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


def test_long_text_is_looked_at_near_the_error_only() -> None:
    text = "x = 1 AND " * 500 + "a && b"
    with pytest.raises(ExpressionError, match=r"Write AND instead of &&"):
        parse(text)
