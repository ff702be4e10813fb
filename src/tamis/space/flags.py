"""Find all patterns that a value satisfies in one pass, by the tables of other libraries.

A table is made from the patterns of one attribute and kind, on first use: automata and trees are quick to
rebuild and never stored.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from tamis.expression.views import Flag
from tamis.space.shapes import Shapes
from tamis.space.terms import Terms
from tamis.values.pattern import compiled
from tamis.values.shape import Shape
from tamis.values.text import fold
from tamis.values.value import Point


class StringTable(Protocol):
    """A table that finds the flags of a string."""

    def find(self, text: str) -> list[int]:
        """Return the dimensions whose flag ``text`` sets."""
        ...


class Substrings:
    """The table of CONTAINS, which finds all substrings at once (Aho-Corasick)."""

    def __init__(self, patterns: list[str], dimensions: list[int], folded: bool) -> None:
        import ahocorasick_rs

        self._folded = folded
        # The empty pattern is contained in everything; automata leave it out.
        self._always = [d for p, d in zip(patterns, dimensions, strict=True) if not p]
        self._dimensions = [d for p, d in zip(patterns, dimensions, strict=True) if p]
        words = [p for p in patterns if p]
        self._automaton = ahocorasick_rs.AhoCorasick(words) if words else None

    def find(self, text: str) -> list[int]:
        """Return the dimensions of all substrings of ``text``."""
        if self._automaton is None:
            return self._always
        subject = fold(text) if self._folded else text
        found = {hit[0] for hit in self._automaton.find_matches_as_indexes(subject, overlapping=True)}
        return self._always + [self._dimensions[at] for at in found]


class Patterns:
    """The table of REGEX, which finds all patterns at once (RE2 sets).

    A set that outgrows its memory answers "none found". Sets are therefore filled by program size, so that
    each holds hundreds of automaton states of the largest possible size.
    """

    PROGRAM = 50_000
    MEMORY = 64 << 20

    def __init__(self, patterns: list[str], dimensions: list[int], folded: bool) -> None:
        self._folded = folded
        self._sets: list[tuple[Any, list[int]]] = []
        room = 0
        for pattern, dimension in zip(patterns, dimensions, strict=True):
            size = compiled(pattern).programsize
            if size > room:
                self._sets.append((self._new_set(), []))
                room = self.PROGRAM
            room -= size
            current, members = self._sets[-1]
            current.Add(pattern)
            members.append(dimension)
        for current, _ in self._sets:
            current.Compile()

    def _new_set(self) -> Any:
        import re2

        options = re2.Options()
        options.log_errors = False
        options.max_mem = self.MEMORY
        return re2.Set.SearchSet(options)

    def find(self, text: str) -> list[int]:
        """Return the dimensions of all patterns found in ``text``."""
        subject = fold(text) if self._folded else text
        return [members[at] for patterns, members in self._sets for at in patterns.Match(subject) or ()]


def string_tables(rows: list[tuple[Flag, str, int]]) -> list[StringTable]:
    """Return the tables that find these (kind, pattern, dimension) flags in strings."""
    tables: list[StringTable] = []
    for kind in (Flag.CONTAINS, Flag.FOLDED_CONTAINS, Flag.REGEX, Flag.FOLDED_REGEX):
        chosen = [(pattern, dimension) for flag, pattern, dimension in rows if flag == kind]
        if chosen:
            maker: Any = Substrings if kind in (Flag.CONTAINS, Flag.FOLDED_CONTAINS) else Patterns
            folded = kind in (Flag.FOLDED_CONTAINS, Flag.FOLDED_REGEX)
            tables.append(maker([p for p, _ in chosen], [d for _, d in chosen], folded))
    terms = Terms()
    for flag, pattern, dimension in rows:
        if flag == Flag.TERM:
            terms.add_term(pattern, dimension)
        elif flag == Flag.TEXT:
            terms.add_check(pattern, dimension)
    return [*tables, terms] if any(flag in (Flag.TERM, Flag.TEXT) for flag, _, _ in rows) else tables


def shape_table(rows: list[tuple[Flag, str, int]]) -> Shapes:
    """Return the table that finds these flags for points."""
    shapes = [(msgspec.json.decode(p, type=Shape), d) for flag, p, d in rows if flag == Flag.SHAPE]
    points = [(msgspec.json.decode(p, type=Point), d) for flag, p, d in rows if flag == Flag.POINT]
    return Shapes(shapes, points)
