"""Top-k: the k best-scoring matches, ties broken by id; equal to sorting everything and cutting."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from tamis.index.segment import Segment
from tamis.lang.columns.codes import Op
from tamis.model.event import Event
from tamis.model.truth import score

_MODEST = 2.0**20  # with up to 2**32 predicates, sums stay below 2**53

Combine = Callable[[Iterable[float]], float]


def static_scores(segment: Segment) -> npt.NDArray[np.float64]:
    """Scores that no event changes: weights plus priority of plain conjunctions; NaN for the others."""
    columns = segment.columns
    rows = len(columns.op)
    weight = columns.weight if len(columns.weight) else np.ones(rows)
    # Differences of running sums are exact for whole weights of modest size; others are left to the tree.
    odd = (columns.op >= Op.AND) | (weight != np.floor(weight)) | (np.abs(weight) > _MODEST)
    total, structural = np.zeros(rows + 1), np.zeros(rows + 1, np.int64)
    np.cumsum(np.where(odd, 0.0, weight), out=total[1:])
    np.cumsum(odd, out=structural[1:])
    first, last = columns.row_start[:-1].astype(np.int64), columns.row_start[1:].astype(np.int64)
    plain = structural[first] == structural[last]
    scores = np.where(plain, total[last] - total[first], np.nan)
    priorities = segment.arena["priority"]
    return scores + priorities if len(priorities) else scores


def score_of(
    segment: Segment, ordinal: int, static: npt.NDArray[np.float64] | None, event: Event, combine: Combine
) -> float:
    """The score of one matching subscription."""
    if static is not None and not np.isnan(static[ordinal]):
        return float(static[ordinal])
    return score(segment.expression(ordinal), event, combine) + segment.priority(ordinal)


def best(scored: Iterable[tuple[str, float]], k: int) -> list[tuple[str, float]]:
    """The ``k`` highest scores, the smaller id first among equals."""
    return heapq.nsmallest(k, scored, key=lambda pair: (-pair[1], pair[0]))
