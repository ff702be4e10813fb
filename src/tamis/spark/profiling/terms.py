"""Counts the terms of texts: the events that contain each, and the pairs that occur together.

Counts are kept in maps of bounded size, distributed over buckets by the term, so that workers' maps can be
merged bucket by bucket. Pairs are counted as in lossy counting: of a batch, only pairs with at least half of
the requested share are added. So a pair's count is too low by at most that half, and no pair above one and a
half times the share is missed. If texts are so long that a batch has millions of pairs, this holds for pairs
of the batch's most frequent terms.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from datasketches import frequent_strings_sketch

from tamis.spark.profiling.leaves import Leaf
from tamis.spark.profiling.sketch import map_bits
from tamis.values.analysis import Analyser

Ints = npt.NDArray[np.int64]
BUCKETS = 16
BETWEEN = "\0"  # occurs in no term
_AT_ONCE = 1 << 22  # pairs of a batch that are listed individually
_TOP = 1_024  # terms of a batch whose pairs are counted if there are more
_BLOCK = 4_096  # events multiplied at a time
_KEPT = 1 << 16  # pairs of a batch that are added, the most frequent ones


class Buckets:
    """Counts of strings, limited to about ``most`` of them."""

    def __init__(self, most: int) -> None:
        self._maps = [frequent_strings_sketch(map_bits(-(-most // BUCKETS))) for _ in range(BUCKETS)]

    def add(self, key: str, count: int) -> None:
        """Add ``count`` occurrences of ``key``."""
        self._maps[zlib.crc32(key.encode()) % BUCKETS].update(key, count)

    def freeze(self) -> Iterator[tuple[str, bytes]]:
        """Yield the buckets that are not empty, by number."""
        for number, held in enumerate(self._maps):
            if not held.is_empty():
                yield str(number), held.serialize()


def add_terms(
    leaves: list[Leaf], rows: int, least: float, analyser: Analyser, terms: Buckets, pairs: Buckets
) -> None:
    """Count the terms of one attribute's strings in one batch, and the pairs that occur together."""
    names, owner, code = _term_rows(leaves, analyser)
    if not names:
        return
    attribute = leaves[0].name
    documents = np.bincount(code, minlength=len(names))
    for name, count in zip(names, documents.tolist(), strict=True):
        terms.add(attribute + BETWEEN + name, count)
    enough = max(1.0, least * rows / 2)
    frequent = (documents >= enough)[code]
    found = _pairs(owner[frequent], code[frequent], len(names), enough)
    for one, two, count in zip(*(column.tolist() for column in found), strict=True):
        first, second = sorted((names[one], names[two]))
        pairs.add(BETWEEN.join((attribute, first, second)), count)


def _term_rows(leaves: list[Leaf], analyser: Analyser) -> tuple[list[str], Ints, Ints]:
    """Return the terms that occur, and each (event, term) once, by event and then by term."""
    codes: dict[str, int] = {}
    parts = [_expanded(leaf, codes, analyser) for leaf in leaves if _has_text(leaf)]
    if not codes:
        return [], np.zeros(0, np.int64), np.zeros(0, np.int64)
    owner, code = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    if len(parts) == 1 and bool(np.all(np.diff(next(filter(_has_text, leaves)).owner) > 0)):
        return list(codes), owner, code  # one text per event, whose terms come sorted and once
    both = np.unique(owner * len(codes) + code)
    return list(codes), both // len(codes), both % len(codes)


def _has_text(leaf: Leaf) -> bool:
    return leaf.family == "string"


def _expanded(leaf: Leaf, codes: dict[str, int], analyser: Analyser) -> tuple[Ints, Ints]:
    """Return (event, term) of a leaf; each distinct text is split once."""
    coded = leaf.values.dictionary_encode()
    index = coded.indices.to_numpy(zero_copy_only=False)
    found = [
        sorted(codes.setdefault(term, len(codes)) for term in set(filter(None, analyser.terms(text))))
        for text in coded.dictionary.to_pylist()
    ]
    count = np.array([len(terms) for terms in found], np.int64)
    flat = np.array([code for terms in found for code in terms], np.int64)
    start = np.cumsum(count) - count
    times = count[index]
    place = np.repeat(start[index] - (np.cumsum(times) - times), times) + np.arange(times.sum())
    return np.repeat(leaf.owner, times), flat[place]


def _pairs(owner: Ints, code: Ints, names: int, enough: float) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of codes that occur together in ``enough`` events, and the number of these events."""
    size = np.unique(owner, return_counts=True)[1]
    count = _listed if int((size * (size - 1) // 2).sum()) <= _AT_ONCE else _multiplied
    one, two, together = count(owner, code, names)
    often = np.flatnonzero(together >= enough)
    if len(often) > _KEPT:
        often = often[np.argpartition(-together[often], _KEPT)[:_KEPT]]
    return one[often], two[often], together[often]


def _listed(owner: Ints, code: Ints, names: int) -> tuple[Ints, Ints, Ints]:
    """Return every pair of every event, sorted and counted."""
    found = [np.zeros(0, np.int64)]
    for lag in range(1, int(np.unique(owner, return_counts=True)[1].max(initial=0))):
        together = owner[lag:] == owner[:-lag]
        found.append(code[:-lag][together] * names + code[lag:][together])
    pair, count = np.unique(np.concatenate(found), return_counts=True)
    return pair // names, pair % names, count


def _multiplied(owner: Ints, code: Ints, names: int) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of the most frequent terms, by a matrix product: long texts have too many to list."""
    top = np.sort(np.argsort(-np.bincount(code, minlength=names), kind="stable")[:_TOP])
    slot = np.full(names, -1, np.int64)
    slot[top] = np.arange(len(top))
    chosen = slot[code] >= 0
    row, column = np.unique(owner[chosen], return_inverse=True)[1], slot[code[chosen]]
    total = np.zeros((len(top), len(top)), np.float64)
    for first in range(0, int(row.max(initial=-1)) + 1, _BLOCK):
        low, high = np.searchsorted(row, (first, first + _BLOCK))
        holds = np.zeros((_BLOCK, len(top)), np.float32)
        holds[row[low:high] - first, column[low:high]] = 1.0
        total += holds.T @ holds
    one, two = np.triu_indices(len(top), 1)
    return top[one], top[two], total[one, two].astype(np.int64)
