"""Test the quick way of single events: which events take it, and that it finds the same subscriptions."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index
from tamis.errors import EventSyntax, EventValue, InputError
from tamis.segment.one import OneEvent
from tamis.values.event import event_from

pytestmark = pytest.mark.kernels
NAMES = ("a", "b", "c", "d")
numbers = st.one_of(st.integers(-3, 12), st.sampled_from([0.5, 2.0**53, 2**53 + 1, -(2**60), 10**400, 1e300]))
strings = st.sampled_from(["red", "green", "café", "Red", ""])
values = st.one_of(numbers, strings, st.booleans(), st.none(), st.lists(st.integers(0, 5), max_size=2))
events = st.dictionaries(st.sampled_from((*NAMES, "unknown", "cafe\u0301")), values, max_size=6)
number_events = st.dictionaries(st.sampled_from((*NAMES, "unknown")), st.integers(0, 12), max_size=5)
conditions = st.one_of(
    st.builds("{} = {}".format, st.sampled_from(NAMES), st.integers(0, 12)),
    st.builds("{} <= {}".format, st.sampled_from(NAMES), st.sampled_from([0, 3, 0.5, 2**53, 7])),
    st.builds("{} BETWEEN {} AND 9".format, st.sampled_from(NAMES), st.integers(0, 9)),
    st.builds("{} = '{}'".format, st.sampled_from(NAMES), st.sampled_from(["red", "green", "café"])),
    st.builds("{} != {}".format, st.sampled_from(NAMES), st.integers(0, 3)),
    st.builds("NOT {} = {}".format, st.sampled_from(NAMES), st.integers(0, 3)),
)
books = st.lists(
    st.lists(conditions, min_size=1, max_size=3).map(" AND ".join)
    | st.lists(conditions, min_size=2, max_size=3).map(" OR ".join),
    min_size=1,
    max_size=12,
)


def quick_way(index: Index) -> OneEvent:
    """Return the quick way of the only segment of an index."""
    (layer,) = index._writer.current.layers
    assert layer.segment.one is not None
    return layer.segment.one


def outcome(index: Index, event: Any) -> Any:
    """Return the matches of an event, or the code of its error."""
    try:
        return list(index.match(event))
    except Exception as bad:
        return getattr(bad, "code", repr(bad))


@given(books, st.lists(events | number_events, min_size=1, max_size=6), st.sets(st.integers(0, 11)))
def test_quick_way_agrees_with_scan(book: list[str], batch: list[Any], gone: set[int]) -> None:
    source = {f"s{at}": text for at, text in enumerate(book)}
    index, scan = Index.build(source), Index.build(source, engine="scan")
    for event in batch:
        assert outcome(index, event) == outcome(scan, event)
    for at in gone:
        if f"s{at}" in index and len(index) > 1:
            index.remove(f"s{at}")
            scan.remove(f"s{at}")
    for event in batch:
        assert outcome(index, event) == outcome(scan, event)


def test_plain_events_take_the_quick_way_and_others_do_not() -> None:
    one = quick_way(Index.build({"x": "a = 1 AND b <= 3", "y": "c = 'red' AND d = TRUE"}))
    for event in ({"a": 1, "b": 2.5}, {"a": 1, "unknown": 7}, {"c": "red", "d": True}, {}):
        assert one.find(event) is not None, event
    for careful in ({"a": [1, 2]}, {"a": 2**53}, {"a": float("nan")}, {"cafe\u0301": 1}, {"a": {"low": 1}}):
        assert one.find(careful) is None, careful


@pytest.mark.parametrize("engine", ["auto", "bitmatrix"])
def test_quick_way_serves_bitmatrix_and_auto_with_one_engine(engine: str) -> None:
    index = Index.build({"x": "a = 1 AND b <= 3", "y": "c = 'red'", "z": "NOT a = 2"}, engine=engine)
    found = quick_way(index).find({"a": 1, "b": 2})
    assert found is not None
    assert found[0] == [0, 2]


def test_quick_way_counts_the_same_work_as_a_batch() -> None:
    index = Index.build({f"s{at}": f"a = {at % 7} AND b <= {at % 11} AND c >= {at % 3}" for at in range(500)})
    event = {"a": 3, "b": 4, "c": 2}
    assert index.match(event).work == index.match(event_from(event)).work


def test_covers_are_decided_by_the_tree() -> None:
    index = Index.build({"near": "title LIKE '%a%b%' AND a = 1", "plain": "a = 1"})
    assert list(index.match({"title": "xaxbx", "a": 1})) == ["near", "plain"]
    assert list(index.match({"title": "xbxax", "a": 1})) == ["plain"]


@pytest.mark.compiled
def test_memory_grows_with_matches_postings_and_attributes() -> None:
    many = {f"s{at}": f"a <= {1 + at % 5} AND b >= 0" for at in range(30_000)}
    index = Index.build(many)
    event: dict[str, Any] = {"a": 1, "b": 2} | {f"x{at}": at for at in range(900)}
    assert index.match(event) == list(many)
    assert index.match({"a": 9, "b": 2}) == []
    words = {f"s{at}": f"t HAS 'w{at}'" for at in range(300)}
    assert sorted(Index.build(words).match({"t": " ".join(f"w{at}" for at in range(300))})) == sorted(words)


@pytest.mark.compiled
def test_threads_share_the_quick_way() -> None:
    index = Index.build({f"s{at}": f"a = {at % 50} AND b <= {at % 9}" for at in range(2_000)})
    wanted = {a: list(index.match({"a": a, "b": 4})) for a in range(50)}
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for a in np.random.default_rng(seed).integers(0, 50, 400).tolist():
            if list(index.match({"a": a, "b": 4})) != wanted[a]:
                wrong.append(a)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@given(books, number_events | events)
def test_json_lines_match_like_their_objects(book: list[str], event: dict[str, Any]) -> None:
    index = Index.build({f"s{at}": text for at, text in enumerate(book)})
    if isinstance(outcome(index, event), list):
        assert index.match_json(json.dumps(event)) == index.match(event)
        assert index.match_json(json.dumps(event).encode()) == index.match(event)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b'{"a": 1, "a": 2}', EventSyntax),
        (b'{"a" :1,"b":{"c":1,"c":2}}', EventSyntax),
        (b"[1]", EventSyntax),
        (b'{"a": 1', EventSyntax),
        (b'{"a": 1e999}', EventValue),
        ({"a": 1}, InputError),
    ],
)
def test_json_lines_are_refused_when_they_are_no_event(line: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Index.build({"x": "a = 1"}).match_json(line)
