"""One bad event harms only itself: it matches nothing, says why, and its batch goes on, in every form."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tamis import Event, Index, Limits
from tamis.errors import EventError, EventLimit, EventSyntax, EventValue, InputError
from tamis.expression.predicates import Compare, Exists
from tamis.expression.tree import And, Expr, Not, Or
from tamis.values.event import decode_event, event_from

# One subscription of each way to be decided: posted, residual (NOT-only, always true), cover, fresh.
BOOK: dict[str, Expr] = {
    "posted": Compare("a", "=", 1),
    "not-only": Not(Compare("b", "=", "x")),
    "always": And(()),
    "cover": And(tuple(Or((Compare(n, "=", 1), Not(Exists(n)))) for n in "abcd")),
}
GOOD = {"a": 1}
NAN = float("nan")
BAD: dict[str, tuple[Any, type[EventError]]] = {
    "not an object": (7, EventSyntax),
    "none": (None, EventSyntax),
    "NaN": ({"a": NAN}, EventValue),
    "infinity nobody asks for": ({"zz": float("inf")}, EventValue),
    "huge integer": ({"a": 2**63}, EventValue),
    "huge integer nobody asks for": ({"zz": -(2**63) - 1}, EventValue),
    "lone surrogate": ({"b": "\ud800"}, EventValue),
    "lone surrogate nobody asks for": ({"zz": "\ud800"}, EventValue),
    "lone surrogate in a name": ({"\ud800": 1}, EventValue),
    "name that is no string": ({1: 1}, EventSyntax),
    "name too long": ({"z" * 257: 1}, EventLimit),
    "bytes": ({"a": b"1"}, EventValue),
    "a foreign object": ({"a": object()}, EventValue),
    "point off the map": ({"a": {"$point": [181, 0]}}, EventValue),
    "point without place": ({"a": {"$point": "here"}}, EventValue),
    "time that is none": ({"a": {"$time": "yesterday"}}, EventValue),
    "empty interval": ({"a": {"$interval": [2, 1]}}, EventValue),
    "interval of mixed types": ({"a": {"$interval": [2, "x"]}}, EventValue),
    "interval with unknown parts": ({"a": {"$interval": {"from": 1}}}, EventValue),
    "interval of three": ({"a": {"$interval": [1, 2, 3]}}, EventValue),
    "unclean Event": (Event({"a": (NAN,)}), EventValue),
    "Event that holds no values": (Event({"a": (None, object())}), EventValue),
}


@pytest.fixture(params=["segments", "fresh", "both"])
def index(request: pytest.FixtureRequest) -> Index:
    """The book in segments, waiting to be in one, and half of it each."""
    limits = Limits(dnf_clauses=4)
    if request.param == "segments":
        return Index.build(BOOK, limits=limits)
    built = {} if request.param == "fresh" else dict(list(BOOK.items())[:2])
    index = Index.build(built, limits=limits)
    for name, expr in BOOK.items():
        if name not in built:
            index.add(name, expr)
    return index


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_event_is_refused_and_the_others_go_on(index: Index, bad: str) -> None:
    event, error = BAD[bad]
    with pytest.raises(error) as raised:
        index.match(event)
    assert raised.value.code == error.code
    (batch,) = index.match_batches([GOOD, event, GOOD])
    assert [(row, type(why)) for row, why in batch.refused] == [(1, error)]
    assert _rows(batch.table) == {0: set(BOOK), 2: set(BOOK)}


def test_the_same_defect_has_the_same_code_and_words_for_it() -> None:
    """As a dictionary or as JSON; and JSON says what is wrong, not where a reader gave up."""
    for text, words in {
        b'{"a": NaN}': "NaN is not JSON",
        b'{"a": [-Infinity]}': "-Infinity is not JSON",
        b'{"a": 1e999}': "1e999 is too large",
        b'{"a": -1e999}': "-1e999 is too large",
        b'{"a": 9223372036854775808}': "does not fit 64 bits",
        b'{"a": ' + b"1" * 5_000 + b"}": "does not fit 64 bits",
        b'{"b": "\\ud800"}': "lone surrogate",
        b'{"b": "\\ud800 and more"}': "lone surrogate",
        b'{"\\udc00": 1}': "lone surrogate",
        '{"b": "\ud800"}': "lone surrogate",
    }.items():
        with pytest.raises(EventValue, match=words):
            event_from(decode_event(text))
    for rubbish in (b"", b"{", b'{"a": tru}', b'{"b": "\xff"}', "{}".encode("utf-16"), b"[" * 100_000):
        with pytest.raises(EventSyntax, match="is not JSON"):
            decode_event(rubbish)


LINES: dict[str, bytes] = {
    "not JSON": b"{",
    "an array": b"[1]",
    "NaN": b'{"a": NaN}',
    "too large for a float": b'{"a": 1e999}',
    "huge integer": b'{"a": 9223372036854775808}',
    "bad UTF-8": b'{"b": "\xff"}',
    "lone surrogate": b'{"b": "\\ud800"}',
    "the same key twice": b'{"a": 1, "a": 1}',
    "the same key twice, written differently": b'{"a": 1, "\\u0061": 2}',
    "the same key twice, deep down": b'{"z": [{"y": {"a": 1, "a":2}}]}',
    "very deep": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deeper than the limit": b'{"a": ' + b"[" * 40 + b"1" + b"]" * 40 + b"}",
    "trailing rubbish": b'{"a": 1} x',
    "null byte": b'{"a": "\x00"}',
}


@pytest.mark.parametrize("bad", LINES)
def test_a_bad_line_is_refused_and_the_others_go_on(index: Index, bad: str, tmp_path: Path) -> None:
    lines = [json.dumps(GOOD).encode(), LINES[bad], json.dumps(GOOD).encode()]
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    for source in (lines, path):
        (batch,) = index.match_batches(source)
        assert [row for row, _ in batch.refused] == [1]
        assert isinstance(batch.refused[0][1], EventError)
        assert _rows(batch.table) == {0: set(BOOK), 2: set(BOOK)}


COLUMNS: dict[str, Callable[[], pa.Table]] = {
    "NaN": lambda: pa.table({"a": pa.array([1.0, NAN, 1.0])}),
    "NaN nobody asks for": lambda: pa.table({"a": [1, 1, 1], "zz": [0.0, NAN, 0.0]}),
    "NaN in a list": lambda: pa.table({"a": pa.array([[1.0], [1.0, float("inf")], [1.0]])}),
    "unsigned beyond 64 bits": lambda: pa.table({"a": pa.array([1, 2**63, 1], pa.uint64())}),
    "unsigned in a map": lambda: pa.table(
        {"m": pa.array([[("a", 1)], [("a", 2**63)], [("a", 1)]], pa.map_(pa.string(), pa.uint64()))}
    ),
    "NaN in a map": lambda: pa.table(
        {"m": pa.array([[("a", 1.0)], [("zz", NAN)], [("a", 1.0)]], pa.map_(pa.string(), pa.float64()))}
    ),
    "point off the map": lambda: pa.table(
        {"a": [1, 1, 1], "p": [{"lon": 0.0, "lat": 0.0}, {"lon": 0.0, "lat": 91.0}, {"lon": 0.0, "lat": 0.0}]}
    ),
    "half a point": lambda: pa.table(
        {"a": [1, 1, 1], "p": [{"lon": 0.0, "lat": 0.0}, {"lon": 0.0, "lat": None}, {"lon": 0.0, "lat": 0.0}]}
    ),
    "time after the year 9999": lambda: pa.table(
        {"a": [1, 1, 1], "t": pa.array([0, 10**15, 0], pa.timestamp("s"))}
    ),
    "date before the year 1": lambda: pa.table(
        {"a": [1, 1, 1], "t": pa.array([0, -(2**30), 0], pa.date32())}
    ),
    "bad UTF-8": lambda: pa.table(
        {"a": [1, 1, 1], "t": pa.array([b"x", b"\xff", b"x"], pa.binary()).view(pa.string())}
    ),
    "bad UTF-8 in a column asked for": lambda: pa.table(
        {"a": [1, 1, 1], "d": pa.array([b"x", b"\xff", b"x"], pa.binary()).view(pa.string())}
    ),
}  # fmt: skip


@pytest.mark.parametrize("bad", COLUMNS)
def test_a_bad_row_of_a_table_is_refused_and_the_others_go_on(bad: str) -> None:
    table = COLUMNS[bad]()
    asked = Index.build({"t": Exists("t"), "p": Exists("p"), "d": Exists("d"), **BOOK})
    fresh = Index.build()
    fresh.add("not-only", BOOK["not-only"])
    for index in (Index.build(BOOK, limits=Limits(dnf_clauses=4)), asked, fresh):
        (batch,) = index.match_batches(table)
        assert [(row, type(why)) for row, why in batch.refused] == [(1, EventValue)], bad
        rows = _rows(batch.table)
        assert set(rows) == {0, 2}
        assert rows[0] == rows[2]


@pytest.mark.parametrize("kind", [pa.binary(), pa.time32("s"), pa.duration("s")])
def test_a_column_that_no_attribute_can_be_is_refused_by_name(kind: Any, index: Index) -> None:
    table = pa.table({"a": [1], "blob": pa.array([None], kind)})
    with pytest.raises(InputError, match="blob"):
        index.match_many(table)


def test_limits_of_an_event_hold_for_tables_too() -> None:
    wide = pa.table({f"c{n}": [1, 1 if n < 3 else None] for n in range(5)})
    index = Index.build({"always": And(()), "c4": Exists("c4")}, limits=Limits(event_attributes=3))
    (batch,) = index.match_batches(wide)
    assert [(row, why.details["limit"]) for row, why in batch.refused] == [(0, "event_attributes")]
    assert _rows(batch.table) == {1: {"always"}}


def test_decimals_and_nanoseconds_mean_the_same_on_every_path() -> None:
    table = pa.table(
        {
            "d": pa.array([Decimal("0.1"), Decimal("12345678.901")], pa.decimal128(20, 3)),
            "t": pa.array(
                [np.datetime64("1969-12-31T23:59:59.999999999"), np.datetime64("2026-01-01", "ns")]
            ),
        }
    )
    book = {
        "tenth": Compare("d", "=", 0.1),
        "large": Compare("d", "=", 12345678.901),
        "eve": Compare("t", "=", datetime.fromisoformat("1969-12-31T23:59:59.999999+00:00")),
    }
    fresh = Index.build()
    for name, expr in book.items():
        fresh.add(name, expr)
    for index in (Index.build(book), fresh):
        assert _rows(index.match_many(table)) == {0: {"tenth", "eve"}, 1: {"large"}}


@pytest.mark.parametrize("build", [True, False])
def test_an_attribute_has_one_name_however_it_is_composed(build: bool) -> None:
    composed, decomposed = "é", "e\u0301"
    index = Index.build({"s": f'"{decomposed}" = 1'} if build else {})
    if not build:
        index.add("s", f'"{decomposed}" = 1')
    for event in ({composed: 1}, {decomposed: 1}, {decomposed: [1, 2]}, {decomposed: 2, composed: 1}):
        assert index.match(event) == ["s"]
        assert index.match_many([event, {}])["event"].to_pylist() == [0]
        scalars = {name: [value] for name, value in event.items()}
        assert index.match_many(pa.table(scalars))["event"].to_pylist() == [0]


@pytest.mark.parametrize("build", [True, False])
def test_columns_of_one_name_add_their_values(build: bool) -> None:
    book = {"one": "a = 1", "two": "a = 2", "deep": "x.y = 3", "map": "a = 4"}
    index = Index.build(book if build else {})
    if not build:
        for name, text in book.items():
            index.add(name, text)
    pairs = pa.array([[("a", 4), ("a", 5), ("x.y", 6)]], pa.map_(pa.string(), pa.int64()))
    columns = [pairs, pa.array([1]), pa.array([2]), pa.array([{"y": 3}]), pa.array([9])]
    table = pa.Table.from_arrays(columns, ["m", "a", "a", "x", "x.y"])
    assert _rows(index.match_many(table)) == {0: set(book)}


def _rows(table: pa.Table) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for row, name in zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True):
        found.setdefault(row, set()).add(name)
    return found
