"""``kindex``: sizes prune, NOT poisons, ranges are enumerated as far as the budget goes."""

from __future__ import annotations

import pytest

from tamis import Index

pytestmark = pytest.mark.kernels


def test_larger_sizes_are_not_looked_at() -> None:
    """Both books post 100 clauses under a = 1; those of the second need an attribute that is absent."""
    small = {f"s{n}": f"a = 1 AND b = {n}" for n in range(100)}
    large = {f"l{n}": f"a = 1 AND b = {n} AND c = {n}" for n in range(100)}
    found = Index.build(small | large, engine="kindex").match({"a": 1, "b": 7})
    assert found == ["s7"]
    assert found.work.candidates == 100 + 1  # a = 1 of the small ones, b = 7 of one
    assert found.work.verified == 0


def test_counting_decides_without_a_check() -> None:
    rows = {f"s{n}": f"x BETWEEN {n} AND {n + 9} AND y >= {n}" for n in range(50)}
    found = Index.build(rows, engine="kindex").match({"x": 30, "y": 25})
    assert found == [f"s{n}" for n in range(21, 26)]
    assert found.work.verified == found.work.revised == 0


def test_not_is_decided_by_poisoned_counters() -> None:
    rows = {f"s{n}": f"a = 1 AND NOT b = {n} AND c != {n}" for n in range(10)}
    found = Index.build(rows, engine="kindex").match({"a": 1, "b": 3, "c": 4})
    assert found == [f"s{n}" for n in range(10) if n not in (3, 4)]
    assert found.work.verified == 0
    assert Index.build(rows, engine="kindex").match({"a": 1}) == []


def test_clauses_without_a_size_are_checked_for_every_event() -> None:
    rows = {f"s{n}": f"NOT b = {n}" for n in range(8)}
    found = Index.build(rows, engine="kindex").match({"b": 3})
    assert len(found) == 7
    assert found.work.verified == 8


def test_memory_grows_with_the_width_of_ranges_until_the_budget() -> None:
    def size(**parameters: int) -> int:
        rows = {f"s{n}": f"x BETWEEN {n} AND {n + 300}" for n in range(400)}
        index = Index.build(rows, engine="kindex", parameters=parameters)
        assert len(index.match({"x": 200})) == 201
        return int(index.info()["bytes"])

    whole, bounded = size(), size(budget=4_000)
    assert whole > bounded + 4 * 100 * 400
