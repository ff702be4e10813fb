"""Expressions of terms are joined into programs that RE2 accepts, and lose no word."""

from __future__ import annotations

import pytest

from tamis.space.terms import joined
from tamis.values.terms import Regex

PATTERNS = [joined.line_pattern(Regex(f"a{letter}.b.*")) or "" for letter in "abcdefgh"]
WORDS = [f"a{letter}xb{end}".encode() for letter in "abcdefghij" for end in ("", "c")]
FOUND = [at for at, word in enumerate(WORDS) if word[1:2] <= b"h"]


def test_one_program_finds_the_words() -> None:
    assert joined.Lines(PATTERNS).candidates(WORDS) == FOUND


def test_several_programs_find_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "CHARACTERS", 20)
    assert joined.Lines(PATTERNS).candidates(WORDS) == FOUND


def test_program_that_is_too_large_finds_all_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "MEMORY", 1 << 10)
    assert joined.Lines(PATTERNS * 100).candidates(WORDS) == list(range(len(WORDS)))
