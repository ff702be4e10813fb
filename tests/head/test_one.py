"""Test the quick way of single events through a head: it finds what the tree evaluator finds."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis import Index
from tamis.head import HeadView
from tamis.values.event import event_from
from tests.segment.test_one import books, events, number_events, outcome

pytestmark = pytest.mark.kernels


def fresh(book: dict[str, str]) -> Index:
    """Return an index whose subscriptions all stand in the head."""
    index = Index.build()
    for name, text in book.items():
        index.add(name, text)
    return index


def view_of(index: Index) -> HeadView:
    """Return the only head of an index."""
    (view,) = index._writer.current.heads
    return view


def takes_the_quick_way(index: Index, event: dict[str, Any]) -> bool:
    """Return whether one call of a kernel finds the matches."""
    return view_of(index).quick(event, index._writer.current.sequence) is not None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(books, st.lists(events | number_events, min_size=1, max_size=6), st.sets(st.integers(0, 11)))
def test_quick_way_agrees_with_scan(
    small_heads: None, book: list[str], batch: list[Any], gone: set[int]
) -> None:
    source = {f"s{at}": text for at, text in enumerate(book)}
    index, scan = fresh(source), Index.build(source, engine="scan")
    for event in batch:
        assert outcome(index, event) == outcome(scan, event)
    for at in gone:
        if f"s{at}" in index and len(index) > 1:
            index.remove(f"s{at}")
            scan.remove(f"s{at}")
    for event in batch:
        assert outcome(index, event) == outcome(scan, event)


def test_plain_events_take_the_quick_way_and_others_do_not() -> None:
    index = fresh({"x": "a = 1 AND b <= 3", "y": "c = 'red' AND d = TRUE", "z": "t HAS 'coat'"})
    for event in ({"a": 1, "b": 2.5}, {"a": 1, "unknown": 7}, {"c": "red", "d": True}, {"t": "a coat"}, {}):
        assert takes_the_quick_way(index, event), event
    for careful in ({"a": [1, 2]}, {"a": 2**53}, {"a": float("nan")}, {"cafe\u0301": 1}, {"a": {"low": 1}}):
        assert not takes_the_quick_way(index, careful), careful


def test_quick_way_counts_the_same_work_as_a_batch() -> None:
    index = fresh({f"s{at}": f"a = {at % 7} AND b <= {at % 11} AND c >= {at % 3}" for at in range(300)})
    event = {"a": 3, "b": 4, "c": 2}
    assert takes_the_quick_way(index, event)
    assert index.match(event).work == index.match(event_from(event)).work


def test_new_attribute_is_found_by_events_whose_names_are_known() -> None:
    index = fresh({"old": "a = 1"})
    event = {"a": 1, "b": 2, "c": "red"}
    numbers = {"a": 1, "b": 2}
    assert (index.match(event), index.match(numbers)) == (["old"], ["old"])
    index.add("new", "b = 2")
    assert (index.match(event), index.match(numbers)) == (["old", "new"], ["old", "new"])
    index.add("string", "c = 'red'")
    assert index.match(event) == ["old", "new", "string"]


def test_removed_and_changed_subscriptions_match_no_more() -> None:
    index = fresh({f"s{at}": "a = 1" for at in range(100)})
    for at in range(0, 100, 2):
        index.remove(f"s{at}")
    index.update("s1", "a = 2")
    assert sorted(index.match({"a": 1})) == sorted(f"s{at}" for at in range(3, 100, 2))
    assert index.match({"a": 2}) == ["s1"]


def test_a_tree_decides_covers() -> None:
    index = fresh({"near": "title LIKE '%a%b%' AND a = 1", "either": "(a = 1 OR b = 2) AND NOT c = 3"})
    assert index.match({"title": "xaxbx", "a": 1}) == ["near", "either"]
    assert index.match({"title": "xbxax", "a": 1}) == ["either"]


@pytest.mark.compiled
def test_memory_grows_with_matches_postings_attributes_and_dimensions() -> None:
    index = fresh({f"s{at}": f"a <= {1 + at % 5} AND b >= 0" for at in range(9_000)})
    event: dict[str, Any] = {"a": 1, "b": 2} | {f"x{at}": at for at in range(900)}
    assert len(index.match(event)) == 9_000
    index.apply([*index_changes(index, 2_000)])
    assert len(index.match(event | {"n7": 7})) == 9_001
    words = fresh({f"s{at}": f"t HAS 'w{at}'" for at in range(300)})
    assert len(words.match({"t": " ".join(f"w{at}" for at in range(300))})) == 300


def index_changes(index: Index, count: int) -> list[Any]:
    """Return changes that add subscriptions with an attribute of their own each."""
    from tamis.contract.change import Change

    return [Change(at + 1, f"n{at}", f"n{at} = {at}") for at in range(count)]


@pytest.mark.compiled
def test_threads_share_the_quick_way_while_attributes_are_added() -> None:
    index = fresh({f"s{at}": f"a = {at % 50} AND b <= {at % 9}" for at in range(1_000)})
    wanted = {a: list(index.match({"a": a, "b": 4})) for a in range(50)}
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for a in np.random.default_rng(seed).integers(0, 50, 300).tolist():
            if list(index.match({"a": a, "b": 4, f"new{a}": "x"})) != wanted[a]:
                wrong.append(a)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for at in range(400):
        index.add(f"new{at}", f"new{at} = 'y' AND other{at} <= 3")
    for thread in threads:
        thread.join()
    assert wrong == []
