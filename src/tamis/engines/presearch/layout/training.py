"""Learn from training documents the probability of each term, of pairs, and which terms are common."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.engines.presearch.layers._kernels import NEVER, forget, invert
from tamis.engines.presearch.layout._kernels import count_pairs
from tamis.engines.presearch.layout.terms import Terms
from tamis.space.located import Located

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_BLOCK = 4_096  # documents per bit map


def pair_probabilities(
    terms: Terms, before: Ints, after: Ints, sample: Located | None, least: int
) -> tuple[Floats, int]:
    """Return df(pair) / n for conditions ``before``, ``after``: the pruned word co-occurrence matrix.

    The value is 0 for pairs that fewer than ``least`` documents have, and for all if there are no documents.
    Only pairs of neighbours in some clause are counted at all. Also return the number of pairs kept.
    """
    found = np.zeros(len(before))
    if sample is None or not sample.count:
        return found, 0
    # A pair cannot be more frequent than its terms.
    often = (sample.count + 1) * terms.share >= least
    worth = np.flatnonzero(often[before] & often[after])
    code = terms.place[before[worth]] * terms.places + terms.place[after[worth]]
    pairs, which = np.unique(code, return_inverse=True)
    together = _count(terms, pairs // terms.places, pairs % terms.places, sample)
    kept = together >= max(least, 1)
    found[worth] = np.where(kept, together / sample.count, 0.0)[which]
    return found, int(kept.sum())


def _count(terms: Terms, one: Ints, two: Ints, sample: Located) -> Ints:
    """Return the number of documents of the sample in which the terms of each pair occur together."""
    together = np.zeros(len(one), np.int64)
    slot = np.full(terms.places, NEVER, np.uint32)
    slot[one], slot[two] = 0, 0
    asked = int(np.count_nonzero(slot == 0))
    row_place = np.empty(asked + 1, np.int64)
    width = -(-min(_BLOCK, sample.count) // 64)
    bits = np.empty((asked + 1) * width, np.uint64)
    plain = np.zeros(sample.count, np.uint8)  # for several values or an interval, use the first cell
    heads, levels = terms.heads.reshape(-1), terms.levels.reshape(-1)
    longest = int(np.diff(sample.start).max(initial=0))
    places = np.empty(2 * longest * int(terms.heads[:, 0].max(initial=0)), np.int64)
    for begin in range(0, sample.count, _BLOCK):
        stop = min(begin + _BLOCK, sample.count)
        rows = invert(
            begin, stop, sample.start, sample.dimension, sample.lo, plain, heads, levels, slot, row_place,
            bits, width, places,
        )  # fmt: skip
        count_pairs(one, two, slot, bits, width, together)
        forget(rows, slot, row_place)
    return together


def frequent_threshold(share: Floats, place: Ints, top: float) -> float:
    """Return the probability that only the ``top`` share of all distinct terms exceeds."""
    if not len(place):
        return 1.0
    _, first = np.unique(place, return_index=True)
    ranked = np.sort(share[first])[::-1]
    above = int(top * len(ranked))
    return float(ranked[above]) if above < len(ranked) else 0.0
