"""Rank the postings of every list by the most that their clauses can score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.engines.hybrid.top._kernels import sort_lists
from tamis.engines.postings._kernels import CLAUSE
from tamis.engines.protocol import Floats, Wanted, Weights

Ints = npt.NDArray[np.int64]

BEST = 1 / 32  # of the clauses: the best match of an event is expected among them
MOST_EQUAL = 0.5  # of the clauses
CONFIDENCE = 8  # searches that may fail in a row
RETRY = 64  # searches from one attempt to the next, once none has paid for long
_CLOSE = 1e-8  # relative; bounds are rounded up, so closer ones cannot be told apart


class Experience:
    """A memory of whether searches by bounds have paid lately; it begins with confidence.

    Threads share it without a lock. A lost update does no harm: all searches give the same results.
    """

    def __init__(self) -> None:
        self._balance, self._waiting = CONFIDENCE, 0

    def advises(self) -> bool:
        """Return whether to search by bounds: if that has paid, and from time to time to try again."""
        if self._balance > 0:
            return True
        self._waiting = (self._waiting + 1) % RETRY
        return self._waiting == 0

    def learn(self, paid: bool) -> None:
        """Take the result of one search into account."""
        self._balance = min(self._balance + 1, CONFIDENCE) if paid else max(self._balance - 1, 0)


class Ranking(NamedTuple):
    """The places of all postings, list by list, best bound first; the residual clauses follow."""

    order: npt.NDArray[np.uint32]  # the posting, or the residual clause
    bound: Floats  # by place, for events without weights
    of_clause: Floats  # the same bounds by clause
    below_zero: float  # the size of the lowest priority, if it is negative
    weights: Weights
    experience: Experience

    def widened(self, wanted: Wanted) -> tuple[float, float]:
        """Return (factor, shift): a clause scores at most ``factor * bound + shift``.

        A bound is weight + priority at least. With event weights up to r a clause scores r * weight +
        priority at most, which is r * (weight + priority) - (r - 1) * priority.
        """
        greatest = wanted.greatest if wanted.weighted else 1.0
        return greatest, (greatest - 1.0) * self.below_zero


def rank(arrays: dict[str, npt.NDArray[Any]], size: Ints, weights: Weights) -> Ranking | None:
    """Return the ranking of an engine's postings and residual clauses; ``None`` if it would not pay.

    ``size`` is the number of literals of each clause.
    """
    # The owners of a clause may differ: one has the greatest weight, another the greatest priority.
    bound = np.maximum(weights.total, weights.weight + weights.priority)
    if not pays(bound, size):
        return None
    clause = arrays["rows"][:, 0].astype(np.int64) & CLAUSE
    order = np.arange(len(clause))
    sort_lists(arrays["list_start"], -bound[clause], order)
    residual = arrays["residual"].astype(np.int64)
    residual = residual[np.argsort(-bound[residual], kind="stable")]
    ranked = np.concatenate([bound[clause[order]], bound[residual]])
    below_zero = -float(weights.priority.min(initial=0.0))
    places = np.concatenate([order, residual]).astype(np.uint32)
    return Ranking(places, ranked, bound, below_zero, weights, Experience())


def pays(bound: Floats, size: Ints) -> bool:
    """Return whether the bounds of clauses differ enough to prune by.

    Ids decide between equal scores, so a search must see all matches that share the best bound. If most
    matches share it, then it costs less to find all of them at once. Clauses with more literals have higher
    bounds, but fewer events satisfy them, so a search that begins with them reads most postings in vain.
    Therefore a bound is compared with those of clauses of the same size. If all predicates have the same
    weight, then all these bounds are equal.
    """
    if not len(bound):
        return False
    above = bound - medians(bound, size)
    place = len(above) - 1 - int(BEST * len(above))
    equal = np.count_nonzero(above >= np.partition(above, place)[place] - _CLOSE * np.abs(bound))
    return bool(equal <= MOST_EQUAL * len(bound))


def medians(value: Floats, group: Ints) -> Floats:
    """Return for each value the median of the values in its group."""
    order = np.lexsort((value, group))
    count = np.bincount(group)
    middle = np.cumsum(count) - count + count // 2
    return np.asarray(value[order][np.minimum(middle, len(order) - 1)][group])
