"""Every limit of events and subscriptions at its edge: the limit itself passes, one more is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from tamis import Index, Limits, Subscription
from tamis.errors import EventError, EventLimit, SubscriptionError
from tamis.expression.predicates import Compare
from tamis.expression.tree import And, Or
from tamis.limits import DEFAULT_LIMITS

EDGES = [-1, 0, 1]
edges = pytest.mark.parametrize("edge", EDGES, ids=["below", "at", "above"])


def nested(depth: int) -> dict[str, Any]:
    """An event whose value stands ``depth`` levels deep."""
    value: Any = 1
    for _ in range(depth - 1):
        value = {"a": value}
    return {"a": value}


EVENTS: dict[str, tuple[int, Callable[[int], dict[str, Any]]]] = {
    "event_attributes": (20, lambda n: {f"a{k}": k for k in range(n)}),
    "event_values": (50, lambda n: {"a": list(range(n))}),
    "event_depth": (6, nested),
    "attribute_name_bytes": (40, lambda n: {"n" * n: 1}),
}


@edges
@pytest.mark.parametrize("built", [True, False], ids=["segment", "fresh"])
@pytest.mark.parametrize("name", EVENTS)
def test_limits_of_an_event(name: str, edge: int, built: bool) -> None:
    limit, make = EVENTS[name]
    event = make(limit + edge)
    index = Index.build({"always": And(())} if built else {}, limits=Limits(**{name: limit}))
    if not built:
        index.add("always", And(()))
    for source in ([event], [json.dumps(event)]):
        (batch,) = index.match_batches(source)
        assert [why.details["limit"] for _, why in batch.refused] == ([name] if edge > 0 else [])
        assert batch.table.num_rows == (0 if edge > 0 else 1)
    if edge > 0:
        with pytest.raises(EventLimit, match=f"{name} = {limit}"):
            index.match(event)
    else:
        assert index.match(event) == ["always"]


@edges
@pytest.mark.parametrize("name", ["event_attributes", "event_values"])
def test_limits_of_a_row(name: str, edge: int) -> None:
    limit, make = EVENTS[name]
    event = make(limit + edge)
    index = Index.build({"always": And(())}, limits=Limits(**{name: limit}))
    (batch,) = index.match_batches(pa.Table.from_pylist([event, {}, {}]))
    assert [(row, why.details["limit"]) for row, why in batch.refused] == ([(0, name)] if edge > 0 else [])
    assert batch.table["event"].to_pylist() == ([1, 2] if edge > 0 else [0, 1, 2])
    pairs = [(key, [value] if not isinstance(value, list) else value) for key, value in event.items()]
    sparse = pa.array([[], pairs], pa.map_(pa.string(), pa.list_(pa.int64())))
    (batch,) = index.match_batches(pa.table({"m": sparse}))
    assert [row for row, _ in batch.refused] == ([1] if edge > 0 else [])


@edges
def test_event_bytes(edge: int) -> None:
    index = Index.build({"always": And(())}, limits=Limits(event_bytes=100))
    line = json.dumps({"a": "é" * 20}, ensure_ascii=False).encode()
    line = line[:-1] + b" " * (100 + edge - len(line)) + b"}"
    assert len(line) == 100 + edge
    for source in (line, line.decode()):
        (batch,) = index.match_batches([source, "{}"])
        assert [why.details["limit"] for _, why in batch.refused] == (["event_bytes"] if edge > 0 else [])
        assert batch.table["event"].to_pylist() == ([1] if edge > 0 else [0, 1])


@edges
def test_attribute_names_are_measured_in_bytes(edge: int) -> None:
    name = "é" * 10 + "x" * (5 + edge)
    index = Index.build({"always": And(())}, limits=Limits(attribute_name_bytes=25))
    (batch,) = index.match_batches([{name: 1}])
    assert bool(batch.refused) == (edge > 0)
    sparse = pa.array([[(name, 1)]], pa.map_(pa.string(), pa.int64()))
    (batch,) = index.match_batches(pa.table({"m": sparse}))
    assert bool(batch.refused) == (edge > 0)


@edges
def test_subscription_id_bytes(edge: int) -> None:
    name = "é" * 10 + "x" * (5 + edge)
    limits = Limits(subscription_id_bytes=25)
    bulk = pa.table({"id": [name], "attribute": ["a"], "operator": ["="], "value": [1]})
    sources: list[Any] = [
        {name: "a = 1"},
        [(name, "a = 1")],
        [Subscription(name, Compare("a", "=", 1))],
        [json.dumps({"id": name, "expression": "a = 1"})],
        pa.table({"id": [name], "expression": ["a = 1"]}),
        bulk,
    ]
    for source in sources:
        if edge > 0:
            with pytest.raises(SubscriptionError, match="subscription_id_bytes"):
                Index.build(source, limits=limits)
        else:
            assert Index.build(source, limits=limits).match({"a": 1}) == [name]
    index = Index.build({}, limits=limits)
    if edge > 0:
        with pytest.raises(SubscriptionError, match="subscription_id_bytes"):
            index.add(name, "a = 1")
    else:
        index.add(name, "a = 1")
        assert name in index


@edges
@pytest.mark.parametrize("fresh", [0, 5])
def test_matches_per_event(edge: int, fresh: int) -> None:
    count = 20 + edge
    index = Index.build({f"s{n}": "a = 1" for n in range(count - fresh)}, limits=Limits(matches_per_event=20))
    for n in range(fresh):
        index.add(f"f{n}", "a = 1")
    if edge > 0:
        with pytest.raises(EventLimit, match="matches_per_event = 20"):
            index.match({"a": 1})
    else:
        assert len(index.match({"a": 1})) == count
    # Nothing is cut silently: streamed, all matches come.
    assert index.match_many([{"a": 1}]).num_rows == count


@edges
def test_dnf_clauses(edge: int) -> None:
    """Up to the limit the clauses decide; above it a cover is indexed and the tree decides."""
    left = Or(tuple(Compare(name, "=", 1) for name in "abcd"))
    right = Or(tuple(Compare(name, ">", 0) for name in "xyz"))
    index = Index.build({"s": And((left, right))}, limits=Limits(dnf_clauses=12 - edge))
    (segment,) = index.info()["segments"]
    assert segment["covers"] == (segment["clauses"] if edge > 0 else 0)
    assert segment["clauses"] == (12 if edge <= 0 else 3)
    assert index.match({"b": 1, "y": 1}) == ["s"]
    assert index.match({"b": 1, "y": 0}) == []
    assert index.match({"b": 0, "y": 1}) == []


def test_strings_of_events_may_be_longer_than_operands() -> None:
    """``string_bytes`` bounds what a subscription may write; an event is bounded by ``event_bytes``."""
    text = "word " * 20_000 + "needle"
    assert len(text) > DEFAULT_LIMITS.string_bytes
    index = Index.build({"has": "t HAS 'needle'", "like": "t LIKE '%needle'", "other": "t = 'needle'"})
    for source in ([{"t": text}], [json.dumps({"t": text})], pa.table({"t": [text]})):
        assert sorted(index.match_many(source)["subscription"].to_pylist()) == ["has", "like"]


def test_limits_are_kept_when_an_index_is_opened(tmp_path: Any) -> None:
    Index.build({"always": And(())}).save(tmp_path)
    index = Index.open(tmp_path, limits=Limits(event_attributes=1))
    assert index.match({"a": 1}) == ["always"]
    with pytest.raises(EventError, match="event_attributes"):
        index.match({"a": 1, "b": 2})
