"""Test the terms of HAS in every written form: wildcards, edits, expressions, ranges, natural punctuation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, attr, from_json, parse, to_text
from tamis.errors import ExpressionLimit, ParseError, PatternError
from tamis.language import check_tree, from_search_box
from tamis.limits import DEFAULT_LIMITS
from tamis.space.terms.pieces import PieceTable
from tamis.space.terms.table import TermTable
from tamis.values.terms import read_term, read_terms
from tamis.values.terms.edits import within_edits
from tamis.values.text import terms_of

NATURAL = {
    "what is this?": ["what", "is", "this"],
    "5 * 4": ["5", "4"],
    "coat ***": ["coat"],
    "~coat": ["coat"],
    "a ~ b": ["a", "b"],
    "foo~bar": ["foo", "bar"],
    "wool?": ["wool"],
    "(coat)": ["coat"],
    "[sic] coat": ["sic", "coat"],
    "rock & roll": ["rock", "roll"],
    "and/or a/b c/d": ["and", "or", "a", "b", "c", "d"],
}
READ = {
    "Mäntel*": ["mantel*"],
    "***coat": ["*coat"],
    "wom?n": ["wom?n"],
    "c?t?": ["c?t?"],
    "coat~": ["coat~2"],
    "coat~0": ["coat"],
    "Coat~1,2": ["coat~1,2"],
    "coat~1,9": ["coat~1,4"],
    "new york~1": ["new", "york~1"],
    "York~3:Levenshtein,": ["york~3:levenshtein"],
    "york~:hamming": ["york~2:hamming"],
    "york~1: new": ["york~1", "new"],
    "plus-s*": ["plus", "s*"],
    "/colou?r/ coat": ["/colou?r/", "coat"],
    r"/a\/b/": [r"/a\/b/"],
    "{Älpha TO beta]": ["{alpha TO beta]"],
    "{* TO b}": ["[* TO b}"],
}
HOLDS = [
    ("coat*", ["coat", "coats"], ["coa", "acoat"]),
    ("*coat", ["coat", "raincoat"], ["coats"]),
    ("c?at", ["coat", "chat"], ["cat", "cooat"]),
    ("c*t", ["ct", "cat", "coat"], ["cats"]),
    ("color~1", ["color", "colour", "colr", "coler", "oclor"], ["colouur", "olcro"]),
    ("color~2", ["colouur", "clr", "ocolr"], ["clzz", "cl"]),
    ("color~1,3", ["color", "colour", "colr"], ["oclor", "cxlor"]),
    ("color~3:levenshtein", ["color", "clr", "xxxor", "colorxyz", "oclor"], ["xxxxr", "colorwxyz", "c"]),
    ("color~2:Hamming", ["color", "cxxor", "colxx"], ["colo", "colour", "xxxor", "oclro"]),
    ("color~3,2:hamming", ["color", "coxxx"], ["xolor"]),
    ("abcd~3:levenshtein", ["a", "abcd", "xyzd", "xaybczd"], ["wxyz", "xaybczdz"]),
    ("a~3:hamming", ["a", "b"], ["aa"]),
    ("/colou?r/", ["color", "colour"], ["colors", "acolor"]),
    ("/a|b/", ["a", "b"], ["ab"]),
    ("[b TO d}", ["b", "c", "czz"], ["a", "d", "dd"]),
    ("{b TO *]", ["ba", "z"], ["b", "a"]),
]
BAD = [
    "coat~3",
    "coat~4:levenshtein",
    "coat~4:hamming",
    "coat~1:soundex",
    "coat~12",
    "coat~0.8",
    "/(/",
    "/a(?=b)/",
    "[* TO *]",
]


def _json(op: str) -> Callable[[str], Any]:
    return lambda text: from_json({"attribute": "t", "op": op, "terms": [text]})


FORMS: dict[str, Callable[[str], Any]] = {
    "HAS": lambda text: parse(f"t HAS '{text}'"),
    "HAS PHRASE": lambda text: parse(f"t HAS PHRASE '{text}'"),
    "NOT HAS": lambda text: parse(f"x = 1 OR t NOT HAS '{text}'"),
    "has any in JSON": _json("has any"),
    "has all in JSON": _json("has all"),
    "has phrase in JSON": _json("has phrase"),
    "has in Python": lambda text: check_tree(attr("t").has(text)),
    "has_phrase in Python": lambda text: check_tree(attr("t").has_phrase(text)),
    "search box": lambda text: from_search_box(f'+wool "{text}"'),
}


@pytest.mark.parametrize("text", [*NATURAL, *READ])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_takes_terms_and_prints_what_it_reads(form: str, text: str) -> None:
    tree = FORMS[form](text)
    assert parse(to_text(tree)) == tree


@pytest.mark.parametrize(("text", "terms"), (NATURAL | READ).items())
def test_text_is_read_as_these_terms(text: str, terms: list[str]) -> None:
    assert [term.text() for term in read_terms(text)] == terms


@pytest.mark.parametrize(("term", "words", "others"), HOLDS)
def test_term_asks_for_these_words(term: str, words: list[str], others: list[str]) -> None:
    index = Index.build({"scan": parse(f"t HAS '{term}'")}, engine="scan")
    fresh = Index.build()
    fresh.add("fresh", f"t HAS '{term}'")
    for word in words + others:
        expected = word in words
        assert read_term(term).matches(word) is expected, word
        for event in ({"t": word.upper()}, {"t": f"99 -- {word}!"}):
            assert bool(index.match(event)) is expected, event
            assert bool(fresh.match(event)) is expected, event


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("form", FORMS)
def test_term_that_cannot_be_read_is_refused(form: str, text: str) -> None:
    with pytest.raises(PatternError):
        FORMS[form](text)


@pytest.mark.parametrize("mode", ["ALL", "ANY"])
def test_list_of_terms_points_at_the_bad_one(mode: str) -> None:
    with pytest.raises(PatternError, match="at most 2 edits") as caught:
        parse(f"t HAS {mode} ('wool', 'coat~3')")
    assert caught.value.position is not None


def test_search_box_takes_terms_and_points_at_a_bad_one() -> None:
    assert to_text(from_search_box("+wool* -/col.r/", "t")) == "t HAS 'wool*' AND t NOT HAS '/col.r/'"
    with pytest.raises(PatternError, match="at most 2 edits") as caught:
        from_search_box("wool +coat~3 warm")
    assert caught.value.position == "wool +coat~3 warm".index("coat")
    with pytest.raises(ParseError, match="the slop of the phrase") as caught:
        from_search_box('"new york"~x coat')
    assert caught.value.position == '"new york"~x coat'.index("~")


def test_bulk_table_takes_terms_and_refuses_a_bad_one() -> None:
    values = ["coat*", "coat", "coat~3"]
    table = pa.table(
        {"id": ["a", "b", "c"], "attribute": ["t"] * 3, "operator": ["has any"] * 3, "value": values}
    )
    index = Index.build(table, on_error="skip")
    assert [name for name, _ in index.refused] == ["c"]
    assert sorted(index.match({"t": "two coats"})) == ["a"]
    assert sorted(index.match({"t": "a coat"})) == ["a", "b"]


@pytest.mark.parametrize("edge", [0, 1])
def test_expression_of_a_term_has_the_limit_of_others(edge: int) -> None:
    text = f"t HAS '/{'a' * (DEFAULT_LIMITS.regex_characters + edge)}/'"
    if not edge:
        assert to_text(parse(text)) == text
        return
    with pytest.raises(ExpressionLimit) as caught:
        parse(text)
    assert caught.value.details["limit"] == "regex_characters"


def test_long_fuzzy_word_is_found() -> None:
    word = "ab" * 2_000
    index = Index.build({"a": f"t HAS '{word}~2'"})
    assert index.match({"t": f"x{word[1:-1]}y"}) == ["a"]
    assert index.match({"t": f"x{word[1:-2]}yy"}) == []


def test_head_with_many_expressions_becomes_a_segment() -> None:
    """Each new expression means a new set for RE2; prefixes and repeated expressions do not count."""
    index = Index.build()
    for number in range(100):
        index.add(f"p{number}", f"t HAS 'word{number}*' AND t HAS '/same.*/' AND x = {number}")
    assert index.info()["head"]["full"] == {}
    for number in range(40):
        index.add(f"r{number}", f"t HAS '/w{number}.*x/'")
    assert index.info()["head"]["full"] == {"patterns and shapes": 1}
    assert index.match({"t": "w7 to w7ax"}) == ["r7"]


def test_phrase_may_hold_terms_of_any_kind() -> None:
    index = Index.build({"a": "t HAS PHRASE 'new y*'", "b": "t HAS PHRASE '/n.w/ yrok~1'"})
    assert sorted(index.match({"t": "in New York"})) == ["a", "b"]
    assert index.match({"t": "york new"}) == []
    assert index.match({"t": "new in york"}) == []


def test_patterns_keep_their_own_signs() -> None:
    assert to_text(parse("t LIKE 'coat*' OR t RLIKE 'coat.*' OR t = 'coat*'"))


@given(st.text(st.sampled_from("ab*?~1,/[]{} TO-é")))
def test_reading_again_what_was_read_changes_nothing(text: str) -> None:
    try:
        terms = [term.text() for term in read_terms(text)]
    except PatternError:
        return
    assert [term.text() for term in read_terms(" ".join(terms))] == terms
    assert [read_term(term).text() for term in terms] == terms


@given(st.text("abé-", max_size=12))
def test_text_without_signs_is_its_words(text: str) -> None:
    assert [term.text() for term in read_terms(text)] == terms_of(text)


@cache
def _edits(one: str, two: str, swaps: bool = True) -> int:
    """Count the edits by their definition: the last letters are kept, replaced, dropped, or swapped."""
    if not one or not two:
        return len(one) + len(two)
    steps = [_edits(one[:-1], two, swaps) + 1, _edits(one, two[:-1], swaps) + 1]
    steps.append(_edits(one[:-1], two[:-1], swaps) + (one[-1] != two[-1]))
    if swaps and len(one) > 1 and one[-2:] == two[-2:][::-1]:
        steps.append(_edits(one[:-2], two[:-2], swaps) + 1)
    return min(steps)


@given(st.text("abc", max_size=5), st.text("abc", max_size=5), st.integers(0, 3), st.booleans())
def test_edits_are_counted_as_defined(one: str, two: str, most: int, swaps: bool) -> None:
    assert within_edits(one, two, most, swaps=swaps) == (_edits(one, two, swaps) <= most)


_letters = st.text("abcd", min_size=1, max_size=9)


@given(
    st.lists(st.tuples(_letters, st.integers(1, 3), st.sampled_from(["levenshtein", "hamming"])), max_size=8),
    st.lists(_letters, max_size=4),
)
def test_table_finds_the_fuzzy_words_that_are_near(
    terms: list[tuple[str, int, str]], words: list[str]
) -> None:
    written = [f"{word}~{edits}:{distance}" for word, edits, distance in terms]
    table = TermTable()
    for text in written:
        table.add(text)
    for word in words + [word for word, _, _ in terms]:
        found = table.of(word)
        assert len(set(found)) == len(found)
        expected = {
            text
            for text, (other, edits, distance) in zip(written, terms, strict=True)
            if (
                _edits(word, other, False) <= edits
                if distance == "levenshtein"
                else len(word) == len(other)
                and sum(a != b for a, b in zip(word, other, strict=True)) <= edits
            )
        }
        assert set(found) == expected


def test_few_fuzzy_words_are_compared_with_a_word() -> None:
    table, words = PieceTable(), [f"{a}{b}{a}{c}{b}{c}" for a in "kmrst" for b in "aeiou" for c in "lnpvx"]
    for word in words:
        text = f"{word}~1:levenshtein"
        table.add(text, read_term(text))  # type: ignore[arg-type]
    assert [text for word in words for text in table.find(word)] == [
        f"{word}~1:levenshtein" for word in words
    ]
    assert table.compared == 9 * len(words)  # of 125: those with the same first or second half
