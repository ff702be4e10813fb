"""Find the terms of many words at once: wildcards, edits, expressions and ranges."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tamis.columns.literals import StringColumn
from tamis.space.automata import Expressions, Patterns
from tamis.space.terms.affixes import Affixes
from tamis.space.terms.fuzzy import FuzzyWords
from tamis.space.terms.joined import Lines, line_pattern
from tamis.values.terms import Range, Wildcard, read_term

if TYPE_CHECKING:
    from tamis.space.terms.table import TermTable

Ints = npt.NDArray[np.int64]
Numbered = tuple[Expressions | Patterns, list[int]]  # expressions of terms, and the numbers of these


class ManyWords:
    """The terms of a :class:`TermTable` that is complete, by number, for many words at once."""

    def __init__(self, table: TermTable) -> None:
        self.terms = sorted(table.added)
        number = {text: at for at, text in enumerate(self.terms)}
        self._kernels: list[Any] = []
        for affixes, backwards in ((table.prefixes, False), (table.suffixes, True)):
            if affixes:
                chosen = {affix: number[text] for affix, text in affixes.items()}
                self._kernels.append(Affixes(chosen, backwards=backwards))
        if table.fuzzy:
            self._kernels.append(FuzzyWords(table.fuzzy, table.longest, number))
        self._of, self._fuzzy, self._pieces = table.fuzzy_terms, bool(table.fuzzy), table.pieces
        self._number = number
        read = [(read_term(text), number[text]) for _, text in table.regexes]
        self._wildcards = _numbered(Expressions, [one for one in read if isinstance(one[0], Wildcard)])
        read = [one for one in read if not isinstance(one[0], Wildcard)]
        lines = [line_pattern(term) for term, _ in read]  # type: ignore[arg-type]
        self._easy = _numbered(Patterns, [one for one, line in zip(read, lines, strict=True) if line])
        self._hard = _numbered(Patterns, [one for one, line in zip(read, lines, strict=True) if not line])
        self._lines = Lines([line for line in lines if line is not None]) if self._easy[1] else None
        others = [(term, number[text]) for text, term in table.others]
        self._ranges = [(term, at) for term, at in others if isinstance(term, Range)]
        self._others = [(term, at) for term, at in others if not isinstance(term, Range)]

    def of(self, words: StringColumn) -> tuple[Ints, Ints]:
        """Return the place of each word that satisfies a term, in order, and the number of the term."""
        found = [kernel.of(words) for kernel in self._kernels]
        found.append(_arrays(self._found(words)))
        word, term = (np.concatenate([part[side] for part in found]) for side in (0, 1))
        code = np.unique(word * len(self.terms) + term)
        return code // len(self.terms), code % len(self.terms)

    def _found(self, words: StringColumn) -> Iterator[tuple[int, int]]:
        raw = words.data.tobytes()
        if self._fuzzy and not raw.isascii():
            for at in range(words.count):
                word = words.raw(at)
                if not word.isascii():
                    yield from ((at, self._number[text]) for text in self._of(word.decode()))
        hard = self._wildcards[1] or self._hard[1]
        if not (self._lines or hard or self._ranges or self._others or self._pieces):
            return
        split = [raw[low:high] for low, high in pairwise(words.start.tolist())]
        for at, word in enumerate(split) if self._pieces else ():
            yield from ((at, self._number[text]) for text in self._pieces.find(word.decode()))
        if self._lines is not None:
            yield from _matched(self._easy, split, self._lines.candidates(split))
        for numbered in (self._wildcards, self._hard) if hard else ():
            yield from _matched(numbered, split, range(len(split)))
        if self._ranges:  # UTF-8 has the order of its characters
            order = sorted(range(len(split)), key=split.__getitem__)
            ordered = [split[at] for at in order]
            for term, number in self._ranges:
                yield from ((at, number) for at in order[_slice(ordered, term)])
        for term, number in self._others:
            yield from ((at, number) for at, word in enumerate(split) if term.matches(word.decode()))


def _arrays(pairs: Iterator[tuple[int, int]]) -> tuple[Ints, Ints]:
    flat = np.array(list(pairs), np.int64).reshape(-1, 2)
    return flat[:, 0], flat[:, 1]


def _numbered(kind: type[Expressions | Patterns], terms: list[tuple[Any, int]]) -> Numbered:
    found = kind([term.regex for term, _ in terms], list(range(len(terms))), False)
    return found, [at for _, at in terms]


def _matched(numbered: Numbered, words: list[bytes], places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the expressions that the words in some places match."""
    patterns, numbers = numbered
    for at in places:
        yield from ((at, numbers[found]) for found in patterns.find(words[at].decode()))


def _slice(words: list[bytes], term: Range) -> slice:
    """Return the sorted words that lie in a range."""
    low = 0
    if term.low is not None:
        low = (bisect_right if term.low_open else bisect_left)(words, term.low.encode())
    if term.high is None:
        return slice(low, None)
    return slice(low, (bisect_left if term.high_open else bisect_right)(words, term.high.encode()))
