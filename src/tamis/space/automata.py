"""Find all substrings and all regular expressions of a string at once."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tamis.values.pattern import compiled
from tamis.values.text import fold


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


class _Group(msgspec.Struct, array_like=True):
    """Patterns of which any, or all, must be found."""

    mode: Literal["any", "all"]
    folded: bool
    regexes: list[str]


class PatternGroups:
    """The table of LIKES, which finds groups of patterns; each distinct pattern is tried once."""

    def __init__(self, groups: list[tuple[str, int]], folded: bool) -> None:
        read = [(msgspec.json.decode(pattern, type=_Group), dimension) for pattern, dimension in groups]
        chosen = [(group, dimension) for group, dimension in read if group.folded == folded]
        number: dict[str, int] = {}
        self._members: list[tuple[frozenset[int], bool, int]] = [
            (
                frozenset(number.setdefault(regex, len(number)) for regex in group.regexes),
                group.mode == "all",
                dimension,
            )
            for group, dimension in chosen
        ]
        self._patterns = Patterns(list(number), list(range(len(number))), folded)

    def __bool__(self) -> bool:
        return bool(self._members)

    def find(self, text: str) -> list[int]:
        """Return the dimensions of all groups that ``text`` satisfies."""
        found = frozenset(self._patterns.find(text))
        return [
            dimension
            for members, every, dimension in self._members
            if (members <= found if every else not members.isdisjoint(found))
        ]
