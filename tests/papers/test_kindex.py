"""Test ``kindex``: sizes prune, NOT poisons, ranges are enumerated up to the budget."""

from __future__ import annotations

import pytest

from tamis import Event, Index

pytestmark = pytest.mark.kernels


def test_larger_sizes_are_skipped() -> None:
    """Both books post 100 clauses under a = 1; those of the second need an absent attribute."""
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


def test_poisoned_counters_decide_not() -> None:
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


def _weighted_book() -> dict[str, str]:
    """Return distinct subscriptions that all match x = 5, y = 9; the larger size has the heavier weights."""
    two = {f"t{n:03}": f"x <= {5 + n} ^ {4 + (n == 7)} AND y <= {9 + n} ^ 4" for n in range(100)}
    one = {f"o{n:03}": f"x <= {5 + n} ^ {1 + n / 100}" for n in range(100)}
    return two | one | {"z": "NOT w = 1 ^ 0.25"}


def test_top_k_does_not_count_sizes_whose_bound_is_too_low() -> None:
    index = Index.build(_weighted_book(), engine="kindex")
    event = {"x": 5, "y": 9}
    every = index.match(event)
    assert len(every) == 201
    assert every.work.candidates == 2 * 100 + 100 + 1
    best = index.top_k(event, 1)
    assert best == [("t007", 9.0)]
    # Only size two is counted; one clause is handed out, and no other bound reaches its score.
    assert (best.work.candidates, best.work.matches, best.work.verified) == (200, 1, 0)


def test_top_k_hands_out_the_clauses_with_the_best_bounds() -> None:
    index = Index.build(_weighted_book(), engine="kindex")
    assert index.top_k({"x": 5}, 2) == [("o099", 1.99), ("o098", 1.98)]
    handed = [index.top_k({"x": 5}, k).work.matches for k in (1, 8, 20, 100)]
    assert handed == [1, 8, 20, 100]  # one portion; afterwards no bound reaches the k-th score


def test_top_k_skips_lists_whose_bound_is_too_low() -> None:
    """Size one has a high bound, which is that of list a; list b is skipped."""
    two = {f"t{n}": f"a <= {n} ^ 5 AND b <= {n} ^ 5" for n in range(1, 10)}
    one = {"heavy": "a = 1 ^ 10"} | {f"light{n}": f"b <= {n} ^ 2" for n in range(1, 50)}
    index = Index.build(two | one, engine="kindex")
    event = {"a": 1, "b": 1}
    assert index.match(event).work.candidates == 2 * 9 + 1 + 49
    found = index.top_k(event, 2)
    assert found == [("heavy", 10.0), ("t1", 10.0)]
    assert found.work.candidates == 2 * 9 + 1


def test_weights_of_the_event_change_the_order_of_sizes() -> None:
    index = Index.build(_weighted_book(), engine="kindex")
    light = Event({"x": (5,), "y": (9,)}, weights={"x": 0.1, "y": 0.0})
    best = index.top_k(light, 1)
    assert best == [("t007", 0.5)]
    assert (best.work.candidates, best.work.matches) == (200, 1)
    several = Event({"x": (5, 6), "y": (9,)})
    assert index.top_k(several, 1) == [("t007", 9.0)]
    assert index.top_k(several, 1).work.verified == 1
