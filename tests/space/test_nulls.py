"""Test that ``null`` is absent, with its name in ``$null``, for every form of event and every evaluator."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Event, Index, Limits, parse
from tamis.engines.engines import NAMES
from tamis.errors import EventLimit
from tamis.expression.truth import matches
from tamis.values.event import event_from
from tests.engines import per_engine

BOOK = {
    "a is null": "\"$null\" = 'a'",
    "a is not null": "NOT \"$null\" = 'a'",
    "a or b.c is null": "\"$null\" IN ('a', 'b.c')",
    "both are": "\"$null\" = 'a' AND \"$null\" = 'b.c'",
    "something else is": "\"$null\" != 'a'",
    "nothing is": '"$null" IS NULL',
    "a is absent": "a IS NULL",
    "a is 1 or null": "a = 1 OR \"$null\" = 'a'",
    "b.c is not x, nor silent": "b.c != 'x' OR \"$null\" = 'b.c'",
}

scalars = st.none() | st.none() | st.sampled_from([1, 2.5, "x", "a", True])
flat = st.dictionaries(st.sampled_from(["a", "b.c", "d", "n" * 300, "\ud800"]), scalars, max_size=4)
deep = st.dictionaries(
    st.sampled_from(["a", "b", "$null"]),
    scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.sampled_from("acd"), scalars, max_size=3),
    max_size=3,
)
events = flat.filter(lambda event: all(event.get(odd) is None for odd in ("n" * 300, "\ud800"))) | deep


@pytest.mark.parametrize("engine", NAMES)
@given(batch=st.lists(events, min_size=1, max_size=5))
@per_engine
def test_every_path_sees_the_same_nulls(engine: str, batch: list[dict[str, Any]]) -> None:
    index = INDEXES[engine]
    wanted = [[name for name, text in BOOK.items() if matches(parse(text), event_from(e))] for e in batch]
    assert [list(index.match(event)) for event in batch] == wanted
    assert [list(index.match(event_from(event))) for event in batch] == wanted
    table = index.match_many(batch)
    found = [[] for _ in batch]  # type: list[list[str]]
    for row, name in zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True):
        found[row].append(name)
    assert [sorted(names, key=list(BOOK).index) for names in found] == wanted


INDEXES = {engine: Index.build(BOOK, engine=engine) for engine in NAMES}


def test_null_predicates_hold_as_documented() -> None:
    fresh = Index.build()
    for name, text in BOOK.items():
        fresh.add(name, text)
    for index in (INDEXES["hybrid"], fresh):
        assert index.match({"a": None}) == ["a is null", "a or b.c is null", "a is absent", "a is 1 or null"]
        assert index.match({"b": {"c": [None, "y"]}, "a": 2}) == [
            "a is not null", "a or b.c is null", "something else is", "b.c is not x, nor silent",
        ]  # fmt: skip
        assert "a is null" in index.match(Event({"a": (1, None)}))  # type: ignore[arg-type]
        lines = [json.dumps({"a": None}), '{"a": []}']
        table = index.match_many(lines)
        first = [name for row, name in zip(*table.to_pydict().values(), strict=True) if row == 0]
        assert "a is null" in first
        assert "nothing is" not in first


def test_null_in_a_table_is_absent() -> None:
    table = pa.table({"a": pa.array([None, 1], pa.int64()), "b": pa.array([{"c": None}, {"c": "x"}])})
    found = INDEXES["hybrid"].match_many(table).to_pydict()
    assert "a is null" not in found["subscription"]
    assert found["subscription"].count("nothing is") == 2


@pytest.mark.parametrize("edge", [-1, 0, 1])
def test_nulls_are_no_attributes_and_no_values(edge: int) -> None:
    limits = Limits(event_attributes=2, event_values=2)
    index = Index.build(BOOK, limits=limits)
    event = {f"k{at}": 1 for at in range(2 + edge)} | {"a": None, "x": None, "y": {"z": None}}
    if edge > 0:
        with pytest.raises(EventLimit, match="event_"):
            index.match(event)
    else:
        assert index.match(event) == index.match(event_from(event, limits))
        assert "a is null" in index.match(event)
