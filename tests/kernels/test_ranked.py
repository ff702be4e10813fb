"""Test engines that find the best matches: they hand out every match that reaches the threshold."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.kernels.arrays import as_clauses, as_located, engine_over, holds, random_clause, random_event
from tests.kernels.weights import as_wanted, as_weights, random_weights, score

pytestmark = pytest.mark.kernels
INFINITY = float("inf")


@pytest.mark.parametrize(
    ("engine_name", "parameters"),
    [
        ("bestar", {"leaf": 1}),
        ("bestar", {"leaf": 3, "incremental": 1}),
        ("bestar", {"leaf": 2, "split": 0}),
        ("kindex", {}),
        ("kindex", {"most_cells": 3}),
    ],
    ids=str,
)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "general"])
def test_every_match_above_the_threshold_is_handed_out(
    engine_name: str, parameters: dict[str, Any], plain: bool
) -> None:
    for seed in range(20):
        chance = random.Random(seed)
        cells = [chance.choice([1, 5, 30]) for _ in range(chance.randint(1, 6))]
        book = [random_clause(chance, cells) for _ in range(60)]
        engine, owner = engine_over(engine_name, as_clauses(book, cells), parameters)
        parts = random_weights(chance, book)
        ranking = engine.ranking(as_weights(parts, owner))
        for weighted in (False, True):
            event = random_event(chance, cells, plain)
            has = sorted({entry.dimension for entry in event})
            weights = {d: chance.choice([0.0, 0.25, 1.0, 4.0]) if weighted else 1.0 for d in has}
            greatest = max([1.0, *weights.values()])
            agenda = engine.best(as_located([event]), ranking, as_wanted(weights, weighted))
            threshold, found = -INFINITY, []
            limits = sorted(chance.choice([-2.0, 0.0, 0.5, 1.0, 2.0, 3.5]) for _ in range(40))
            for limit in limits:
                clauses = owner[agenda.more(threshold, 2)].tolist()
                found += clauses
                threshold = max(threshold, limit) if clauses else threshold
            while len(more := agenda.more(threshold, 1000)):
                found += owner[more].tolist()
            true = [n for n, clause in enumerate(book) if holds(clause, event)]
            due = {n for n in true if score(parts[n], weights, greatest) >= threshold}
            assert due <= set(found) <= set(true)
            assert len(found) == len(set(found))
