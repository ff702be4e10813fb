"""Find the parts of a text that a pattern matches.

An *occurrence* is a part of a text, from ``start`` to ``end`` in characters, and the term or pattern that it
satisfies.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from tamis.values.pattern import LikePattern
from tamis.values.text import fold


class Occurrence(NamedTuple):
    """A part of a text, in characters, and the term or pattern that it satisfies."""

    start: int
    end: int
    term: str


def literal_occurrences(like: LikePattern, text: str, term: str, *, folded: bool) -> Iterator[Occurrence]:
    """Yield where the literal of a simple LIKE pattern stands in a text that the pattern matches.

    A literal anywhere is found from left to right, without overlaps. Other patterns have no occurrences, and
    neither has an empty literal.
    """
    if not like.literal:
        return
    origins = fold_origins(text) if folded and not text.isascii() else None  # None: each is its own origin
    for start, end in _literal_places(like, fold(text) if folded else text):
        if origins is None:
            yield Occurrence(start, end, term)
        else:
            yield Occurrence(origins[start][0], origins[end - 1][1], term)


def _literal_places(like: LikePattern, subject: str) -> Iterator[tuple[int, int]]:
    size = len(like.literal)
    match like.shape:
        case "prefix" | "equals":
            yield 0, size
        case "suffix":
            yield len(subject) - size, len(subject)
        case "contains":
            at = subject.find(like.literal)
            while at >= 0:
                yield at, at + size
                at = subject.find(like.literal, at + size)


def fold_origins(text: str) -> list[tuple[int, int]]:
    """Return the beginning and end of the characters that each character of ``fold(text)`` came from.

    Folding may change the number of characters (``ß`` becomes ``ss``). Accents count with their letter.
    """
    starts = [at for at, char in enumerate(text) if not at or not unicodedata.combining(char)]
    ends = [*starts[1:], len(text)]
    origins = [(start, end) for start, end in zip(starts, ends, strict=False) for _ in fold(text[start:end])]
    size = len(fold(text))
    return origins if len(origins) == size else [(0, len(text))] * size
