"""Test random draws, and the brute-force reading."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from bench.workloads.draw import blocks, distinct, generator, ranks, zipf
from bench.workloads.profiles import Profiles, profile_count, profile_width
from bench.workloads.truth import Book, rows_of


def test_blocks_cover_a_range() -> None:
    assert list(blocks(range(3, 11), 4)) == [(0, slice(3, 4)), (1, slice(0, 4)), (2, slice(0, 3))]
    assert list(blocks(range(4, 8), 4)) == [(1, slice(0, 4))]
    assert list(blocks(range(0), 4)) == [(0, slice(0, 0))]


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize(("count", "width"), [(500, 6), (40, 36)])
def test_distinct_keeps_fixed_cells(alpha: float, count: int, width: int) -> None:
    fixed = np.full((200, 3), -1)
    fixed[:, 1] = 7
    fixed[::2, 2] = count - 1
    drawn = distinct(generator(1, "test"), zipf(count, alpha), 200, width, fixed)
    assert (drawn[:, 1] == 7).all()
    assert (drawn[::2, 2] == count - 1).all()
    assert all(len(set(row)) == width for row in drawn.tolist())
    assert 0 <= drawn.min() <= drawn.max() < count


@pytest.mark.parametrize("alpha", [0.5, 2.0, 4.0])
def test_distinct_draws_without_replacement(alpha: float) -> None:
    """Compare both ways of drawing with the naive one: how often each rank comes second."""
    cumulated, rng = zipf(12, alpha), generator(1, "naive")
    popularity = np.diff(cumulated, prepend=0.0)
    naive = [rng.choice(12, 2, replace=False, p=popularity)[1] for _ in range(8_000)]
    drawn = distinct(generator(1, "test"), cumulated, 40_000, 2)[:, 1]
    shares = [np.bincount(second, minlength=12) / len(second) for second in (np.array(naive), drawn)]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)


def test_rare_ranks_of_a_steep_law_occur() -> None:
    drawn = distinct(generator(1, "test"), zipf(1_000, 1.6), 20_000, 5)
    popular, rare = (drawn < 20).sum(), (drawn >= 20).sum()
    one_by_one = distinct(generator(2, "test"), zipf(1_000, 1.6), 20_000, 5)
    assert popular > 3 * rare > 0
    assert (one_by_one >= 20).sum() == pytest.approx(rare, rel=0.05)
    assert drawn.max() > 900


def test_distinct_refuses_more_cells_than_ranks() -> None:
    with pytest.raises(ValueError, match="cannot draw 5"):
        distinct(generator(1, "test"), zipf(4, 0.0), 1, 5)


def test_ranks_follow_their_popularity() -> None:
    drawn = ranks(generator(1, "test"), zipf(3, 1.0), 60_000)
    assert np.bincount(drawn) / 60_000 == pytest.approx([6 / 11, 3 / 11, 2 / 11], abs=0.01)


def test_each_profile_has_its_share_of_followers() -> None:
    profiles = Profiles(np.arange(12).reshape(3, 4), 100 + np.arange(12).reshape(3, 4))
    chosen, attribute, value = profiles.followers(generator(1, "test"), 30_000, 2, 0.2)
    assert len(chosen) / 30_000 == pytest.approx(0.6, abs=0.02)
    assert np.bincount(attribute[:, 0] // 4) / 30_000 == pytest.approx([0.2] * 3, abs=0.02)
    assert (value == attribute + 100).all()
    assert (attribute[:, 0] != attribute[:, 1]).all()


@pytest.mark.parametrize(("probability", "count"), [(0.0001, 64), (0.09, 11), (0.5, 2), (0.9, 1)])
def test_there_are_no_more_profiles_than_shares(probability: float, count: int) -> None:
    assert profile_count(64, probability) == count


def test_profile_is_wide_enough_for_the_largest_subscription() -> None:
    assert [profile_width(7, 30), profile_width(20, 30), profile_width(40, 30)] == [15, 20, 30]


def test_brute_force_matches_its_operators() -> None:
    table = pa.table(
        {
            "id": ["a", "a", "b", "c", "d", "e", "f"],
            "attribute": ["x", "city", "x", "title", "city", "new", "city"],
            "operator": ["between", "=", ">=", "has all", "in", "=", "like"],
            "number": pa.array([[1, 5], None, [4], None, None, None, None], pa.list_(pa.int64())),
            "string": pa.array(
                [None, ["Oslo"], None, ["red", "car"], ["Oslo", "Rome"], None, ["Os%"]], pa.list_(pa.string())
            ),
            "boolean": pa.array([None] * 5 + [[True], None], pa.list_(pa.bool_())),
        }
    )
    book = Book(table)
    assert book.matches({"x": 4, "city": "Oslo"}) == ["a", "b", "d", "f"]
    assert book.matches({"x": 6, "city": "Paris", "title": "A red old Car"}) == ["b", "c"]
    assert book.matches({"new": True, "title": "red"}) == ["e"]
    assert book.matches({"new": False}) == []
    assert book.matches({"new": 1, "x": True}) == []
    assert book.matches({"x": [9, 0], "city": ["Rome", "Osaka"]}) == ["b", "d", "f"]


def test_events_become_dictionaries() -> None:
    numbers, words = pa.map_(pa.string(), pa.int64()), pa.map_(pa.string(), pa.string())
    point = pa.struct([("lon", pa.float64()), ("lat", pa.float64())])
    table = pa.table(
        {
            "n": pa.array([[("a", 1)], []], numbers),
            "w": pa.array([[("t", "x")], None], words),
            "at": pa.array([None, {"lon": 1.0, "lat": 2.0}], point),
        }
    )
    assert list(rows_of(table)) == [{"a": 1, "t": "x"}, {"at": {"$point": [1.0, 2.0]}}]
