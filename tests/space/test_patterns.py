"""Test that the ways to decide a pattern agree: string operations, RE2 programs and sets, automata."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.columns.literals import string_column
from tamis.errors import PatternError
from tamis.space.automata import Expressions, PatternGroups, Patterns, Substrings
from tamis.space.terms.many import ManyWords
from tamis.space.terms.table import TermTable
from tamis.values.pattern import Wild, compiled, like_matches, read_like
from tamis.values.pieces import in_order, like_parts, required_pieces
from tamis.values.text import fold
from tests.strategies import PATTERNS, REGEXES, STRINGS

subjects = st.sampled_from(STRINGS) | st.text("abAB%_\\é\n\0", max_size=6)
patterns = st.sampled_from(PATTERNS) | st.lists(
    st.sampled_from(["%", "_", "a", "b", "B", "é", "\n", "\0", "\\%", "\\_", "\\\\"]), max_size=6
).map("".join)


@given(patterns, subjects, st.booleans())
def test_simple_pattern_shapes_match_like_their_automaton(pattern: str, subject: str, folded: bool) -> None:
    like = read_like(pattern, folded)
    text = fold(subject) if folded else subject
    assert like_matches(like, text) == (compiled(like.regex).search(text) is not None)


@given(st.lists(patterns, max_size=8, unique=True), subjects, st.booleans())
def test_pattern_sets_find_the_same_as_single_patterns(
    written: list[str], subject: str, folded: bool
) -> None:
    regexes = list(dict.fromkeys([*(read_like(pattern, folded).regex for pattern in written), *REGEXES]))
    text = fold(subject) if folded else subject
    for kind in (Patterns, Expressions):
        table = kind(regexes, list(range(len(regexes))), folded)
        assert sorted(table.find(subject)) == [
            at for at, regex in enumerate(regexes) if compiled(regex).search(text) is not None
        ]


@given(st.lists(subjects, max_size=8, unique=True), subjects, st.booleans())
def test_substrings_are_found_all_at_once(words: list[str], subject: str, folded: bool) -> None:
    words = list(dict.fromkeys(fold(word) for word in words)) if folded else words
    table = Substrings(words, list(range(len(words))), folded)
    text = fold(subject) if folded else subject
    assert sorted(table.find(subject)) == [at for at, word in enumerate(words) if word in text]


def test_many_large_patterns_are_spread_over_several_sets() -> None:
    regexes = [f"k{n}-[xyz]{{900}}" for n in range(80)]
    table = Patterns(regexes, list(range(80)), False)
    assert len(table._sets) > 1
    assert sorted(table.find("k2-" + "x" * 900 + " k77-" + "yz" * 450)) == [2, 77]


@given(patterns, subjects)
def test_parts_of_a_like_pattern_are_read_from_its_expression(pattern: str, subject: str) -> None:
    like = read_like(pattern, False)
    parts = like_parts(like.regex)
    assert parts is not None
    if any(isinstance(part, str) for part in parts) and Wild.ONE not in parts:
        assert in_order(parts, subject) == (compiled(like.regex).search(subject) is not None)


@pytest.mark.parametrize("regex", ["a.*b", "(?s)^a.*b", "(?s)^a+$", r"(?s)^\d$", "(?s)^a*$", "(?s)^[a]$"])
def test_expressions_of_users_are_no_like_patterns(regex: str) -> None:
    assert like_parts(regex) is None


_SIGNS = ["a", "b", ".", "*", "+", "?", "[ab]", "[^a]", "[]a]", r"\.", r"\d", r"\b", "^", "$", "{2}", "{0,1}"]
_SIGNS += [
    "[[:alpha:]]",
    r"[\]]",
    r"\Q",
    r"\pN",
    r"\\",
    "}",
    "]",
    "{",
    "a{b",
    "é",
    "|",
    "(",
    ")",
    "(?i)",
    "-",
]
_SIGNS += [r"\x41", "[", "[[:", ":]"]


@given(st.lists(st.sampled_from(_SIGNS), max_size=6).map("".join), st.text("ab.1Aé}]{-\\2\n", max_size=8))
def test_string_in_which_an_expression_is_found_has_its_pieces(regex: str, subject: str) -> None:
    try:
        program = compiled(regex)
    except PatternError:
        return
    if program.search(subject) is not None:
        assert all(piece in subject for piece in required_pieces(regex))


@pytest.mark.parametrize(
    ("regex", "pieces"),
    [
        ("error [0-9]+ in disk", ["error ", " in disk"]),
        (r"^GET /a\.html?$", ["GET /a.htm"]),
        ("colou?rs+x*y", ["colo", "rs", "y"]),
        (r"a\x41b", []),
        ("[[:a]bcd", ["bcd"]),  # a class that holds '[' and ':'
        ("a(b|c)", []),
        ("(?i)abc", []),
    ],
)
def test_pieces_of_an_expression_are_its_literals(regex: str, pieces: list[str]) -> None:
    assert required_pieces(regex) == pieces


def test_pattern_is_tried_only_on_strings_with_its_rarest_piece() -> None:
    patterns = [read_like(f"%common%w{n}%", False).regex for n in range(100)]
    patterns += [f"common [0-9]+ v{n}" for n in range(100)]
    table = Expressions(patterns, list(range(200)), False)
    assert table._sets._sets == []
    assert max(map(len, table._lists)) == 1
    assert sorted(table.find("common w7 and common 12 v8")) == [7, 108]


def test_expressions_that_share_a_piece_are_one_set() -> None:
    patterns = [f"http[{chr(97 + n % 26)}-z]{{{n + 1}}}" for n in range(Expressions.SHARED + 1)]
    table = Expressions(patterns, list(range(len(patterns))), False)
    assert table._lists == []
    assert table.find("http" + "z" * 65) == list(range(len(patterns)))


def test_groups_of_patterns_are_tried_only_on_strings_with_their_pieces() -> None:
    regexes = [
        [read_like(f"%a{n}%b{n}%", False).regex, read_like(f"c{n}%d", False).regex] for n in range(10, 60)
    ]
    groups = [(json.dumps(["any", False, both]), n) for n, both in enumerate(regexes)]
    table = PatternGroups(groups, folded=False)
    assert table._patterns._sets._sets == []
    assert sorted(table.find("c17 and a21 b21 d")) == [7, 11]


def test_many_wildcards_make_no_program_of_re2() -> None:
    table = TermTable()
    for n in range(100, 1_000):
        table.add(f"w{n}*x?y")
    words = ManyWords(table)
    assert words._wildcards[0]._sets._sets == []  # type: ignore[union-attr]
    assert words._lines is None
    assert table.of("w123zzxay") == ("w123*x?y",)
    place, term = words.of(string_column(["w123zzxay", "w123zxy", "other"]))
    assert (place.tolist(), [words.terms[at] for at in term]) == ([0], ["w123*x?y"])
