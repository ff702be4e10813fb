"""Events to try engines with: the sample, or, without one, events that the clauses themselves suggest."""

from __future__ import annotations

import numpy as np

from tamis.engines.units import Statistics
from tamis.space.located import Located, join
from tamis.space.space import ABSENT_OK, Clauses, hulls

SUGGESTED_BY = 6  # clauses whose conditions make up one suggested event


def trial_events(clauses: Clauses, statistics: Statistics, count: int) -> Located:
    """Up to ``count`` events."""
    if statistics.sample is not None and statistics.sample.count:
        return head(statistics.sample, count)
    return suggested(clauses, count)


def head(events: Located, count: int) -> Located:
    """Return the first ``count`` events."""
    count = min(count, events.count)
    end = events.start[count]
    return Located(
        events.start[: count + 1],
        events.dimension[:end],
        events.lo[:end],
        events.hi[:end],
        events.multi[:count],
    )


def suggested(clauses: Clauses, count: int) -> Located:
    """Return each event meets the conditions of a few clauses, one cell for each attribute."""
    chance = np.random.default_rng(clauses.count)
    lo, hi = hulls(clauses)
    picked = chance.integers(0, max(clauses.count, 1), (count, SUGGESTED_BY)) if clauses.count else None
    if picked is None or not len(clauses.literal):
        return join(count, [(np.zeros(0, np.int64),) * 4], np.zeros(count, np.uint8))
    start = clauses.start.astype(np.int64)
    first = start[picked].ravel()
    size = start[picked + 1].ravel() - first
    event = np.repeat(np.repeat(np.arange(count), SUGGESTED_BY), size)
    literal = np.repeat(first - (np.cumsum(size) - size), size) + np.arange(len(event))
    asking = (clauses.literal[literal, 1] & ABSENT_OK) == 0
    event, literal = event[asking], literal[asking]
    dimension = clauses.literal[literal, 0].astype(np.int64)
    _, kept = np.unique((event << 32) | dimension, return_index=True)
    event, dimension, literal = event[kept], dimension[kept], literal[kept]
    spread = hi[literal] - lo[literal] + 1
    cell = lo[literal] + (chance.random(len(literal)) * spread).astype(np.int64)
    return join(count, [(event, dimension, cell, cell)], np.zeros(count, np.uint8))
