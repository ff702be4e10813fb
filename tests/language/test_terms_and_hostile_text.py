"""Test that terms are stable under tokenising, and that no text makes the readers slow."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import TamisError
from tamis.expression.truth import matches
from tamis.language import from_query_string, from_search_box, parse
from tamis.values.event import Event
from tamis.values.text import terms_of
from tamis.values.value import Interval
from tests.counting import lines_run
from tests.waiting import ending


def test_every_character_gives_stable_terms() -> None:
    """A searched term must be a term that can be found, so each term is its own only term."""
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            for term in terms_of(chr(code)):
                assert terms_of(term) == [term], hex(code)


@given(st.text())
def test_terms_are_stable(text: str) -> None:
    terms = terms_of(text)
    assert terms_of(" ".join(terms)) == terms


def test_backwards_range_is_empty_for_an_interval_that_spans_it() -> None:
    event = Event({"a": (Interval(1, 10),)})
    assert matches(parse("a BETWEEN 3 AND 7"), event)
    assert not matches(parse("a BETWEEN 7 AND 3"), event)
    assert matches(parse("a NOT BETWEEN 7 AND 3"), event)


HOSTILE = [
    "'" * 16_000,
    "a = '" + "''" * 8_000,
    "a IN (" + "1," * 8_000,
    "a IN (" + "'x' , " * 2_600 + "DATE '2026-01-01')",
    " " * 16_000 + "a",
    "a" * 16_000,
    "a." * 8_000,
    "1" * 16_000,
    "a = " + "1" * 16_000,
    "a = 1." + "1" * 16_000 + "e",
    '"' + '""' * 8_000,
    "a = 1 AND " * 1_600,
    "+" * 16_000,
    "w " * 8_000,
    "%" * 16_000,
    "a=" + "%41" * 5_000,
    "&" * 16_000,
    "a LIKE '" + "%a" * 8_000 + "'",
    "a LIKE '" + "_" * 16_000 + "'",
    "a RLIKE '" + "(a*)*" * 199 + "'",
    "a RLIKE '((((a{1,30}){1,30}){1,30}){1,30})'",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12])
@pytest.mark.parametrize("read", [parse, from_query_string, from_search_box])
def test_hostile_text_is_read_or_refused_in_few_steps(read: Callable[[str], Any], text: str) -> None:
    def attempt() -> None:
        with contextlib.suppress(TamisError):
            read(text)

    with ending():
        attempt()
        assert lines_run(attempt) < 100 * len(text)  # about thirty; a second pass for each would be thousands
