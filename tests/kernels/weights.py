"""Make weights of integer clauses for the tests of top-k."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tamis.engines.protocol import Wanted, Weights
from tests.kernels.arrays import Clause

Parts = tuple[dict[int, float], float, float]  # the weight of each attribute, a rest, a priority


def random_weights(chance: random.Random, book: list[Clause]) -> list[Parts]:
    """Return weights for every clause; its attributes are its dimensions."""
    return [
        (
            {
                literal.dimension: chance.choice([0.0, 0.5, 1.0, 3.0])
                for literal in clause
                if not literal.flags
            },
            chance.choice([0.0, 0.0, 0.5]),
            chance.choice([0.0, 0.0, 2.0, -1.0]),
        )
        for clause in book
    ]


def as_weights(parts: list[Parts], owner: Any) -> Weights:
    """Return the bounds of clauses in the order ``owner``."""
    parts = [parts[n] for n in owner]
    weight = np.array([sum(by.values()) + rest for by, rest, _ in parts])
    priority = np.array([last for _, _, last in parts])
    start = np.cumsum([0, *(len(by) for by, _, _ in parts)])
    attribute = np.array([d for by, _, _ in parts for d in sorted(by)], np.int64)
    share = np.array([by[d] for by, _, _ in parts for d in sorted(by)])
    rest = np.array([rest for _, rest, _ in parts])
    return Weights(weight + priority, weight, priority, rest, start, attribute, share)


def score(part: Parts, weights: dict[int, float], greatest: float) -> float:
    """Return the score of a clause for an event with weights."""
    by, rest, priority = part
    return sum(weights.get(d, 1.0) * value for d, value in by.items()) + greatest * rest + priority


def as_wanted(weights: dict[int, float], weighted: bool) -> Wanted:
    """Return the scoring view of an event, whose attributes are its dimensions."""
    has = np.array(sorted(weights), np.int64)
    values = np.array([weights[d] for d in sorted(weights)], np.float64)
    return Wanted(weighted, max([1.0, *weights.values()]), lambda: (has, values))
