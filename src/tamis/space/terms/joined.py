"""Find the words that may satisfy some expression, all words in one pass of RE2."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np

from tamis.values.terms import Regex, Wildcard

MEMORY = 64 << 20


def line_pattern(term: Regex | Wildcard) -> str | None:
    """Return the expression of a term for a line of a text; ``None`` if there may be none.

    An expression with a backslash or a flag may ask for the ends of the whole text.
    """
    if isinstance(term, Wildcard):
        signs = {"*": "[^\n]*", "?": "[^\n]"}
        return "".join(signs.get(sign, sign) for sign in term.pattern)
    return None if "\\" in term.pattern or "(?" in term.pattern else f"(?:{term.pattern})"


class Lines:
    """Some expressions as one, which finds the lines of a text that one of them may match."""

    def __init__(self, patterns: list[str]) -> None:
        import re2

        options = re2.Options()
        options.log_errors = False
        options.never_nl = False
        options.max_mem = MEMORY
        self._program: Any = re2.compile(f"(?m)^(?:{'|'.join(patterns)})$".encode(), options)

    def candidates(self, encoded: list[bytes]) -> list[int]:
        """Return the places of all words, in UTF-8, that match on their own, and perhaps of some others.

        A match may go over several lines, if an expression accepts the end of a line. Then all of them count.
        """
        text = b"\n".join(encoded)
        if text.count(b"\n") != len(encoded) - 1:  # a word that is several lines
            return list(range(len(encoded)))
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1).tolist()
        found: list[int] = []
        for match in self._program.finditer(text):
            low, high = match.span()
            first = max(bisect_right(ends, low), found[-1] + 1 if found else 0)
            found += range(first, min(bisect_left(ends, high), len(encoded) - 1) + 1)
        return found
