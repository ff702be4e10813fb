"""Find the terms and groups of terms of a text that predicates mention."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.space.terms._kernels import find_terms, index_terms
from tamis.space.terms.table import TermTable
from tamis.values.analysis import DEFAULT, Analyser, analyser_of
from tamis.values.terms import as_word, has_phrase, is_close, read_term

Ints = npt.NDArray[np.int64]


class _Pattern(msgspec.Struct, array_like=True):
    """A group of terms; the number is 0 if the mode takes none."""

    mode: Literal["any", "all", "phrase", "slop", "near", "near ordered", "at least"]
    terms: list[str]
    number: int = 0


class TermIndex:
    """All single terms in one hash table, for many ASCII texts at once."""

    def __init__(self, terms: dict[str, int]) -> None:
        plain = [(term.encode(), dimension) for term, dimension in terms.items() if term and term.isascii()]
        self._dimension = np.array([dimension for _, dimension in plain], np.int32)
        self._data = np.frombuffer(b"".join(term for term, _ in plain), np.uint8)
        self._start = np.zeros(len(plain) + 1, np.int64)
        np.cumsum([len(term) for term, _ in plain], out=self._start[1:])
        bits = max(2 * len(plain), 2).bit_length()
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(2 << bits, np.uint64)
        index_terms(self._start, self._data, self._shift, self._table)

    def find(self, start: Ints, text: npt.NDArray[np.uint8]) -> tuple[Ints, npt.NDArray[np.int32]]:
        """Return the row of each distinct term of each text, and its dimension."""
        # A term takes at least a letter and a separator.
        most, longest = (
            int(start[-1] - start[0]) // 2 + len(start),
            int(np.diff(start).max(initial=0)) // 2 + 1,
        )
        row, term = np.empty(most, np.int32), np.empty(most, np.int32)
        keys, ends = np.empty(longest, np.uint64), np.empty(2 * longest, np.int64)
        seen = np.zeros(len(self._dimension), np.int32)
        count = find_terms(
            start, text, self._shift, self._table, self._start, self._data, keys, ends, seen, row, term
        )
        return row[:count].astype(np.int64), self._dimension[term[:count]]


class Terms:
    """The table of TERM and TEXT for one analyser.

    It finds the terms of a text, then the any-of, all-of and phrases that they may complete.
    """

    def __init__(self, analyser: Analyser | None = None) -> None:
        self._analyser = analyser or analyser_of(DEFAULT)
        self._terms: dict[str, int] = {}
        self._checks: dict[str, list[tuple[int, str, tuple[str, ...], tuple[str, ...], int]]] = {}
        self._patterns = TermTable()  # of all terms that are not plain words
        self._index: TermIndex | None = None

    def add_term(self, term: str, dimension: int) -> None:
        """Add a single term with its flag."""
        self._terms[self._key(term)] = dimension

    def _key(self, term: str) -> str:
        """Return the word that satisfies a term, or the written form of a pattern, which is added."""
        word = as_word(term)
        if word is None and term:
            self._patterns.add(term)
        return term if word is None else word

    def add_check(self, pattern: str, dimension: int) -> None:
        """Add a group of terms, which is tried when (one of) its trigger terms is seen.

        The pattern is a JSON list: [mode, terms] of any, all and phrase; [mode, terms, number] of slop, near,
        "near ordered" and "at least".
        """
        mode, terms, number = msgspec.structs.astuple(msgspec.json.decode(pattern, type=_Pattern))
        keys = [self._key(term) for term in terms]
        # Of terms that are needed, the first must be there; of n terms, m are there if one of n - m + 1 is.
        triggers = keys if mode == "any" else keys[: len(keys) - number + 1 if mode == "at least" else 1]
        for trigger in set(triggers):
            self._checks.setdefault(trigger, []).append((dimension, mode, tuple(terms), tuple(keys), number))

    def index(self) -> TermIndex | None:
        """Return an index that finds the words of many texts; ``None`` if there are other terms."""
        if self._index is None and not self._checks and not self._patterns and self._analyser.is_plain:
            self._index = TermIndex(self._terms)
        return self._index

    def find(self, text: str) -> list[int]:
        """Return the dimensions of the terms and term groups of ``text``."""
        ordered = self._analyser.terms(text)
        seen = set(ordered)
        if self._patterns:
            seen.update(*map(self._patterns.of, filter(None, tuple(seen))))
        known = self._terms
        found = [known[term] for term in seen if term in known]
        if self._checks:
            found.extend(self._checked(ordered, seen))
        return found

    def _checked(self, ordered: list[str], seen: set[str]) -> set[int]:
        found: set[int] = set()
        for trigger in seen & self._checks.keys():
            for dimension, mode, terms, keys, number in self._checks[trigger]:
                if dimension not in found and _holds(ordered, seen, mode, terms, keys, number):
                    found.add(dimension)
        return found


def _holds(
    ordered: list[str],
    seen: set[str],
    mode: str,
    terms: tuple[str, ...],
    keys: tuple[str, ...],
    number: int,
) -> bool:
    """Return whether a text with these words satisfies a group.

    ``seen`` has the words and patterns that the text satisfies, the trigger among them; ``keys`` are those of
    the terms.
    """
    if mode == "any":
        return True
    if mode == "at least":
        return sum(map(seen.__contains__, keys)) >= number
    if not seen.issuperset(filter(None, keys)):
        return False
    if mode == "all":
        return True
    read = [read_term(term) for term in terms]
    return has_phrase(ordered, read) if mode == "phrase" else is_close(mode, ordered, read, number)  # type: ignore[arg-type]
