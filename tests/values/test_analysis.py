"""Analysers: words, positions, places, settings and their mistakes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import AnalyserError
from tamis.values.analysis import (
    GAP,
    analyser_of,
    check_fingerprints,
    clean_analysers,
    fingerprints_of,
    known_names,
    shown,
)
from tamis.values.text import folded_words, terms_of


def test_folded_words_are_the_terms_for_every_code_point() -> None:
    letters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    for first in range(0, len(letters), 4096):
        text = "a".join(letters[first : first + 4096])
        assert [word for word, _, _ in folded_words(text)] == terms_of(text)


@given(st.text(st.sampled_from("aB é\u0301ßﬁ㏇한\u1112가½_-.ͅΣς東京İ")))
def test_folded_words_are_the_terms(text: str) -> None:
    assert [word for word, _, _ in folded_words(text)] == terms_of(text)


@given(st.text(st.sampled_from("aB é\u0301ßﬁ½_-.'東京 the3,")), st.sampled_from(known_names()))
def test_places_of_words_lie_in_order_inside_the_text(text: str, name: str) -> None:
    words = analyser_of(name).words(text)
    assert words.terms == analyser_of(name).terms(text)
    assert all(0 <= low < high <= len(text) for low, high in words.spans)
    assert words.spans == sorted(words.spans)


STANDARD = {
    "Can't stop, won't stop": ["can't", "stop", "won't", "stop"],
    "3.14 and 1,000 but a.b and 1.": ["3.14", "and", "1,000", "but", "a.b", "and", "1"],
    "wi-fi foo_bar __": ["wi", "fi", "foo_bar"],
    "Straße CAFÉ ﬁn": ["strasse", "café", "fin"],
    "東京へ": ["東", "京", "へ"],
    "カタカナ語": ["カタカナ", "語"],
    "e\u0301tude 'quoted' a:b": ["étude", "quoted", "a:b"],
}


@pytest.mark.parametrize(("text", "words"), STANDARD.items())
def test_standard_cuts_words_by_the_rules_of_unicode(text: str, words: list[str]) -> None:
    assert analyser_of("standard").terms(text) == words


SAME = {
    "english": ("running coats", "He runs; Coat"),
    "german": ("Häuser", "Haus"),
    "french": ("chevaux", "cheval"),
    "spanish": ("corriendo", "correr"),
    "italian": ("ragazze", "ragazza"),
    "portuguese": ("meninas", "menina"),
    "dutch": ("huizen", "huizen"),
    "russian": ("книги", "книга"),
    "swedish": ("bilarna", "bilar"),
    "danish": ("bilerne", "biler"),
    "norwegian": ("bilene", "biler"),
    "finnish": ("talossa", "talot"),
}


@pytest.mark.parametrize("name", SAME)
def test_languages_give_forms_of_a_word_one_term(name: str) -> None:
    one, two = (set(analyser_of(name).terms(text)) - {GAP} for text in SAME[name])
    assert one <= two


def test_stop_word_leaves_a_gap() -> None:
    assert analyser_of("english").terms("state of the art") == ["state", GAP, GAP, "art"]


def test_stems_of_languages_have_no_accents() -> None:
    assert analyser_of("french").terms("Crèmes") == analyser_of("french").terms("creme") == ["crem"]


def test_whitespace_and_keyword_keep_the_writing() -> None:
    assert analyser_of("whitespace").terms(" C++  é_1! ") == ["C++", "é_1!"]
    assert analyser_of("keyword").terms("New York") == ["New York"]
    assert analyser_of("keyword").terms("  ") == []


def test_cjk_takes_pairs_of_neighbours() -> None:
    assert analyser_of("cjk").terms("東京都 Tower3東") == ["東京", "京都", "tower3", "東"]
    assert analyser_of("cjk").terms("대한민국") == ["대한", "한민", "민국"]


@pytest.mark.parametrize(
    ("name", "text", "spans"),
    [
        ("cjk", "a 東京都", [(0, 1), (2, 4), (3, 5)]),
        ("cjk", "대한민국", [(0, 2), (1, 3), (2, 4)]),
        ("cjk", "Tower3東京", [(0, 6), (6, 8)]),
        ("cjk", "ß東京", [(0, 3), (0, 3)]),  # two letters came from one, so those behind have moved
        ("ngrams", "Coats ab", [(0, 3), (1, 4), (2, 5), (6, 8)]),
        ("ngrams", "Maße", [(0, 4)] * 3),
    ],
)
def test_parts_of_words_have_their_own_places_unless_letters_moved(
    name: str, text: str, spans: list[tuple[int, int]]
) -> None:
    assert analyser_of(name).words(text).spans == spans


def test_ngrams_cut_words_into_pieces() -> None:
    assert analyser_of("ngrams").terms("Coats ab") == ["coa", "oat", "ats", "ab"]


def test_synonyms_count_as_the_first_word_of_their_group(tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_text("# outerwear\ncoat, jacket\n\nparka, anorak => coat\n", encoding="utf-8")
    declared = clean_analysers({"title": {"base": "english", "synonyms": str(file)}})
    terms = analyser_of(declared["title"]).terms
    assert terms("Jackets parka anoraks coat") == ["coat"] * 4
    again = clean_analysers({"x": shown(declared["title"])})
    assert again["x"] == declared["title"]


def test_default_analyser_is_not_declared() -> None:
    assert clean_analysers({"title": "folding"}) == {}
    assert clean_analysers({"title": {"base": "english"}}) == {"title": "english"}


BAD: dict[str, tuple[Any, str]] = {
    "list": (["title"], "a mapping of attributes"),
    "attribute": ({5: "english"}, "the name of an attribute"),
    "name": ({"title": "englisch"}, "did you mean 'english'"),
    "type": ({"title": 5}, "a name or a mapping of settings"),
    "setting": ({"title": {"stemer": "english"}}, "did you mean 'stemmer'"),
    "value": ({"title": {"ngrams": "three"}}, "cannot be used"),
    "range": ({"title": {"ngrams": 17}}, "from 1 to 16"),
    "stemmer": ({"title": {"stemmer": "klingon"}}, "there is no stemmer 'klingon'"),
    "stop words": ({"title": {"stop_words": "klingon"}}, "no stop words for 'klingon'"),
    "synonyms": ({"title": {"synonyms": [["new york", "nyc"]]}}, "a synonym is one word"),
    "file": ({"title": {"synonyms": "/nowhere/file"}}, "cannot be read"),
    "cut": ({"title": {"cut": "words"}}, "cannot be used"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_analyser_is_refused(case: str) -> None:
    declared, message = BAD[case]
    with pytest.raises(AnalyserError, match=message) as caught:
        clean_analysers(declared)
    assert caught.value.code == "analyser-invalid"


@pytest.mark.parametrize("line", ["coat", "coat,", "a, b => c, d", "=> c"])
def test_bad_line_of_synonyms_is_named(line: str, tmp_path: Path) -> None:
    file = tmp_path / "synonyms.txt"
    file.write_text(f"a, b\n{line}\n", encoding="utf-8")
    with pytest.raises(AnalyserError, match="line 2"):
        clean_analysers({"title": {"synonyms": file}})


def test_fingerprints_differ_between_analysers() -> None:
    digests = fingerprints_of(known_names())
    assert len(set(digests.values())) == len(known_names())
    check_fingerprints(digests, "index")
