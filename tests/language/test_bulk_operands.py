"""Test that operands of bulk rows are cleaned like those of text, each distinct one once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Limits, parse, to_text
from tamis.columns.groups import distinct_runs, places_of
from tamis.errors import TamisError

_runs = st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, 2), max_size=20)), max_size=12)


@given(_runs)
def test_distinct_runs_are_found(rows: list[tuple[int, list[int]]]) -> None:
    count = np.array([len(run) for _, run in rows], np.int64)
    start = np.cumsum(count) - count
    values = np.array([value for _, run in rows for value in run], np.uint32)
    number, first = distinct_runs(np.array([key for key, _ in rows], np.int64), start, count, values)
    distinct: dict[Any, int] = {}
    expected = [distinct.setdefault((key, tuple(run)), len(distinct)) for key, run in rows]
    assert number.tolist() == expected
    assert first.tolist() == [expected.index(at) for at in range(len(distinct))]
    assert np.array_equal(values[places_of(start, count)], values)


def _table(rows: list[tuple[str, str, list[str]]]) -> pa.Table:
    ids, operators, operands = zip(*rows, strict=True)
    columns = {"id": ids, "attribute": ["t"] * len(ids), "operator": operators, "value": operands}
    return pa.table({name: list(values) for name, values in columns.items()})


def test_rows_may_differ_in_their_number_of_operands() -> None:
    rows = [
        ("phrase", "has all", ["red car"], "t HAS PHRASE 'red car'"),
        ("again", "has", ["Red  car!"], "t HAS PHRASE 'Red  car!'"),
        ("denied", "not has any", ["red car"], "NOT t HAS PHRASE 'red car'"),
        ("both", "has all", ["red", "car"], "t HAS ALL ('red', 'car')"),
        ("like", "like", ["re%"], "t LIKE 're%'"),
        ("network", "in cidr", ["10.1.2.3/8", "::1"], "t IN CIDR ('10.0.0.0/8', '::1/128')"),
    ]
    index = Index.build(_table([row[:3] for row in rows]))
    assert set(index.match({"t": "a red car"})) == {"phrase", "again", "both"}
    assert set(index.match({"t": "car red"})) == {"denied", "both"}
    for identity, _, _, text in rows:
        held = to_text(index.subscription(identity).expression)
        if identity != "denied":
            assert held == to_text(parse(text))


def test_each_row_with_a_bad_operand_is_refused() -> None:
    rows = [("a", "rlike", ["("]), ("b", "rlike", ["x"]), ("c", "rlike", ["("]), ("d", "has", ["..."])]
    index = Index.build(_table(rows), on_error="skip")
    assert [identity for identity, _ in index.refused] == ["a", "c", "d"]
    assert index.match({"t": "x"}) == ["b"]
    with pytest.raises(TamisError):
        Index.build(_table(rows))
    with pytest.raises(TamisError):
        Index.build(_table([("a", "rlike", ["xxxx"])]), limits=Limits(regex_characters=3))


def test_coded_columns_are_read_like_plain_ones() -> None:
    values = pa.array(["unused", "b", "a", "b", "e\u0301", "é"])
    ids = pa.DictionaryArray.from_arrays(pa.array([2, 3, 1, 5, 4]), values)
    table = pa.table({"id": ids, "attribute": ["t"] * 5, "operator": [">="] * 5, "value": [1, 2, 3, 4, 5]})
    index = Index.build(table)
    assert sorted(index.match({"t": 5})) == ["a", "b", "é"]
    assert sorted(index.match({"t": 2})) == ["a"]
    assert len(index) == 3


def test_merging_keeps_each_literal_once() -> None:
    index = Index.build({"a": "t = 'x' AND n = 1", "b": "t WITHIN BOX (0, 0, 1, 1) AND n = 2.5"})
    index.add({"c": "t = 'x' AND n = 1", "d": "t LIKE 'x%' OR b = TRUE AND d > DATE '2026-01-01'"})
    index.remove("a")
    index.merge()
    assert {name: to_text(index.subscription(name).expression) for name in "bcd"} == {
        "b": to_text(parse("t WITHIN BOX (0, 0, 1, 1) AND n = 2.5")),
        "c": to_text(parse("t = 'x' AND n = 1")),
        "d": to_text(parse("t LIKE 'x%' OR b = TRUE AND d > DATE '2026-01-01'")),
    }
    assert sorted(index.match({"t": "x", "n": 1})) == ["c", "d"]
