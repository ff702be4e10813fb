"""One bad subscription harms only itself, whatever form the book has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis import Index, Subscription
from tamis.errors import DuplicateSubscription, InputError, TamisError
from tamis.expression.predicates import Compare
from tamis.expression.tree import And

GOOD = [("first", "a = 1"), ("last", "a >= 1")]
BAD: dict[str, tuple[Any, Any]] = {
    "syntax": ("bad", "a = "),
    "type": ("bad", "a < TRUE"),
    "pattern": ("bad", "a RLIKE '('"),
    "too long": ("bad", "a = '" + "x" * 70_000 + "'"),
    "empty text": ("bad", ""),
    "empty id": ("", "a = 1"),
    "long id": ("i" * 300, "a = 1"),
    "the same id": ("first", "a = 1"),
}
TREES: dict[str, Any] = {
    "a number": ("bad", 5),
    "nothing": ("bad", None),
    "not a pair": 7,
    "three of four": ("bad", "a = 1", 1.0, 2.0),
    "a priority that is none": ("bad", "a = 1", "high"),
    "an infinite priority": ("bad", "a = 1", float("inf")),
    "an id that is none": (None, "a = 1"),
    "an unclean tree": Subscription("bad", Compare("a", "=", float("nan"))),
    "a foreign tree": Subscription("bad", And((7,))),  # type: ignore[arg-type]
    "a surrogate in the id": ("\ud800", "a = 1"),
    "a mapping without an id": {"expression": "a = 1"},
    "a line that is no JSON": b"{",
    "a line with a surrogate": '{"id": "\ud800", "expression": "a = 1"}',
}
Form = Callable[[list[tuple[Any, Any]], Path], Any]


def _frame(rows: list[tuple[Any, Any]]) -> dict[str, list[Any]]:
    return {"id": [row[0] for row in rows], "expression": [row[1] for row in rows]}


def _jsonl(rows: list[tuple[Any, Any]], path: Path) -> Path:
    path = path / "book.jsonl"
    path.write_text("".join(json.dumps({"id": i, "expression": e}) + "\n\n" for i, e in rows))
    return path


def _parquet(rows: list[tuple[Any, Any]], path: Path) -> Path:
    pq.write_table(pa.table(_frame(rows)), path / "book.parquet")
    return path / "book.parquet"


def _csv(rows: list[tuple[Any, Any]], path: Path) -> Path:
    pd.DataFrame(_frame(rows)).to_csv(path / "book.csv", index=False)
    return path / "book.csv"


FORMS: dict[str, Form] = {
    "pairs": lambda rows, _: rows,
    "generator": lambda rows, _: iter(rows),
    "mappings": lambda rows, _: [{"id": i, "expression": e} for i, e in rows],
    "lines": lambda rows, _: [json.dumps({"id": i, "expression": e}) for i, e in rows],
    "arrow": lambda rows, _: pa.table(_frame(rows)),
    "pandas": lambda rows, _: pd.DataFrame(_frame(rows)),
    "jsonl": _jsonl,
    "parquet": _parquet,
    "csv": _csv,
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("form", FORMS)
def test_a_bad_one_is_left_out_and_listed(form: str, bad: str, tmp_path: Path) -> None:
    rows = [GOOD[0], BAD[bad], GOOD[1]]
    index = Index.build(FORMS[form](rows, tmp_path), on_error="skip")
    assert sorted(index.match({"a": 1})) == ["first", "last"]
    assert len(index) == 2
    ((_, error),) = index.refused
    assert isinstance(error, TamisError)
    with pytest.raises(type(error)):
        Index.build(FORMS[form](rows, tmp_path))


@pytest.mark.parametrize("bad", TREES)
def test_objects_that_are_no_subscriptions(bad: str) -> None:
    rows = [GOOD[0], TREES[bad], GOOD[1]]
    index = Index.build(rows, on_error="skip")
    assert sorted(index.match({"a": 1})) == ["first", "last"]
    assert len(index.refused) == 1
    with pytest.raises(TamisError):
        Index.build(rows)
    with pytest.raises(TamisError):
        index.add([TREES[bad]])
    assert len(index) == 2


def test_adding_is_all_or_nothing() -> None:
    index = Index.build({"old": "a = 1"})
    for book in (
        {"x": "a = 1", "y": "a ="},
        {"x": "a = 1", "old": "a = 2"},
        [("x", "a = 1"), ("x", "a = 2")],
    ):
        with pytest.raises(TamisError):
            index.add(book)
        assert index.match({"a": 1}) == ["old"]
    with pytest.raises(DuplicateSubscription):
        index.add("old", "a = 2")
    with pytest.raises(TamisError):
        index.update("old", "a =")
    assert index.match({"a": 1}) == ["old"]


@pytest.mark.parametrize(
    "source", [5, "no-such-file.jsonl", "book.xls", b"a = 1", pa.table({"x": [1]})], ids=repr
)
def test_what_is_no_book_at_all(source: Any) -> None:
    with pytest.raises(InputError):
        Index.build(source)


@pytest.mark.parametrize("source", [5, {"a": 1}, b"{}", "no-such-file.jsonl", "events.xls"], ids=repr)
def test_what_is_no_stream_of_events(source: Any) -> None:
    with pytest.raises(InputError):
        Index.build({"s": "a = 1"}).match_many(source)


@pytest.mark.parametrize(
    "arguments", [{"engine": "warp"}, {"on_error": "ignore"}, {"parameters": {"x": 1}}], ids=str
)
def test_arguments_that_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(TamisError):
        Index.build({"s": "a = 1"}, **arguments)
