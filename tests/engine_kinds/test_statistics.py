"""Statistics count events, not values: an event with several values counts once."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.engines.units import Statistics, units_of
from tests.kernels.arrays import Entry, Literal, as_clauses, as_located

pytestmark = pytest.mark.kernels

CELLS = [9, 9]
BOOK = [[Literal(0, 0, [(1, 9)])], [Literal(0, 0, [(2, 2), (4, 4), (6, 6)])], [Literal(1, 0, [(3, 3)])]]


def _statistics(values: list[int]) -> Statistics:
    """A sample of 100 events, of which half have these values on dimension 0 and all have one on 1."""
    other = Entry(1, 3, 3)
    batch = [[*(Entry(0, cell, cell) for cell in values), other] if n % 2 else [other] for n in range(100)]
    return Statistics(as_clauses(BOOK, CELLS), as_located(batch))


def _shares(statistics: Statistics, lo: int, hi: int) -> float:
    return float(statistics.share(np.array([0]), np.array([lo]), np.array([hi]))[0])


@pytest.mark.parametrize("values", [[4], [2, 4, 6], [1, 3, 5, 7, 9]], ids=str)
def test_presence_counts_an_event_once(values: list[int]) -> None:
    statistics = _statistics(values)
    assert statistics.presence[0] == pytest.approx(50.5 / 101)
    assert statistics.presence[1] == pytest.approx(100.5 / 101)


@pytest.mark.parametrize("values", [[4], [2, 4, 6], [1, 3, 5, 7, 9]], ids=str)
def test_share_of_a_range_never_exceeds_presence(values: list[int]) -> None:
    statistics = _statistics(values)
    assert _shares(statistics, 1, 9) == pytest.approx(0.5, abs=0.01)
    assert _shares(statistics, values[0], values[0]) == pytest.approx(0.5, abs=0.01)
    assert _shares(statistics, 8, 8) < 0.01


def test_share_of_a_set_never_exceeds_presence() -> None:
    statistics = _statistics([2, 4, 6])
    units = units_of(as_clauses(BOOK, CELLS), statistics)
    assert units.share[1] == pytest.approx(0.5, abs=0.01)
