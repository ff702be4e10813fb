"""Find all patterns that a value satisfies in one pass, by the tables of other libraries.

A table is made from the patterns of one attribute and kind, on first use: automata and trees are quick to
rebuild and never stored.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from tamis.expression.views import USING, Flag
from tamis.space.automata import Expressions, PatternGroups, Substrings
from tamis.space.shapes import Shapes
from tamis.space.terms import Terms
from tamis.values.analysis import DEFAULT, analyser_of
from tamis.values.shape import Shape
from tamis.values.value import Point


class StringTable(Protocol):
    """A table that finds the flags of a string."""

    def find(self, text: str) -> list[int]:
        """Return the dimensions whose flag ``text`` sets."""
        ...


def string_tables(rows: list[tuple[Flag, str, int]]) -> list[StringTable]:
    """Return the tables that find these (kind, pattern, dimension) flags in strings."""
    tables: list[StringTable] = []
    for kind in (Flag.CONTAINS, Flag.FOLDED_CONTAINS, Flag.REGEX, Flag.FOLDED_REGEX):
        chosen = [(pattern, dimension) for flag, pattern, dimension in rows if flag == kind]
        if chosen:
            maker: Any = Substrings if kind in (Flag.CONTAINS, Flag.FOLDED_CONTAINS) else Expressions
            folded = kind in (Flag.FOLDED_CONTAINS, Flag.FOLDED_REGEX)
            tables.append(maker([p for p, _ in chosen], [d for _, d in chosen], folded))
    for folded in (False, True):
        groups = [(pattern, dimension) for flag, pattern, dimension in rows if flag == Flag.LIKES]
        found = PatternGroups(groups, folded)
        if found:
            tables.append(found)
    terms: dict[str, Terms] = {}
    for flag, pattern, dimension in rows:
        if flag in (Flag.TERM, Flag.TEXT):
            analyser, _, wanted = pattern.rpartition(USING)
            table = terms.get(analyser) or terms.setdefault(analyser, Terms(analyser_of(analyser or DEFAULT)))
            (table.add_term if flag == Flag.TERM else table.add_check)(wanted, dimension)
    plain = terms.pop("", None)
    return [*tables, *terms.values(), *([] if plain is None else [plain])]  # plain terms last: see locate.py


def shape_table(rows: list[tuple[Flag, str, int]]) -> Shapes:
    """Return the table that finds these flags for points."""
    shapes = [(msgspec.json.decode(p, type=Shape), d) for flag, p, d in rows if flag == Flag.SHAPE]
    points = [(msgspec.json.decode(p, type=Point), d) for flag, p, d in rows if flag == Flag.POINT]
    return Shapes(shapes, points)
