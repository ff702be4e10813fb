"""Lay out the flags of words, phrases and all-of checks as arrays for kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.space.terms.checks._kernels import enter_pairs

Small = npt.NDArray[np.int32]
Check = tuple[int, str, tuple[str, ...]]  # a flag, a mode and terms

EMPTY = -1  # the code of a word that sets no flag: ``lists`` begins with two counts of 0


class Checks(NamedTuple):
    """Phrases and all-of checks; ``_kernels.py`` explains slots and pairs.

    Phrase ``p`` has the slots ``phrase_slot[phrase_start[p]:phrase_start[p + 1]]``. It is tried where its
    pair stands, ``offset[p]`` words behind its beginning. An all-of check is tried if its trigger is seen.
    """

    pairs: npt.NDArray[np.uint64]
    pair_start: Small
    pair_phrase: Small
    offset: Small
    phrase_start: Small
    phrase_slot: Small
    phrase_flag: Small
    trigger_start: Small
    trigger: Small
    all_start: Small
    all_slot: Small
    all_flag: Small


def grouped(key: Iterable[int], groups: int) -> tuple[Small, Small]:
    """Return the members of each group, given the group of each: begin of each group, members."""
    group = np.fromiter(key, np.int64)
    start = np.zeros(groups + 1, np.int32)
    np.cumsum(np.bincount(group, minlength=groups), out=start[1:])
    return start, np.argsort(group, kind="stable").astype(np.int32)


def lay_out(checks: list[Check], slots: dict[str, int]) -> Checks:
    """Return the arrays of phrases and all-of checks, given the slots of their terms."""
    phrases = [(flag, [slots[term] for term in terms]) for flag, mode, terms in checks if mode == "phrase"]
    others = [(flag, [slots[term] for term in terms]) for flag, mode, terms in checks if mode == "all"]
    use = Counter(slot for _, own in phrases + others for slot in own)
    pair_use = Counter(pair for _, own in phrases for pair in pairwise(own))
    # The rarest neighbours find a phrase, and the rarest term an all-of check.
    rarest = [min(pairwise(own), key=lambda p: (pair_use[p], use[p[0]] + use[p[1]])) for _, own in phrases]
    offset = [list(pairwise(own)).index(pair) for (_, own), pair in zip(phrases, rarest, strict=True)]
    number = {pair: at for at, pair in enumerate(dict.fromkeys(rarest))}
    key = np.array([one << 32 | two for one, two in number], np.uint64)
    pairs = np.zeros(4 << len(number).bit_length(), np.uint64)
    enter_pairs(key, pairs)
    trigger = [min(own, key=use.__getitem__) for _, own in others]
    return Checks(
        pairs,
        *grouped(map(number.__getitem__, rarest), len(number)),
        np.array(offset, np.int32),
        *_flat(phrases),
        *grouped(trigger, len(slots)),
        *_flat(others),
    )


def _flat(checks: list[tuple[int, list[int]]]) -> tuple[Small, Small, Small]:
    start = np.zeros(len(checks) + 1, np.int32)
    np.cumsum([len(own) for _, own in checks], out=start[1:])
    slot = np.array([slot for _, own in checks for slot in own], np.int32)
    return start, slot, np.array([flag for flag, _ in checks], np.int32)


class Lists:
    """The lists of flags and slots of terms, end to end."""

    def __init__(self) -> None:
        self._rows: list[int] = [0, 0]  # the empty list

    def code(self, flags: list[int], slots: list[int]) -> int:
        """Return the code of a new list of flags and slots."""
        first = len(self._rows)
        self._rows += [len(flags), *flags, len(slots), *slots]
        return ~first

    def array(self) -> Small:
        """Return all lists."""
        return np.array(self._rows, np.int32)
