"""Test that refused subscriptions are named with id, row, line and file; unknown fields are refused."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis import Index
from tamis.errors import (
    InputError,
    ParseError,
    RefusedWarning,
    SubscriptionError,
    SubscriptionsRefused,
    TamisError,
)

ROWS: list[tuple[str, str]] = [("good", "a = 1"), ("bad", "a ="), ("fine", "a = 2"), ("worse", "= 1")]
Rows = list[tuple[str, str]]


def _objects(rows: Rows) -> list[dict[str, Any]]:
    return [{"id": name, "expression": text} for name, text in rows]


def _jsonl(rows: Rows, folder: Path) -> Path:
    (folder / "book.jsonl").write_text("\n".join(json.dumps(row) + "\n" for row in _objects(rows)))
    return folder / "book.jsonl"


def _zipped(rows: Rows, folder: Path) -> Path:
    (folder / "book.jsonl.gz").write_bytes(gzip.compress(_jsonl(rows, folder).read_bytes()))
    return folder / "book.jsonl.gz"


def _csv(rows: Rows, folder: Path) -> Path:
    lines = [f'{name},"{text}\n"' for name, text in rows]  # every record has two lines
    (folder / "book.csv").write_text("\n\n".join(["id,expression", *lines]))
    return folder / "book.csv"


def _parquet(rows: Rows, folder: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(_objects(rows)), folder / "book.parquet")
    return folder / "book.parquet"


def _bulk(rows: Rows, folder: Path) -> pa.Table:
    return pa.table(
        {
            "id": [name for name, _ in rows],
            "attribute": ["a"] * len(rows),
            "operator": ["=" if text.startswith("a = ") else "nearly" for _, text in rows],
            "number": [1] * len(rows),
        }
    )


FORMS: dict[str, tuple[Callable[[Rows, Path], Any], list[int | None]]] = {
    "dictionary": (lambda rows, _: dict(rows), [None, None]),
    "pairs": (lambda rows, _: rows, [None, None]),
    "objects": (lambda rows, _: _objects(rows), [None, None]),
    "lines": (lambda rows, _: [json.dumps(row) for row in _objects(rows)], [None, None]),
    "arrow": (lambda rows, _: pa.Table.from_pylist(_objects(rows)), [None, None]),
    "pandas": (lambda rows, _: pd.DataFrame(_objects(rows)), [None, None]),
    "bulk": (_bulk, [None, None]),
    "jsonl": (_jsonl, [3, 7]),
    "zipped": (_zipped, [3, 7]),
    "csv": (_csv, [6, 12]),
    "parquet": (_parquet, [None, None]),
}


@pytest.mark.parametrize("form", FORMS)
def test_refused_entries_know_their_places(form: str, tmp_path: Path) -> None:
    make, lines = FORMS[form]
    source = make(ROWS, tmp_path)
    index = Index.build(source, on_error="skip")
    found = [(name, error.details["subscription"], error.details["row"]) for name, error in index.refused]
    assert found == [("bad", "bad", 2), ("worse", "worse", 4)]
    assert [error.details.get("line") for _, error in index.refused] == lines
    file = str(source) if isinstance(source, Path) else None
    assert [error.details.get("file") for _, error in index.refused] == [file, file]
    json.dumps([error.as_dict() for _, error in index.refused])


@pytest.mark.parametrize("form", FORMS)
def test_one_bad_row_raises_its_own_error_with_its_place(form: str, tmp_path: Path) -> None:
    make, lines = FORMS[form]
    source = make(ROWS[:3], tmp_path)
    kind = SubscriptionError if form == "bulk" else ParseError
    with pytest.raises(kind) as caught:
        Index.build(source)
    assert type(caught.value) is kind
    assert "subscription 'bad', row 2" in str(caught.value)
    assert caught.value.details["row"] == 2
    if lines[0] is not None:
        assert f"line {lines[0]} of {source}" in str(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_several_bad_rows_raise_one_error_with_all_of_them(form: str, tmp_path: Path) -> None:
    source = FORMS[form][0](ROWS, tmp_path)
    for call in (lambda: Index.build(source), lambda: Index.build({}).add(source)):
        with pytest.raises(SubscriptionsRefused) as caught:
            call()
        assert [name for name, _ in caught.value.refused] == ["bad", "worse"]
        assert all(isinstance(error, TamisError) for _, error in caught.value.refused)
        assert "2 subscriptions cannot be used" in str(caught.value)
        assert "subscription 'bad', row 2" in str(caught.value)
        assert "subscription 'worse', row 4" in str(caught.value)
        assert caught.value.details["count"] == 2


def test_message_shows_twenty_and_counts_the_rest() -> None:
    with pytest.raises(SubscriptionsRefused) as caught:
        Index.build({f"s{n}": "a =" for n in range(1_234)})
    lines = str(caught.value).splitlines()
    assert len(lines) == 22
    assert "'s19'" in lines[20]
    assert "1,214 more" in lines[21]
    assert len(caught.value.refused) == 1_234


def test_duplicate_names_the_row_of_the_first() -> None:
    index = Index.build([("a", "x = 1"), ("b", "x = 1"), ("a", "x = 2")], on_error="skip")
    ((name, error),) = index.refused
    assert (name, error.details["row"]) == ("a", 3)
    assert "first in row 1" in error.message


def test_report_skips_and_warns_once() -> None:
    with pytest.warns(RefusedWarning, match="2 subscriptions refused") as caught:
        index = Index.build(dict(ROWS), on_error="report")
    assert len(caught) == 1
    assert "'bad', row 2" in str(caught[0].message)
    assert [name for name, _ in index.refused] == ["bad", "worse"]
    assert len(index) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Index.build({"good": "a = 1"}, on_error="report")
        Index.build(dict(ROWS), on_error="skip")


# -- unknown fields ---------------------------------------------------------------------------------


def _misspelt(field: str) -> list[dict[str, Any]]:
    return [{"id": "s", "expression": "a = 1", field: 2.0}]


TABLES: dict[str, Callable[[list[dict[str, Any]], Path], Any]] = {
    "arrow": lambda rows, _: pa.Table.from_pylist(rows),
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "parquet": lambda rows, folder: _written(rows, folder / "book.parquet"),
    "csv": lambda rows, folder: _written(rows, folder / "book.csv"),
}
OBJECTS: dict[str, Callable[[list[dict[str, Any]], Path], Any]] = {
    "objects": lambda rows, _: rows,
    "lines": lambda rows, _: [json.dumps(row) for row in rows],
    "jsonl": lambda rows, folder: _written(rows, folder / "book.jsonl"),
}


def _written(rows: list[dict[str, Any]], path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("form", [*TABLES, *OBJECTS])
def test_misspelt_field_is_refused_with_a_suggestion(form: str, tmp_path: Path) -> None:
    source = (TABLES | OBJECTS)[form](_misspelt("prioritty"), tmp_path)
    kind = InputError if form in TABLES else SubscriptionError
    with pytest.raises(kind, match="did you mean 'priority'") as caught:
        Index.build(source)
    assert "id, expression, priority, version" in caught.value.message


@pytest.mark.parametrize("form", [*TABLES, *OBJECTS])
def test_ignored_field_is_passed_over(form: str, tmp_path: Path) -> None:
    source = (TABLES | OBJECTS)[form](_misspelt("owner"), tmp_path)
    with pytest.raises(TamisError, match="owner"):
        Index.build(source)
    for ignore in (("owner",), "owner", "*", ["owner", "other"]):
        assert Index.build(source, ignore=ignore).match({"a": 1}) == ["s"]


def test_misspelt_bulk_column_is_refused_with_a_suggestion() -> None:
    table = pa.table({"id": ["s"], "attribute": ["a"], "operator": ["="], "numbre": [1]})
    with pytest.raises(InputError, match="did you mean 'number'"):
        Index.build(table)


def test_repeated_key_of_a_line_is_refused() -> None:
    with pytest.raises(ParseError, match="stands twice"):
        Index.build(['{"id": "a", "id": "b", "expression": "x = 1"}'])


def test_torn_csv_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "book.csv"
    file.write_text('id,expression\na,x = 1\nb,"x = 2\n')
    with pytest.raises(InputError, match="line 3"):
        Index.build(file)
    file.write_text("id,expression\na,x = 1\nb\nc,x = 1\n")
    index = Index.build(file, on_error="skip")
    ((_, error),) = index.refused
    assert "1 fields" in error.message
    assert error.details["line"] == 3
    assert index.match({"x": 1}) == ["a", "c"]


def test_bytes_that_are_not_utf8_harm_only_their_row(tmp_path: Path) -> None:
    file = tmp_path / "book.csv"
    file.write_bytes(b"id,expression\na,x = 1\nb,x = '\xff'\nc,x = 1\n")
    index = Index.build(file, on_error="skip")
    assert [name for name, _ in index.refused] == ["b"]
    assert index.match({"x": 1}) == ["a", "c"]
