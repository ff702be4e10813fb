"""Find the terms and groups of terms of a text that predicates mention."""

from __future__ import annotations

from typing import Literal

import msgspec

from tamis.space.terms.checks import Check
from tamis.space.terms.table import TermTable
from tamis.space.terms.texts import TextTable
from tamis.values.analysis import DEFAULT, Analyser, analyser_of
from tamis.values.terms import as_word, has_phrase, is_close, read_term

_SIMPLE = frozenset(("any", "all", "phrase"))  # the modes that kernels decide


class _Pattern(msgspec.Struct, array_like=True):
    """A group of terms; the number is 0 if the mode takes none."""

    mode: Literal["any", "all", "phrase", "slop", "near", "near ordered", "at least"]
    terms: list[str]
    number: int = 0


class Terms:
    """The table of TERM and TEXT for one analyser.

    It finds the terms of a text, then the any-of, all-of and phrases that they may complete.
    """

    def __init__(self, analyser: Analyser | None = None) -> None:
        self._analyser = analyser or analyser_of(DEFAULT)
        self._terms: dict[str, int] = {}
        self._checks: dict[str, list[tuple[int, str, tuple[str, ...], tuple[str, ...], int]]] = {}
        self._patterns = TermTable()  # of all terms that are not plain words
        self._every: list[Check] = []
        self._texts: TextTable | None = None

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
        self._every.append((dimension, mode, tuple(keys)))
        # Of terms that are needed, the first must be there; of n terms, m are there if one of n - m + 1 is.
        triggers = keys if mode == "any" else keys[: len(keys) - number + 1 if mode == "at least" else 1]
        for trigger in set(triggers):
            self._checks.setdefault(trigger, []).append((dimension, mode, tuple(terms), tuple(keys), number))

    def texts(self) -> TextTable | None:
        """Return the table that finds the same for many texts at once; ``None`` if Python must read them."""
        if self._texts is None and self._analyser.is_plain and all(one[1] in _SIMPLE for one in self._every):
            self._texts = TextTable(self._terms, self._every, self._patterns)
        return self._texts

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
