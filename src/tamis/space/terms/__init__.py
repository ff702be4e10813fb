"""Find the terms and groups of terms of a text that predicates mention."""

from __future__ import annotations

import msgspec
import numpy as np

from tamis.space.terms.checks import Check
from tamis.space.terms.table import TermTable
from tamis.space.terms.texts import TextTable
from tamis.values.terms import has_phrase, read_term
from tamis.values.text import terms_of

LONG = 512  # characters


class Terms:
    """The table of TERM and TEXT: the terms of a text, then any-of, all-of and phrases they may complete."""

    def __init__(self) -> None:
        self._terms: dict[str, int] = {}
        self._checks: dict[str, list[tuple[int, str, tuple[str, ...]]]] = {}
        self._patterns = TermTable()  # of all terms that are not plain words
        self._every: list[Check] = []
        self._texts: TextTable | None = None

    def add_term(self, term: str, dimension: int) -> None:
        """Add a single term with its flag."""
        self._terms[term] = dimension
        self._patterns.add(term)

    def add_check(self, pattern: str, dimension: int) -> None:
        """Add an any-of, all-of or phrase, which is tried when (one of) its trigger terms is seen."""
        mode, terms = msgspec.json.decode(pattern)
        self._every.append((dimension, mode, tuple(terms)))
        triggers = terms if mode == "any" else terms[:1]
        for trigger in set(triggers):
            self._checks.setdefault(trigger, []).append((dimension, mode, tuple(terms)))
        for term in terms:
            self._patterns.add(term)

    def texts(self) -> TextTable:
        """Return the table that finds the same for many texts at once."""
        if self._texts is None:
            self._texts = TextTable(self._terms, self._every, self._patterns)
        return self._texts

    def find(self, text: str) -> list[int]:
        """Return the dimensions of the terms and term groups of ``text``."""
        if len(text) < LONG:
            return self.find_in_short(text)
        raw = np.frombuffer(text.encode(), np.uint8)
        found: list[int] = self.texts().find(np.array([0, len(raw)]), raw)[1].tolist()
        return found

    def find_in_short(self, text: str) -> list[int]:
        """Return the same without kernels, which pay for long texts only."""
        ordered = terms_of(text)
        seen = set(ordered)
        if self._patterns:
            seen.update(*map(self._patterns.of, tuple(seen)))
        known = self._terms
        found = [known[term] for term in seen if term in known]
        if self._checks:
            found.extend(self._checked(ordered, seen))
        return found

    def _checked(self, ordered: list[str], seen: set[str]) -> set[int]:
        found: set[int] = set()
        for trigger in seen & self._checks.keys():
            for dimension, mode, terms in self._checks[trigger]:
                if mode == "any" or (
                    seen.issuperset(terms)
                    and (mode == "all" or has_phrase(ordered, [read_term(term) for term in terms]))
                ):
                    found.add(dimension)
        return found
