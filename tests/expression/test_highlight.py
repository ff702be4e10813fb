"""Test highlights: each word satisfies its term, true positive predicates have some, others none."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tamis import Event, parse
from tamis.errors import ExpressionError, InputError
from tamis.expression.analysed import Analysed
from tamis.expression.highlight import Highlight, Highlights, found_by, highlights
from tamis.expression.predicates import PREDICATES, Predicate
from tamis.expression.tree import Expr, Not
from tamis.expression.truth import matches
from tamis.values.analysis import analyser_of, known_names
from tamis.values.event import event_from
from tamis.values.occurrences import fold_origins
from tamis.values.terms import read_terms
from tamis.values.text import fold
from tests.strategies import events, expressions

WORDS = (
    "coat", "Coats", "the", "of", "running", "runs", "café", "Cafe", "c++", "wi-fi", "Häuser", "haus",
    "東京都", "can't", "3.14", "x", "книги", "ﬁn", "a_b", "Straße", "STRASSE", "e\u0301",
)  # fmt: skip
PATTERNS = ("coa*", "*at", "c?at", "cot~1", "/run.*/", "[a TO d]", "caf*")


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def listed(some: list[str]) -> str:
    return f"({', '.join(map(quoted, some))})"


terms = st.lists(st.sampled_from(WORDS + PATTERNS), min_size=2, max_size=3)
phrases = terms.map(lambda some: quoted(" ".join(some)))
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
searches = st.one_of(
    terms.map(lambda some: f"HAS ANY {listed(some)}"),
    terms.map(lambda some: f"HAS ALL {listed(some)}"),
    phrases.map("HAS PHRASE {}".format),
    terms.map(lambda some: f"HAS AT LEAST 1 OF {listed(some)}"),
    st.builds("HAS PHRASE {} SLOP {}".format, phrases, st.integers(0, 6)),
    st.builds("HAS NEAR {} WITHIN {}".format, phrases, st.integers(3, 9)),
    st.builds("HAS NEAR ORDERED {} WITHIN {}".format, phrases, st.integers(3, 9)),
)


def spans(text: str, event: dict[str, Any]) -> dict[str, list[tuple[int, int, int, str]]] | None:
    found = highlights(parse(text), event_from(event))
    return None if found is None else {name: [tuple(one) for one in some] for name, some in found.items()}


@given(searches, st.sampled_from(known_names()), st.lists(texts, min_size=1, max_size=3))
def test_highlighted_words_satisfy_their_terms(search: str, name: str, values: list[str]) -> None:
    try:
        tree = parse(f"t {search} USING {quoted(name)}")
    except ExpressionError:  # the analyser leaves out every word
        assume(False)
    assert isinstance(tree, Analysed)
    event = event_from({"t": values})
    found = highlights(tree, event)
    if not matches(tree, event):
        assert found is None
        return
    assert found is not None
    assert found["t"], "a true predicate has a highlight"
    read = [term for text in tree.terms for term in read_terms(text, analyser_of(name))]
    for number, start, end, term in found["t"]:
        value = event.attributes["t"][number]
        assert isinstance(value, str)
        assert tree.accepts(value)
        again = analyser_of(name).terms(value[start:end])
        wanted = [one for one in read if one.text().removeprefix("=") == term]
        assert any(one.matches(word) for one in wanted for word in again if word), (value[start:end], term)


@given(expressions(), events())
def test_highlights_exist_exactly_for_a_match(expr: Expr, event: Event) -> None:
    found = highlights(expr, event)
    assert (found is not None) == matches(expr, event)
    assert highlights(Not(expr), event) in (None, {})
    for name, some in (found or {}).items():
        assert some
        assert some == sorted(set(some))
        for number, start, end, _ in some:
            text = event.attributes[name][number]
            assert isinstance(text, str)
            assert 0 <= start < end <= len(text)
            assert any(one.accepts(text) for one in leaves(expr) if one.attribute == name)


def leaves(expr: Expr) -> list[Predicate]:
    if isinstance(expr, Predicate):
        return [expr]
    return [leaf for child in expr.children for leaf in leaves(child)]


@given(expressions(), events())
def test_predicates_name_only_parts_of_strings(expr: Expr, event: Event) -> None:
    for predicate in leaves(expr):
        for value in (5, True, *event.attributes.get(predicate.attribute, ())):
            if not isinstance(value, str):
                assert list(predicate.occurrences(value)) == []


def test_kinds_with_occurrences_are_those_on_text() -> None:
    some = {kind.__name__ for kind in PREDICATES if kind.occurrences is not Predicate.occurrences}
    assert some == {"Text", "Near", "AtLeast", "Like", "Likes", "Affix", "Regex"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t HAS 'coats' USING 'english'", [(0, 9, 13, "coat"), (0, 15, 20, "coat")]),
        ("t HAS ANY ('WOOL', 'silk')", [(0, 4, 8, "wool"), (1, 0, 4, "silk")]),
        ("t HAS ALL ('red', 'co*')", [(0, 0, 3, "red"), (0, 9, 13, "co*"), (0, 15, 20, "co*")]),
        ("t HAS PHRASE 'red wool'", [(0, 0, 3, "red"), (0, 4, 8, "wool")]),
        ("t HAS PHRASE 'wool of coat' USING 'english'", [(0, 4, 8, "wool"), (0, 15, 20, "coat")]),
        ("t HAS PHRASE 'wool silk'", None),
        ("t HAS PHRASE 'red wool' SLOP 2", [(0, 0, 3, "red"), (0, 4, 8, "wool")]),
        ("t HAS NEAR 'coats red' WITHIN 9", [(0, 0, 3, "red"), (0, 15, 20, "coats")]),
        ("t HAS AT LEAST 2 OF ('red', 'silk', 'coat')", [(0, 0, 3, "red"), (0, 9, 13, "coat")]),
        ("t HAS 'red' OR t HAS 'green'", [(0, 0, 3, "red")]),
        ("t HAS 'red' OR t HAS 'wool' AND t HAS 'green'", [(0, 0, 3, "red")]),
        ("t HAS 'red' AND NOT t HAS 'green'", [(0, 0, 3, "red")]),
        ("NOT (NOT t HAS 'red')", []),
        ("t NOT HAS 'green'", []),
        ("t LIKE '%oa%'", [(0, 16, 18, "%oa%")]),
        ("t ILIKE '%O_%'", []),
        ("t CONTAINS 'o'", [(0, 5, 6, "o"), (0, 6, 7, "o"), (0, 16, 17, "o")]),
        ("t LIKE '%o%a%'", []),
        ("t LIKE 'silk'", [(1, 0, 4, "silk")]),
        ("t LIKE '%'", []),
        ("t ILIKE '%STRASSE'", [(0, 21, 27, "%STRASSE")]),
        ("t LIKE ANY ('Red%', '%lk')", [(0, 0, 3, "Red%"), (1, 2, 4, "%lk")]),
        ("t LIKE ALL ('Red%', '%Wool%')", [(0, 0, 3, "Red%"), (0, 4, 8, "%Wool%")]),
        ("t STARTS WITH 'Red'", [(0, 0, 3, "Red")]),
        ("t ENDS WITH 'lk'", [(1, 2, 4, "lk")]),
        ("t CONTAINS 'Coa'", [(0, 15, 18, "Coa")]),
        ("t CONTAINS ''", []),
        ("t RLIKE 'o+l'", [(0, 5, 8, "o+l")]),
        ("t RLIKE 'z*'", []),
        ("t = 'silk'", []),
        ("t IN ('silk') AND t IS NOT NULL", []),
    ],
)  # fmt: skip
def test_highlights_are_as_documented(text: str, expected: list[tuple[int, int, int, str]] | None) -> None:
    found = spans(text, {"t": ["Red Wool COAT, Coats Straße", "silk"]})
    assert found == (None if expected is None else {"t": expected} if expected else {})


def test_phrase_is_highlighted_at_every_place_with_its_own_words() -> None:
    found = spans(
        "t HAS PHRASE 'tower of london' USING 'english'", {"t": "Towers in London, the tower at London"}
    )
    assert found == {
        "t": [(0, 0, 6, "tower"), (0, 10, 16, "london"), (0, 22, 27, "tower"), (0, 31, 37, "london")]
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t HAS NEAR 'a b' WITHIN 3", [(0, 0, 1, "a"), (0, 4, 5, "b")]),
        ("t HAS NEAR 'a b' WITHIN 2", [(0, 4, 5, "b"), (0, 6, 7, "a")]),
        ("t HAS NEAR ORDERED 'b a' WITHIN 4", [(0, 4, 5, "b"), (0, 6, 7, "a")]),
        ("t HAS PHRASE 'b a' SLOP 0", [(0, 4, 5, "b"), (0, 6, 7, "a")]),
        ("t HAS NEAR 'a a*' WITHIN 9", [(0, 0, 1, "a*"), (0, 6, 7, "a")]),
    ],
)
def test_closeness_highlights_the_first_choice(text: str, expected: list[tuple[int, int, int, str]]) -> None:
    assert spans(text, {"t": "a x b a b a"}) == {"t": expected}


def test_offsets_count_the_characters_of_nfc() -> None:
    value = "cafe\u0301 \U0001f9e5 Coat"
    found = highlights(parse("t HAS ANY ('café', 'coat')"), event_from({"t": value}))
    assert found == {"t": [Highlight(0, 0, 4, "cafe"), Highlight(0, 7, 11, "coat")]}
    assert found.texts == {"t": {0: "café \U0001f9e5 Coat"}}
    assert found.marked("t") == ["<mark>café</mark> \U0001f9e5 <mark>Coat</mark>"]


def test_nested_and_several_values_have_flat_names_and_numbers() -> None:
    event = {"item": {"names": ["wool", 5, "no", "Wool coat"]}}
    assert spans("item.names HAS 'wool'", event) == {"item.names": [(0, 0, 4, "wool"), (3, 0, 4, "wool")]}


@given(st.text(st.sampled_from("aBß éÉİıſﬁŉΐΰǰ\u0301\u0345\u0308ΣςЄ가ᄀ")) | st.text())
def test_every_folded_character_has_an_origin(text: str) -> None:
    origins = fold_origins(text)
    assert len(origins) == len(fold(text))
    for start, end in {*origins}:
        assert 0 <= start < end <= len(text)
    assert all(one <= two for one, two in pairwise(origins))
    for at, (start, end) in enumerate(origins):
        assert fold(text)[at] in fold(text[start:end])


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("t ILIKE '%ss%'", "Maße SS", [(0, 2, 3, "%ss%"), (0, 5, 7, "%ss%")]),
        ("t ILIKE '%s%'", "ß", [(0, 0, 1, "%s%")]),
        ("t ILIKE 'É%'", "états", [(0, 0, 1, "É%")]),
        ("t ILIKE '%fin'", "ﬁn", [(0, 0, 2, "%fin")]),
    ],
)
def test_ilike_marks_the_characters_before_folding(text: str, value: str, expected: list[Any]) -> None:
    found = spans(text, {"t": value})
    assert found is not None
    assert sorted(set(found["t"])) == expected


@pytest.mark.parametrize(("words", "more"), [(2, False), (3, False), (4, True)])
def test_limit_of_highlights_is_stated(words: int, more: bool) -> None:
    found = highlights(parse("t HAS 'wool'"), event_from({"t": "wool " * words}), 3)
    assert found is not None
    assert (len(found["t"]), found.more) == (min(words, 3), more)
    assert found.as_dict()["more"] is more


def test_equal_highlights_count_once() -> None:
    found = highlights(parse("t HAS 'wool' AND t HAS ANY ('wool', 'silk')"), event_from({"t": "wool"}), 1)
    assert (found, found is not None and found.more) == ({"t": [Highlight(0, 0, 4, "wool")]}, False)


def test_highlights_are_plain_data_with_snippets() -> None:
    event = event_from({"t": "x" * 300 + " Wool <coat> " + "y" * 300})
    found = highlights(parse("t HAS PHRASE 'wool coat'"), event)
    assert isinstance(found, Highlights)
    plain = found.as_dict()
    assert plain["attributes"] == {
        "t": [
            {"value": 0, "start": 301, "end": 305, "term": "wool", "text": "Wool"},
            {"value": 0, "start": 307, "end": 311, "term": "coat", "text": "coat"},
        ]
    }
    (snippet,) = plain["snippets"]
    assert (snippet["attribute"], snippet["value"], snippet["pieces"][1::2]) == ("t", 0, ["Wool", "coat"])
    assert found.marked("t", "text", characters=40) == [
        "…" + "x" * 9 + " **Wool** <**coat**> " + "y" * 16 + "…"
    ]
    assert found.marked("other") == []
    for bad in (0, True, 2.5):
        characters: Any = bad
        with pytest.raises(InputError, match="whole number of at least 1"):
            found.marked("t", characters=characters)
    assert repr(found).startswith("Highlights({'t': [Highlight(value=0, start=301,")


def test_negative_form_has_the_words_that_break_it() -> None:
    predicate = parse("t NOT HAS 'wool'")
    assert isinstance(predicate, Predicate)
    assert list(found_by(predicate, ("a wool coat",))) == [Highlight(0, 2, 6, "wool")]
