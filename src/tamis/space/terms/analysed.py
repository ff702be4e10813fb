"""Find the flags of many texts whose analyser does more than fold letters.

Kernels cut texts into runs of characters. Python asks the analyser for the terms of each distinct run, once.
A text then becomes the numbers of its terms, one for each position, -1 for a word that is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.groups import places_of
from tamis.columns.literals import StringColumn, string_column
from tamis.space.terms.checks import Check
from tamis.space.terms.table import TermTable
from tamis.space.terms.texts import MOST_BYTES, MOST_LISTED, MOST_WORDS, Known, Small, TextTable
from tamis.space.terms.vocabulary import Ints, Tokens, Words, no_words
from tamis.values.analysis import GAP, Analyser


class Runs(NamedTuple):
    """Known runs: run ``n`` has the terms ``term[start[n]:start[n + 1]]``, whose codes are in ``known``.

    A writer makes new arrays, so a reader of these never sees a change.
    """

    words: Words
    start: Ints
    term: Small
    known: Known


class AnalysedTable(TextTable):
    """The terms and checks of one analyser, for many texts at once; many threads may use it."""

    def __init__(
        self, terms: dict[str, int], checks: list[Check], patterns: TermTable, analyser: Analyser
    ) -> None:
        super().__init__(terms, checks, patterns, analyser.letters_of)
        self._analyser = analyser
        self._numbers: dict[str, int] = {GAP: -1}
        self._runs = self._no_runs()

    def _no_runs(self) -> Runs:
        self._numbers = {GAP: -1}
        return Runs(no_words(), np.zeros(1, np.int64), np.zeros(0, np.int32), self._empty())

    def _read(self, start: Ints, text: npt.NDArray[np.uint8]) -> tuple[Tokens, Known]:
        """Return the terms of texts, and their codes."""
        while True:
            runs = self._runs
            tokens = runs.words.read(start, text, self._characters, keep=True)
            if len(tokens.unknown):
                with self._lock:
                    if self._runs.words.secret != runs.words.secret:
                        continue  # the vocabulary has started anew
                    tokens.word[tokens.unknown], runs = self._learn_runs(tokens.others)
            return _terms_of(tokens, runs), runs.known

    def _learn_runs(self, others: StringColumn) -> tuple[Small, Runs]:
        """Add runs to the vocabulary; return their numbers, and the vocabulary."""
        before = self._runs
        words, numbers = before.words.add(others)
        pieces = [self._analyser.pieces(run) for run in words.column(before.words.used).to_list()]
        known, number = before.known, self._numbers
        fresh = [term for term in dict.fromkeys(p[0] for own in pieces for p in own) if term not in number]
        if fresh:
            first = len(number) - 1  # the gap has no number of its own
            number.update(zip(fresh, range(first, first + len(fresh)), strict=True))
            column = string_column(fresh)
            code = np.concatenate([known.code, self._plain_codes(column)])
            known = self._with_lists(known._replace(code=code), column, first)
        count = np.cumsum([len(own) for own in pieces])
        terms = [number[term] for own in pieces for term, _, _ in own]
        runs = Runs(
            words,
            np.concatenate([before.start, before.start[-1] + count]).astype(np.int64),
            np.concatenate([before.term, terms]).astype(np.int32),
            known,
        )
        full = words.used > MOST_WORDS or words.bytes > MOST_BYTES or known.used > MOST_LISTED
        self._runs = self._no_runs() if full else runs
        return numbers, runs


def _terms_of(tokens: Tokens, runs: Runs) -> Tokens:
    """Return the numbers of the terms instead of those of the runs."""
    begin, count = runs.start[tokens.word], runs.start[tokens.word + 1] - runs.start[tokens.word]
    ends = np.concatenate([[0], np.cumsum(count)])
    return Tokens(ends[tokens.start], runs.term[places_of(begin, count)], tokens.unknown[:0], tokens.others)
