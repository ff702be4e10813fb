"""Test highlights in the results of an index and in explanations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Event, Index
from tamis.errors import AuditFailed, EventLimit
from tamis.expression.highlight import Highlight, found_by, highlights
from tamis.expression.tree import Expr
from tamis.index.explain import LISTED_FOUND
from tamis.limits import Limits
from tests.index.test_explain import nodes
from tests.strategies import events, expressions

BOOK = {
    "word": "title HAS 'coats'",
    "phrase": "title HAS PHRASE 'wool coat' AND price < 5",
    "number": "price < 5",
    "other": "title HAS 'silk'",
}
EVENT = {"title": "A Wool Coat and two coats", "price": 3}


@given(st.lists(expressions(), min_size=1, max_size=4), events())
def test_highlights_are_those_of_the_trees_in_segments_and_head(trees: list[Expr], event: Event) -> None:
    index = Index.build({"0": trees[0]})
    for number, tree in enumerate(trees[1:], 1):
        index.add(str(number), tree)
    found = index.match(event, highlight=True)
    assert found == index.match(event)
    expected = {str(number): highlights(tree, event) for number, tree in enumerate(trees)}
    assert found.highlights == {name: one for name, one in expected.items() if one is not None}


def test_highlights_follow_the_declared_analyser() -> None:
    index = Index.build({"s": "title HAS 'coat'"}, analysers={"title": "english"})
    found = index.match(EVENT, highlight=True)
    assert found.highlights is not None
    assert found.highlights["s"].marked("title") == ["A Wool <mark>Coat</mark> and two <mark>coats</mark>"]


def test_highlights_are_absent_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index.build(BOOK)
    looked_at: list[Any] = []
    monkeypatch.setattr(
        "tamis.index.highlighted.highlights", lambda *given: looked_at.append(given) or highlights(*given)
    )
    assert index.match(EVENT).highlights is None
    assert looked_at == []
    found = index.match(EVENT, highlight=True)
    assert sorted(found) == sorted(found.highlights or ()) == ["number", "phrase", "word"]
    assert len(looked_at) == 3, "only trees that match are looked at"


def test_match_without_words_has_empty_highlights() -> None:
    found = Index.build(BOOK).match(EVENT, highlight=True).highlights
    assert found is not None
    assert found["number"] == {}
    assert found["phrase"] == {"title": [Highlight(0, 2, 6, "wool"), Highlight(0, 7, 11, "coat")]}
    assert Index.build().match(EVENT, highlight=True).highlights == {}


@pytest.mark.parametrize(("limit", "more"), [(1, True), (2, False), (3, False)])
def test_limit_of_the_index_counts(limit: int, more: bool) -> None:
    index = Index.build({"s": "title HAS 'coat*'"}, limits=Limits(highlights=limit))
    found = index.match(EVENT, highlight=True).highlights
    assert found is not None
    assert (len(found["s"]["title"]), found["s"].more) == (min(limit, 2), more)


def test_too_many_matches_are_refused_before_highlights() -> None:
    index = Index.build({"a": "x = 1", "b": "x = 1"}, limits=Limits(matches_per_event=1))
    with pytest.raises(EventLimit):
        index.match({"x": 1}, highlight=True)


def test_difference_between_index_and_tree_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.index.highlighted.highlights", lambda *_: None)
    with pytest.raises(AuditFailed, match="'word' and its expression does not match"):
        Index.build({"word": BOOK["word"]}).match(EVENT, highlight=True)


@given(expressions(), events())
def test_explanation_has_the_parts_that_predicates_find(expr: Expr, event: Event) -> None:
    index = Index.build({"s": expr})
    for node in nodes(index.explain("s", event)):
        assert not node.found or node.cause == "some-value"
        for one in node.found:
            assert isinstance(node.values[one.value], str)
        assert node.more_found <= (len(node.found) == LISTED_FOUND)


def test_explanation_shows_words_and_places() -> None:
    index = Index.build(BOOK)
    found = index.explain("phrase", EVENT)
    assert str(found).splitlines()[1] == (
        "  ✓ title HAS PHRASE 'wool coat'"
        "   (title is 'A Wool Coat and two coats'; found 'Wool' (2–6), 'Coat' (7–11))"
    )
    assert found.as_dict()["children"][0]["found"] == [
        {"value": 0, "start": 2, "end": 6, "term": "wool", "text": "Wool"},
        {"value": 0, "start": 7, "end": 11, "term": "coat", "text": "Coat"},
    ]
    assert found.as_dict()["children"][0]["snippets"] == [
        {"attribute": "title", "value": 0, "pieces": ["A ", "Wool", " ", "Coat", " and two coats"]}
    ]
    several = index.explain("word", {"title": ["x", "coats coats", "coats", "coats"]})
    assert several.reason.endswith(
        "found 'coats' (value 1, 0–5), 'coats' (value 1, 6–11), 'coats' (value 2, 0–5) and more"
    )
    json.dumps(several.as_dict())


def test_explanation_shows_the_word_that_breaks_a_negative_form() -> None:
    found = Index.build({"s": "title NOT HAS 'wool'"}).explain("s", EVENT)
    assert (found.matched, found.found) == (False, (Highlight(0, 2, 6, "wool"),))
    assert Index.build({"s": "title HAS 'silk'"}).explain("s", EVENT).found == ()


@pytest.mark.parametrize(("words", "more"), [(LISTED_FOUND, False), (LISTED_FOUND + 1, True)])
def test_explanation_lists_the_first_parts(words: int, more: bool) -> None:
    found = Index.build({"s": "t HAS 'x'"}).explain("s", {"t": "x " * words})
    assert (len(found.found), found.more_found, found.as_dict()["more_found"]) == (LISTED_FOUND, more, more)


def test_predicate_finds_nothing_in_a_value_that_it_does_not_accept() -> None:
    tree = Index.build({"s": "t HAS ALL ('a', 'b')"}).expression("s")
    assert list(found_by(tree, ("a", "b"))) == []  # type: ignore[arg-type]
