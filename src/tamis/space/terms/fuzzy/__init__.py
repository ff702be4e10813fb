"""Find the fuzzy terms of many words at once."""

from __future__ import annotations

import numpy as np

from tamis.columns.literals import string_column
from tamis.space.terms.fuzzy._kernels import fuzzy_terms
from tamis.space.terms.vocabulary import words_of
from tamis.values.terms import Fuzzy


class FuzzyWords:
    """Fuzzy terms, found by the strings that remain when a word loses some letters.

    ``shorter`` has these strings, with the terms that may become each of them.
    """

    def __init__(self, shorter: dict[str, list[tuple[str, Fuzzy]]], longest: int) -> None:
        number = {
            text: at for at, text in enumerate(dict.fromkeys(t for own in shorter.values() for t, _ in own))
        }
        terms = dict(pair for own in shorter.values() for pair in own)
        chosen = [terms[text] for text in number]
        self._texts, self._longest = list(number), longest
        self._variants = words_of(string_column(list(shorter)))
        self._list_start = np.cumsum([0, *map(len, shorter.values())])
        self._lists = np.array([number[text] for own in shorter.values() for text, _ in own], np.int64)
        self._term_start = np.cumsum([0, *(len(term.word) for term in chosen)])
        self._term = np.array([ord(c) for term in chosen for c in term.word], np.int64)
        self._edits = np.array([term.edits for term in chosen], np.int64)
        self._prefix = np.array([term.prefix for term in chosen], np.int64)

    def of(self, words: list[str]) -> list[tuple[int, str]]:
        """Return the place of each ASCII word that satisfies a term, and the term's written form."""
        column, count, done = string_column(words), len(self._texts), 0
        rows = np.empty((3, int(np.diff(self._term_start).max()) + 1), np.int64)
        tried = np.zeros(count, np.int64)
        found: list[tuple[int, int]] = []
        out_word, out_term = np.empty((2, max(4 * len(words), count) + count), np.int64)
        while done < len(words):
            done, pairs = fuzzy_terms(
                done, column.start, column.data, int(self._edits.max()), self._longest, *self._variants[:1],
                self._variants.table, self._variants.shift, self._variants.secret, self._variants.start,
                self._variants.data, self._list_start, self._lists, self._term_start, self._term, self._edits,
                self._prefix, tried, rows, out_word, out_term,
            )  # fmt: skip
            found += zip(out_word[:pairs].tolist(), out_term[:pairs].tolist(), strict=True)
        return [(word, self._texts[term]) for word, term in found]
