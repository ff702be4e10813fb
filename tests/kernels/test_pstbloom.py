"""Test the marks of ``pstbloom``: a mark holds its range and little more."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tamis.engines.pstbloom._kernels import (
    FILTER_WORDS,
    FINE,
    NO_WIDTH,
    enter_event,
    filter_hits,
    filter_runs,
    sign_clauses,
    tightest,
)
from tamis.engines.pstbloom.layout import MOST_WIDTHS, pack_widths

pytestmark = pytest.mark.kernels


def random_range(chance: random.Random, cells: int) -> tuple[int, int]:
    """Return a range that often reaches an end of the dimension or has one cell."""
    low, high = sorted((chance.randint(1, cells), chance.choice([1, cells, chance.randint(1, cells)])))
    return (low, low) if chance.random() < 0.2 else (low, high)


def passes(signature: int, dimension: int, value: int, widths: list[int]) -> bool:
    """Return whether an event of one value passes a signature."""
    chosen = np.zeros((dimension + 1, 32), np.bool_)
    chosen[dimension, widths] = True
    heads = np.zeros(4 * (dimension + 1), np.uint32)
    bloom, cell = np.zeros(FILTER_WORDS, np.uint64), np.zeros(dimension + 1, np.uint32)
    visits, hits = np.zeros(1, np.int64), np.zeros(1, np.int64)
    entry = np.array([dimension], np.int32), np.array([value], np.int32)
    enter_event(0, 1, *entry, heads, pack_widths(chosen), cell, bloom, visits)
    signatures = np.array([signature], np.uint64)
    one = np.array([0]), np.array([1])
    found = filter_runs(*one, 1, signatures, bloom, hits)
    return bool(filter_hits(hits, found, signatures, bloom))


def signature_of(low: int, high: int, cells: int, widths: list[int]) -> int:
    """Return the signature of a clause whose one signed predicate is on dimension 2."""
    columns = (np.array([[0]]), np.array([2]), np.array([low]), np.array([high]))
    out = np.zeros(1, np.uint64)
    allowed = np.array([0, 0, sum(1 << width for width in widths)])
    sign_clauses(*columns, np.full(3, cells, np.uint32), allowed, out)
    return int(out[0])


@pytest.mark.parametrize("seed", range(5))
def test_event_inside_a_range_has_its_mark(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(20):
        cells = chance.choice([1, 2, 5, 60, 1000, 10**6])
        low, high = random_range(chance, cells)
        widest = cells.bit_length()
        widths = sorted({widest, *chance.choices(range(widest + 1), k=MOST_WIDTHS - 1)})
        signature = signature_of(low, high, cells, widths)
        for value in {low, high, chance.randint(low, high)}:
            assert passes(signature, 2, value, widths)


def test_event_outside_a_range_seldom_has_its_mark() -> None:
    """Of 200 ranges, at most one in twenty admits a value that is a quarter of its width away."""
    chance = random.Random(7)
    cells, widths = 800, [0, 5, 7, 10]
    admitted = 0
    for _ in range(200):
        low = chance.randint(200, 500)
        high = low + 31 - (4 if low % 4 else 0)  # fits a space of 32 leaves
        admitted += passes(signature_of(low, high, cells, widths), 2, high + 8, widths)
    assert admitted <= 10


def test_tightest_space_holds_its_range_and_is_at_most_twice_as_wide() -> None:
    """A space begins at every eighth of its width, so it is at most 16/7 as wide as its range, and a leaf."""
    chance = random.Random(3)
    for _ in range(300):
        cells = chance.randint(1, 5000)
        low, high = random_range(chance, cells)
        leaves, width, number = tightest(low, high, cells, (1 << (cells.bit_length() + 1)) - 1)
        begin = number << max(width - FINE, 0)
        assert begin <= low
        assert high < begin + (1 << width)
        assert high - low + 1 <= leaves <= 16 / 7 * (high - low + 1) + 1


def test_range_wider_than_all_spaces_has_no_mark() -> None:
    assert tightest(1, 100, 200, 0b1111)[1] == NO_WIDTH
    assert signature_of(1, 100, 200, [0, 1, 2, 3]) == 0
    assert passes(0, 2, 150, [0, 1])
