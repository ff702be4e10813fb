"""Terms of texts: in how many events each stands, and which often stand together.

Counts are kept in maps of bounded size, spread over buckets by the term, so that workers' maps can be merged
bucket by bucket. Pairs are counted as in lossy counting: of a batch only the pairs are entered that at least
half of the share asked for has, so a pair's count is at most that half too low, and no pair over one and a
half times the share is missed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from datasketches import frequent_strings_sketch

from tamis.model.text import terms_of
from tamis.spark.profile.leaves import Leaf
from tamis.spark.profile.sketch import map_bits

Ints = npt.NDArray[np.int64]
BUCKETS = 16
BETWEEN = "\0"  # stands in no term
_AT_ONCE = 1 << 22  # pairs that are sorted together


class Buckets:
    """Counts of strings, at most about so many of them."""

    def __init__(self, most: int) -> None:
        self._maps = [frequent_strings_sketch(map_bits(-(-most // BUCKETS))) for _ in range(BUCKETS)]

    def add(self, key: str, count: int) -> None:
        """``key`` occurred ``count`` times."""
        self._maps[zlib.crc32(key.encode()) % BUCKETS].update(key, count)

    def freeze(self) -> Iterator[tuple[str, bytes]]:
        """Buckets that hold anything, by number."""
        for number, held in enumerate(self._maps):
            if not held.is_empty():
                yield str(number), held.serialize()


def add_terms(leaves: list[Leaf], rows: int, least: float, terms: Buckets, pairs: Buckets) -> None:
    """Count the terms of one attribute's strings in one batch, and the pairs that stand together."""
    names, owner, code = _term_rows(leaves)
    if not names:
        return
    attribute = leaves[0].name
    documents = np.bincount(code, minlength=len(names))
    for name, count in zip(names, documents.tolist(), strict=True):
        terms.add(attribute + BETWEEN + name, count)
    enough = max(1.0, least * rows / 2)
    frequent = (documents >= enough)[code]
    for one, two, count in _pairs(owner[frequent], code[frequent], len(names), enough):
        first, second = sorted((names[one], names[two]))
        pairs.add(BETWEEN.join((attribute, first, second)), count)


def _term_rows(leaves: list[Leaf]) -> tuple[list[str], Ints, Ints]:
    """The terms that occur, and each (event, term) once, by event and then by term."""
    codes: dict[str, int] = {}
    parts = [_expanded(leaf, codes) for leaf in leaves if leaf.family == "string"]
    if not codes:
        return [], np.zeros(0, np.int64), np.zeros(0, np.int64)
    owner = np.concatenate([part[0] for part in parts])
    code = np.concatenate([part[1] for part in parts])
    both = np.unique(owner * len(codes) + code)
    return list(codes), both // len(codes), both % len(codes)


def _expanded(leaf: Leaf, codes: dict[str, int]) -> tuple[Ints, Ints]:
    """Each distinct text is taken apart once."""
    coded = leaf.values.dictionary_encode()
    index = coded.indices.to_numpy(zero_copy_only=False)
    found = [
        [codes.setdefault(term, len(codes)) for term in set(terms_of(text))]
        for text in coded.dictionary.to_pylist()
    ]
    count = np.array([len(terms) for terms in found], np.int64)
    flat = np.array([code for terms in found for code in terms], np.int64)
    start = np.cumsum(count) - count
    times = count[index]
    place = np.repeat(start[index] - (np.cumsum(times) - times), times) + np.arange(times.sum())
    return np.repeat(leaf.owner, times), flat[place]


def _pairs(owner: Ints, code: Ints, names: int, enough: float) -> Iterator[tuple[int, int, int]]:
    """The pairs of codes that stand in ``enough`` events together."""
    waiting: list[Ints] = []
    size, known, counts = 0, np.zeros(0, np.int64), np.zeros(0, np.int64)
    for lag in range(1, int(np.unique(owner, return_counts=True)[1].max(initial=0))):
        together = owner[lag:] == owner[:-lag]
        waiting.append(code[:-lag][together] * names + code[lag:][together])
        size += len(waiting[-1])
        if size > _AT_ONCE:
            known, counts = _added(known, counts, waiting)
            waiting, size = [], 0
    known, counts = _added(known, counts, waiting)
    often = counts >= enough
    for pair, count in zip(known[often].tolist(), counts[often].tolist(), strict=True):
        yield pair // names, pair % names, count


def _added(known: Ints, counts: Ints, more: list[Ints]) -> tuple[Ints, Ints]:
    values, added = np.unique(np.concatenate([*more, np.zeros(0, np.int64)]), return_counts=True)
    both, place = np.unique(np.concatenate([known, values]), return_inverse=True)
    total = np.bincount(place, np.concatenate([counts, added]), minlength=len(both))
    return both, total.astype(np.int64)
