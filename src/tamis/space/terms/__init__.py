"""Find the terms and groups of terms of a text that predicates mention."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from tamis.space.terms.analysed import AnalysedTable
from tamis.space.terms.confirmed import ConfirmedTable, Group, Table
from tamis.space.terms.table import TermTable
from tamis.space.terms.texts import TextTable
from tamis.values.analysis import DEFAULT, Analyser, analyser_of
from tamis.values.terms import as_word, has_phrase, is_close, read_term

LONG = 512  # characters


class _Pattern(msgspec.Struct, array_like=True):
    """A group of terms; the number is 0 if the mode takes none."""

    mode: Literal["any", "all", "phrase", "slop", "near", "near ordered", "at least"]
    terms: list[str]
    number: int = 0


class Terms:
    """The table of TERM and TEXT for one analyser.

    It finds the terms of a text, then the groups of terms that they may complete.
    """

    def __init__(self, analyser: Analyser | None = None) -> None:
        self._analyser = analyser or analyser_of(DEFAULT)
        self._terms: dict[str, int] = {}
        self._groups: list[Group] = []
        self._triggered: dict[str, list[Group]] = {}  # the groups by the terms of which one must be there
        self._patterns = TermTable()  # of all terms that are not plain words
        self._texts: Table | None = None

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
        """Add a group of terms.

        The pattern is a JSON list: [mode, terms] of any, all and phrase; [mode, terms, number] of slop, near,
        "near ordered" and "at least".
        """
        mode, terms, number = msgspec.structs.astuple(msgspec.json.decode(pattern, type=_Pattern))
        group = Group(dimension, mode, tuple(terms), tuple(map(self._key, terms)), number)
        self._groups.append(group)
        for trigger in set(group.triggers):
            self._triggered.setdefault(trigger, []).append(group)

    def texts(self) -> Table | None:
        """Return the table that finds the same for many texts at once; ``None`` if Python must read them."""
        if self._texts is None and self._analyser.has_runs:
            self._texts = self._text_table()
        return self._texts

    def _text_table(self) -> Table:
        simple = [(group.flag, group.mode, group.keys) for group in self._groups if group.is_simple]
        others = [group for group in self._groups if not group.is_simple]
        first = max([*self._terms.values(), *(group.flag for group in self._groups)]) + 1
        checks = simple + [group.necessary(first + at) for at, group in enumerate(others)]
        table: Any = TextTable if self._analyser.is_plain else AnalysedTable
        more = () if self._analyser.is_plain else (self._analyser,)
        found: Table = table(self._terms, checks, self._patterns, *more)
        return ConfirmedTable(found, others, first, self._confirmed) if others else found

    def _confirmed(self, text: str, groups: list[Group]) -> list[bool]:
        """Return for each group whether a text satisfies it."""
        ordered = self._analyser.terms(text)
        seen = self._seen(ordered)
        return [_holds(ordered, seen, group) for group in groups]

    def find(self, text: str) -> list[int]:
        """Return the dimensions of the terms and term groups of ``text``."""
        texts = self.texts() if len(text) >= LONG else None
        if texts is None:
            return self.find_in_short(text)
        raw = np.frombuffer(text.encode(), np.uint8)
        found: list[int] = texts.find(np.array([0, len(raw)]), raw)[1].tolist()
        return found

    def find_in_short(self, text: str) -> list[int]:
        """Return the same without kernels, which pay for long texts only."""
        ordered = self._analyser.terms(text)
        seen = self._seen(ordered)
        known = self._terms
        found = [known[term] for term in seen if term in known]
        if self._triggered:
            found.extend(self._checked(ordered, seen))
        return found

    def _seen(self, ordered: list[str]) -> set[str]:
        """Return the distinct words, and the written forms of the patterns that they satisfy."""
        seen = set(ordered)
        if self._patterns:
            seen.update(*map(self._patterns.of, filter(None, tuple(seen))))
        return seen

    def _checked(self, ordered: list[str], seen: set[str]) -> set[int]:
        found: set[int] = set()
        for trigger in seen & self._triggered.keys():
            for group in self._triggered[trigger]:
                if group.flag not in found and _holds(ordered, seen, group):
                    found.add(group.flag)
        return found


def _holds(ordered: list[str], seen: set[str], group: Group) -> bool:
    """Return whether a text with these words satisfies a group; one of its triggers is ``seen``."""
    mode, keys = group.mode, group.keys
    if mode == "any":
        return True
    if mode == "at least":
        return sum(map(seen.__contains__, keys)) >= group.number
    if not seen.issuperset(filter(None, keys)):
        return False
    if mode == "all":
        return True
    read = [read_term(term) for term in group.terms]
    return has_phrase(ordered, read) if mode == "phrase" else is_close(mode, ordered, read, group.number)  # type: ignore[arg-type]
