"""Find all substrings and all patterns of a string at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from tamis.values.pattern import Wild, compiled
from tamis.values.pieces import in_order, like_parts, required_pieces
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
    """A table that finds all regular expressions at once (RE2 sets).

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


Confirm = Callable[[str], bool]


class Expressions:
    """The table of REGEX: LIKE with inner wildcards, and RLIKE.

    A pattern is tried on the strings that hold its *key*, one of its literal pieces. A string is searched for
    all keys at once. Pieces in order confirm a LIKE without ``_``, RE2 confirms any other pattern. Patterns
    without a good key are in RE2 sets.
    """

    SHARED = 64  # the most patterns that RE2 tries one by one on strings that hold their key
    SHORT = 2  # characters of the key of an expression that RE2 tries alone

    def __init__(self, patterns: list[str], dimensions: list[int], folded: bool) -> None:
        self._folded = folded
        read = [_read(pattern) for pattern in patterns]
        use = Counter(piece for pieces, _ in read for piece in set(pieces))
        keys = [min(pieces, key=lambda p: (use[p], -len(p)), default="") for pieces, _ in read]
        shared = Counter(keys)
        tried: dict[str, list[tuple[Confirm | str, int]]] = {}
        rest: list[tuple[str, int]] = []
        for pattern, dimension, key, (_, ordered) in zip(patterns, dimensions, keys, read, strict=True):
            if ordered is not None:
                tried.setdefault(key, []).append((ordered, dimension))
            elif len(key) >= self.SHORT and shared[key] <= self.SHARED:
                tried.setdefault(key, []).append((pattern, dimension))
            else:
                rest.append((pattern, dimension))
        self._keys = Substrings(list(tried), list(range(len(tried))), folded=False)
        self._lists = list(tried.values())
        self._sets = Patterns([p for p, _ in rest], [d for _, d in rest], folded=False)

    def find(self, text: str) -> list[int]:
        """Return the dimensions of all patterns found in ``text``."""
        subject = fold(text) if self._folded else text
        found = self._sets.find(subject)
        for at in self._keys.find(subject):
            found += [dimension for confirm, dimension in self._lists[at] if _holds(confirm, subject)]
        return found


def _read(pattern: str) -> tuple[list[str], Confirm | None]:
    """Return the pieces that a pattern needs, and a test in Python if there is a sure one."""
    parts = like_parts(pattern)
    if parts is None:
        return required_pieces(pattern), None
    pieces = [part for part in parts if isinstance(part, str)]
    if Wild.ONE in parts or not pieces:
        return pieces, None
    return pieces, lambda subject: in_order(parts, subject)


def _holds(confirm: Confirm | str, subject: str) -> bool:
    return compiled(confirm).search(subject) is not None if isinstance(confirm, str) else confirm(subject)


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
        self._patterns = Expressions(list(number), list(range(len(number))), folded)

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
