"""Find the flags of the terms in a text, for the terms of one analyser on one attribute of the head."""

from __future__ import annotations

from collections.abc import Iterable

from tamis.space.terms.table import TermTable
from tamis.values.analysis import DEFAULT, analyser_of
from tamis.values.terms import as_word


class HeadTerms:
    """The terms that predicates ask for, each with its flags. One writer adds while others look texts up."""

    def __init__(self, analyser: str) -> None:
        self._analyser = analyser_of(analyser or DEFAULT)
        self._flags: dict[str, tuple[int, ...]] = {}  # by word, or by the written form of a pattern
        self._patterns = TermTable()

    def add(self, terms: Iterable[str], flag: int) -> int:
        """Set ``flag`` for texts with one of the terms; return how many are new and tried on every word."""
        before = self._patterns.tried
        for term in terms:
            word = as_word(term)
            key = term if word is None else word
            self._flags[key] = (*self._flags.get(key, ()), flag)
            if word is None:
                self._patterns.add(term)
        return self._patterns.tried - before

    def find(self, text: str) -> set[int]:
        """Return the flags of a text."""
        found: set[int] = set()
        for word in set(self._analyser.terms(text)):
            found.update(self._flags.get(word, ()))
            if self._patterns and word:
                for term in self._patterns.of(word):
                    found.update(self._flags.get(term, ()))
        return found
