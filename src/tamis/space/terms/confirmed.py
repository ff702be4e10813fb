"""Find groups of terms that kernels cannot decide: a kernel finds candidates, and Python confirms them.

A text is a candidate for a phrase with gaps, a sloppy phrase or NEAR if it holds all terms, and for AT LEAST
if it holds one of the terms of which one must be there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tamis.space.terms.checks import Check
from tamis.space.terms.vocabulary import Ints

Small = npt.NDArray[np.int32]
SIMPLE = frozenset(("any", "all", "phrase"))  # the modes that kernels decide


class Group(NamedTuple):
    """A group of terms: its flag, mode, terms, their keys in the table, and the number of the mode."""

    flag: int
    mode: str
    terms: tuple[str, ...]
    keys: tuple[str, ...]
    number: int

    @property
    def is_simple(self) -> bool:
        """Whether a kernel decides the group."""
        return self.mode in SIMPLE and "" not in self.keys

    @property
    def triggers(self) -> tuple[str, ...]:
        """The keys of which one must be there: of n terms, m are there only if one of n - m + 1 is."""
        if self.mode == "any":
            return self.keys
        return self.keys[: len(self.keys) - self.number + 1 if self.mode == "at least" else 1]

    def necessary(self, flag: int) -> Check:
        """Return a check that a kernel decides, and that every text with this group satisfies."""
        if self.mode == "at least":
            return flag, "any", self.triggers
        keys = tuple(dict.fromkeys(filter(None, self.keys)))
        return flag, "all" if len(keys) > 1 else "any", keys


class Table(Protocol):
    """A table that finds the flags of many texts."""

    def find(self, start: Ints, text: npt.NDArray[np.uint8]) -> tuple[Ints, Small]:
        """Return how many flags each text sets, and the flags of all texts in turn."""
        ...


Confirm = Callable[[str, list[Group]], list[bool]]


class ConfirmedTable:
    """A table in which the flags from ``first`` on stand for groups that ``confirm`` decides."""

    def __init__(self, table: Table, groups: list[Group], first: int, confirm: Confirm) -> None:
        self._table, self._groups, self._first, self._confirm = table, groups, first, confirm
        self._flag = np.array([group.flag for group in groups], np.int32)

    def find(self, start: Ints, text: npt.NDArray[np.uint8]) -> tuple[Ints, Small]:
        """Return how many flags each text sets, and the flags of all texts in turn."""
        count, flags = self._table.find(start, text)
        doubtful = np.flatnonzero(flags >= self._first)
        if not len(doubtful):
            return count, flags
        row, keep = np.repeat(np.arange(len(count)), count), flags < self._first
        flags = flags.copy()
        for places in np.split(doubtful, np.flatnonzero(np.diff(row[doubtful])) + 1):
            at = row[places[0]]
            groups = (flags[places] - self._first).tolist()
            written = text[start[at] : start[at + 1]].tobytes().decode()
            keep[places] = self._confirm(written, [self._groups[group] for group in groups])
            flags[places] = self._flag[groups]
        return np.bincount(row[keep], minlength=len(count)), flags[keep]
