"""Test that the ways to decide a pattern agree: string operations, RE2 programs and sets, automata."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.space.flags import Patterns, Substrings
from tamis.values.pattern import compiled, like_matches, read_like
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
    table = Patterns(regexes, list(range(len(regexes))), folded)
    text = fold(subject) if folded else subject
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
