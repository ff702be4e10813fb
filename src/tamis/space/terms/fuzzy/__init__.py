"""Find the fuzzy terms of many words at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.columns.literals import StringColumn, string_column
from tamis.space.terms.fuzzy._kernels import fuzzy_terms
from tamis.space.terms.vocabulary import words_of
from tamis.values.terms import Fuzzy

Ints = npt.NDArray[np.int64]


class FuzzyWords:
    """Fuzzy terms, found by the strings that remain when a word loses some letters.

    ``shorter`` has these strings, with the terms that may become each of them, and ``numbers`` the numbers of
    the terms.
    """

    def __init__(
        self, shorter: dict[str, list[tuple[str, Fuzzy]]], longest: int, numbers: dict[str, int]
    ) -> None:
        terms = dict(pair for own in shorter.values() for pair in own)
        place = {text: at for at, text in enumerate(terms)}
        chosen = list(terms.values())
        self._longest = longest
        self._number = np.array([numbers[text] for text in terms], np.int64)
        self._variants = words_of(string_column(list(shorter)))
        self._list_start = np.cumsum([0, *map(len, shorter.values())])
        self._lists = np.array([place[text] for own in shorter.values() for text, _ in own], np.int64)
        self._term_start = np.cumsum([0, *(len(term.word) for term in chosen)])
        self._term = np.array([ord(c) for term in chosen for c in term.word], np.int64)
        self._edits = np.array([term.edits for term in chosen], np.int64)
        self._prefix = np.array([term.prefix for term in chosen], np.int64)

    def of(self, words: StringColumn) -> tuple[Ints, Ints]:
        """Return the place of each ASCII word that satisfies a term, and the number of the term."""
        count, done, own = len(self._number), 0, self._variants
        rows = np.empty((3, int(np.diff(self._term_start).max()) + 1), np.int64)
        tried, found = np.zeros(count, np.int64), [np.empty((2, 0), np.int64)]
        while done < words.count:
            out = np.empty((2, words.count + count), np.int64)
            done, pairs = fuzzy_terms(
                done, words.start, words.data, int(self._edits.max()), self._longest, own.used, own.table,
                own.shift, own.secret, own.start, own.data, self._list_start, self._lists, self._term_start,
                self._term, self._edits, self._prefix, tried, rows, *out,
            )  # fmt: skip
            found.append(out[:, :pairs])
        word, term = np.concatenate(found, axis=1)
        return word, self._number[term]
