"""Test the search on a card: its work, and the limits of its memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bench.gpu.duel import pairs_of
from tamis import Index
from tamis.gpu import segment as segments

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

EVENTS = [{"a": at % 7, "b": at % 5, "c": at % 3, "place": {"$point": [at, 1.0]}} for at in range(6)]


def mixed() -> dict[str, str]:
    """Return a book with decided and undecided clauses, sets, OR trees and clauses without a condition."""
    ranges = {f"r{n}": f"a >= {n % 5} AND b <= {n % 4} AND c BETWEEN {n % 3} AND 2" for n in range(20)}
    others = {f"o{n}": f"a IN (1, 3, {n}) AND NOT b = {n % 5} OR c = {n % 3}" for n in range(10)}
    return ranges | others | {"not": "NOT a = 3", "circle": "place WITHIN 300 KM OF POINT (2 1) AND a > 1"}


@pytest.fixture
def small_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave room for two subscriptions of an event."""
    monkeypatch.setattr(segments, "FOUND", 2)
    monkeypatch.setattr(segments, "MOST_FOUND", 2)
    monkeypatch.setattr(segments, "LEAST_ROOM", 3)


def both(index: Index, events: Any, **options: Any) -> tuple[Any, Any]:
    """Return the matches of the card and those of the processor."""
    return index.match_many(events, device="cuda", **options), index.match_many(events)


def test_work_on_a_card_equals_the_processor_s() -> None:
    found, expected = both(Index.build(mixed()), EVENTS)
    assert found.work == expected.work
    assert pairs_of(found) == pairs_of(expected)
    assert found.column("event").to_pylist() == sorted(found.column("event").to_pylist())


def test_pairs_of_zones_are_visited() -> None:
    index = Index.build(mixed(), parameters={"pairs": 2})
    found, expected = both(index, EVENTS)
    assert found.work == expected.work
    assert pairs_of(found) == pairs_of(expected)


@pytest.mark.usefixtures("small_rooms")
def test_no_match_is_lost_when_there_is_no_room() -> None:
    index = Index.build(mixed())
    found, expected = both(index, EVENTS * 2)
    assert pairs_of(found) == pairs_of(expected)
    assert len(found) == len(set(map(tuple, zip(*found.to_pydict().values(), strict=True))))


def test_dimensions_beyond_shared_memory_are_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "MOST_TABLE", 2)
    found, expected = both(Index.build(mixed()), EVENTS)
    assert found.work == expected.work
    assert pairs_of(found) == pairs_of(expected)


def test_cells_that_records_round_are_exact() -> None:
    book = {f"s{n}": f"x BETWEEN {n} AND {n + 2} AND y >= {n % 9}" for n in range(0, 4000, 3)}
    book |= {
        f"d{n}": f"z{n} = {n % 3} AND x <= {3 * n}" for n in range(300)
    }  # dimensions take bits of records
    index = Index.build(book)
    heads = index._writer.current.layers[0].segment.arena["engine.heads"]
    assert ((heads[:, 0] >> 8) & 255).any()
    found, expected = both(index, [{"x": n * 1117 % 4000, "y": n % 10, f"z{n}": 1} for n in range(6)])
    assert found.work == expected.work
    assert pairs_of(found) == pairs_of(expected)


def test_events_that_visit_too_many_lists_are_left_to_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "LISTS", 1)
    found, expected = both(Index.build(mixed()), EVENTS)
    assert pairs_of(found) == pairs_of(expected)


def test_cells_take_the_narrowest_word() -> None:
    def words(values: int) -> tuple[int, int]:
        index = Index.build({f"s{n}": f"x = {n}" for n in range(values)})
        index.match_many([{"x": 1}], device="cuda")
        segment = index._writer.current.layers[0].segment
        return segments.DeviceSegment(segment, 1, 4)._words[1]

    assert [words(values) for values in (10, 300)] == [(1, 1), (2, 2)]


def test_removed_and_fresh_subscriptions_are_right_at_once() -> None:
    index = Index.build(mixed())
    for change in (
        lambda: index.remove("r1"),
        lambda: index.add("new", "a >= 2"),
        lambda: index.remove("not"),
    ):
        index.match_many(EVENTS, device="cuda")
        change()
        found, expected = both(index, EVENTS)
        assert pairs_of(found) == pairs_of(expected)


def test_segment_is_uploaded_once() -> None:
    from tamis.gpu.device import device

    index = Index.build(mixed())
    segment = index._writer.current.layers[0].segment
    index.match_many(EVENTS, device="cuda")
    first = device(0).segment(segment)
    index.add("new", "a >= 2")
    index.match_many(EVENTS, device="cuda")
    assert device(0).segment(segment) is first
    assert any(card["uploaded"] >= first.nbytes for card in index.info()["device"]["cards"])


def test_pairs_are_the_matches_by_number() -> None:
    index = Index.build(mixed())
    index.add("new", "a >= 2")
    expected = pairs_of(index.match_many(EVENTS))
    for device in ("cpu", "cuda"):
        found = []
        for batch in index.match_pairs(EVENTS, batch_size=4, device=device):
            for part in batch.parts:
                assert part.start[-1] == len(part.number)
                found += zip((part.event + batch.first_row).tolist(), part.ids().to_pylist(), strict=True)
        assert sorted(found) == sorted(expected)


TABLES = {
    "columns": pa.table(
        {"a": pa.array([1, None, 3], pa.uint8()), "b": [1.5, 2.0, None], "c": [True, None, False]}
    ),
    "slice": pa.table({"a": list(range(9)), "c": [True, False, None] * 3}).slice(3),
    "words": pa.table(
        {"w": pa.array(["x", None, "y"]).dictionary_encode(), "a": pa.array([1, 2, 3], pa.uint64())}
    ),
    "map": pa.table(
        {"m": pa.array([[("a", 1), ("zz", 2)], [], [("b", 3)]], pa.map_(pa.string(), pa.int16()))}
    ),
    "repeated key": pa.table({"m": pa.array([[("a", 1), ("a", 4)]], pa.map_(pa.string(), pa.float64()))}),
    "key beyond ASCII": pa.table({"m": pa.array([[("naïve", 1)]], pa.map_(pa.string(), pa.int64()))}),
    "beyond floats": pa.table({"a": [2**53 + 1, 2**53], "b": [1.0, 2.0]}),
    "not finite": pa.table({"a": [1, 2], "b": [1.0, float("nan")]}),
    "same attribute twice": pa.table({"x.y": [1, 2], "x": [{"y": 3}, {"y": 1}]}),
    "beside lists": pa.table({"a": [1, 2, 3], "b": [[1, 2], [], [5]], "w": ["x", "y", "x y"]}),
    "empty": pa.table({"a": pa.array([], pa.int64())}),
}


@pytest.mark.parametrize("name", TABLES)
def test_columns_are_located_as_on_the_processor(name: str) -> None:
    book = {f"a{n}": f"a >= {n} AND a < {n + 3}" for n in range(5)} | {f"b{n}": f"b <= {n}" for n in range(5)}
    book |= {
        "big": f"a = {2**53 + 1}",
        "true": "c = true",
        "x": "w = 'x'",
        "like": "w LIKE 'x%'",
        "naïve": '"naïve" = 1',
    }
    book |= {"none": "NOT a = 3", "xy": "x.y > 1", "two": "x.y > 2 AND x.y < 2"}
    found, expected = both(Index.build(book), TABLES[name], on_error="skip")
    assert pairs_of(found) == pairs_of(expected)
    assert [refusal[0] for refusal in found.refused] == [refusal[0] for refusal in expected.refused]
    assert found.work.matches == expected.work.matches
    assert np.all(np.diff(found.column("event").to_numpy()) >= 0)
