"""Find the words that may satisfy some expression, all words in one pass of RE2."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np

from tamis.values.terms import Regex

MEMORY = 64 << 20
CHARACTERS = 50_000  # of all patterns in one program


def line_pattern(term: Regex) -> str | None:
    """Return the expression of a term for a line of a text; ``None`` if there may be none.

    An expression with a backslash or a flag may ask for the ends of the whole text.
    """
    return None if "\\" in term.pattern or "(?" in term.pattern else f"(?:{term.pattern})"


class Lines:
    """Some expressions as few, which find the lines of a text that one of them may match."""

    def __init__(self, patterns: list[str]) -> None:
        self._programs = [_program(patterns[low:high]) for low, high in _groups(patterns)]

    def candidates(self, encoded: list[bytes]) -> list[int]:
        """Return the places of all words, in UTF-8, that match on their own, and perhaps of some others.

        A match may go over several lines, if an expression accepts the end of a line. Then all of them count.
        """
        text = b"\n".join(encoded)
        if None in self._programs or text.count(b"\n") != len(encoded) - 1:  # a word that is several lines
            return list(range(len(encoded)))
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1).tolist()
        found: set[int] = set()
        for program in self._programs:
            found.update(_lines(program, text, ends))
        return sorted(found)


def _groups(patterns: list[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of patterns that together are short enough for one program, at least one in each."""
    low = size = 0
    for at, pattern in enumerate(patterns):
        if at > low and size + len(pattern) > CHARACTERS:
            yield low, at
            low, size = at, 0
        size += len(pattern)
    yield low, len(patterns)


def _program(patterns: list[str]) -> Any:
    """Return the program that finds lines with one of the patterns; ``None`` if RE2 refuses its size."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_nl = False
    options.max_mem = MEMORY
    try:
        return re2.compile(f"(?m)^(?:{'|'.join(patterns)})$".encode(), options)
    except re2.error:
        return None


def _lines(program: Any, text: bytes, ends: list[int]) -> Iterator[int]:
    """Yield the numbers of the lines that matches reach."""
    following = 0
    for match in program.finditer(text):
        low, high = match.span()
        first = max(bisect_right(ends, low), following)
        following = min(bisect_left(ends, high), len(ends) - 1) + 1
        yield from range(first, following)
