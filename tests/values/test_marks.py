"""Test how marked parts of texts are shown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import InputError
from tamis.values.marks import CUT, marked_pieces, snippet, with_marks

spans = st.tuples(st.integers(0, 30), st.integers(1, 8)).map(lambda drawn: (drawn[0], sum(drawn)))
pairs = st.tuples(st.text("ab ", max_size=9), st.text("XY", min_size=1, max_size=9))
pieces = st.tuples(st.lists(pairs, min_size=1, max_size=4), st.text("ab ", max_size=30)).map(
    lambda drawn: [part for pair in drawn[0] for part in pair] + [drawn[1]]
)


@given(st.text("abc<& ", min_size=38, max_size=50), st.lists(spans, max_size=6))
def test_marked_characters_are_those_of_the_spans(text: str, given: list[tuple[int, int]]) -> None:
    found = marked_pieces(text, given)
    assert "".join(found) == text
    assert all(found[1::2]), "a mark is never empty"
    assert all(found[2:-1:2]), "marks that touch are one mark"
    marked = {at for start, end in given for at in range(start, end)}
    at = 0
    for number, piece in enumerate(found):
        assert {number % 2} >= {place in marked for place in range(at, at + len(piece))}
        at += len(piece)


def test_marks_are_escaped_html_or_stars() -> None:
    found = marked_pieces("a <b> & c", [(2, 4), (3, 5), (8, 9)])
    assert with_marks(found) == "a <mark>&lt;b&gt;</mark> &amp; <mark>c</mark>"
    assert with_marks(found, "text") == "a **<b>** & **c**"
    assert with_marks(["a", "", "b"]) == with_marks(["a", "", "b"], "text") == "ab"
    style: Any = "latex"
    with pytest.raises(InputError, match="'html' or 'text', not 'latex'"):
        with_marks(found, style)


@given(pieces, st.integers(4, 40))
def test_snippet_fits_and_shows_the_first_mark(whole: list[str], most: int) -> None:
    found = snippet(whole, most)
    text, shown = "".join(whole), "".join(found)
    assert len(shown) <= most
    assert shown.strip(CUT) in text
    assert (found == whole) == (len(text) <= most)
    assert found[1], "the first mark is shown"
    assert whole[1].startswith(found[1])
    assert all(CUT not in piece for piece in found[1::2]), "an ellipsis is not marked"
    assert shown.startswith(CUT) or text.startswith(shown.removesuffix(CUT))
    assert shown.endswith(CUT) or text.endswith(shown.removeprefix(CUT))


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (20, ["aaaa ", "coat", " bbbbbbbbbb"]),
        (19, ["aaaa ", "coat", " bbbbbbbb…"]),
        (12, ["…aa ", "coat", " bb…"]),
        (8, ["…a ", "coat", "…"]),
        (6, ["… ", "coa", "…"]),
        (4, ["… ", "c", "…"]),
        (3, ["aa…"]),
        (1, ["…"]),
    ],
)
def test_snippet_has_an_ellipsis_at_each_cut(most: int, expected: list[str]) -> None:
    assert snippet(["aaaa ", "coat", " bbbbbbbbbb"], most) == expected
