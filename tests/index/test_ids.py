"""Test that ids are text: every other type is refused with the remedy, at every entry."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis import Index, Subscription
from tamis.errors import InputError, SubscriptionError, TamisError, UnknownSubscription

STRANGE = [7, True, 7.0, uuid.UUID(int=7), b"7", np.int64(7), ("7",), None]
BULK = {"attribute": ["a", "a"], "operator": ["=", "="], "number": [1, 1]}
EXPRESSIONS = {"expression": ["a = 1", "a = 1"]}


def _kind(number: Any) -> str:
    """Return the id of a test: Python refuses to write very long integers."""
    return f"{number.bit_length()} bits" if type(number) is int else repr(number)


@pytest.mark.parametrize("identity", STRANGE, ids=repr)
def test_id_that_is_not_text_is_refused_by_every_method(identity: Any) -> None:
    index = Index.build({"7": "a = 1"})
    calls: list[Callable[[], Any]] = [
        lambda: Index.build([(identity, "a = 1")]),
        lambda: Index.build([{"id": identity, "expression": "a = 1"}]),
        lambda: Index.build([Subscription(identity, "a = 1")]),  # type: ignore[arg-type]
        lambda: index.add(identity, "a = 1"),
        lambda: index.update(identity, "a = 2"),
        lambda: index.update(identity, "a = 2", priority=1.0),
        lambda: index.remove(identity),
        lambda: index.explain(identity, {"a": 1}),
        lambda: index.subscription(identity),
        lambda: index.expression(identity),
        lambda: index.versions([identity]),
        lambda: identity in index,
    ]
    for call in calls:
        with pytest.raises(SubscriptionError, match="an id is a string") as caught:
            call()
        assert "str(" in caught.value.message or identity is None
    assert list(index.match({"a": 1})) == ["7"]


def test_dictionary_with_integer_ids_is_refused_with_the_remedy() -> None:
    with pytest.raises(SubscriptionError, match=r"str\(7\)"):
        Index.build({7: "a = 1"})


@pytest.mark.parametrize("others", [EXPRESSIONS, BULK], ids=["text", "bulk"])
@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, 8]),
        pa.array([7.0, 8.0]),
        pa.array([True, False]),
        pa.array([7, 8]).dictionary_encode(),
        pa.array([b"7", b"8"]),
    ],
    ids=lambda ids: str(ids.type),
)
def test_column_of_ids_that_are_not_text_is_refused(
    ids: pa.Array, others: dict[str, list[Any]], tmp_path: Path
) -> None:
    table = pa.table({"id": ids, **others})
    pq.write_table(table, tmp_path / "book.parquet")
    for source in (table, table.to_pandas(), tmp_path / "book.parquet"):
        with pytest.raises(SubscriptionError, match="text"):
            Index.build(source)


@pytest.mark.parametrize("others", [EXPRESSIONS, BULK], ids=["text", "bulk"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_every_arrow_type_of_text_is_an_id(kind: pa.DataType, others: dict[str, list[Any]]) -> None:
    table = pa.table({"id": pa.array(["007", "7"], pa.string()).cast(kind), **others})
    assert Index.build(table).match({"a": 1}) == ["007", "7"]
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert Index.build(stream).match({"a": 1}) == ["007", "7"]


def test_mixed_ids_of_a_pandas_frame_are_a_typed_error() -> None:
    with pytest.raises(TamisError):
        Index.build(pd.DataFrame({"id": ["a", 7], "expression": ["a = 1", "a = 1"]}))


def test_csv_ids_are_text(tmp_path: Path) -> None:
    file = tmp_path / "book.csv"
    file.write_text("id,expression,priority\n007,a = 1,2\n7,a = 1,\n1e3,TRUE,0.5\n2026-11-15,5 = a,\n")
    index = Index.build(file, on_error="skip")
    assert sorted(index.match({"a": 1})) == ["007", "1e3", "7"]
    assert index.subscription("007").priority == 2.0
    assert index.subscription("7").priority == 0.0
    assert [name for name, _ in index.refused] == ["2026-11-15"]


def test_bulk_csv_keeps_types(tmp_path: Path) -> None:
    file = tmp_path / "bulk.csv"
    file.write_text("id,attribute,operator,number,string\n007,a,<=,5,\n007,b,=,,12\n")
    index = Index.build(file)
    assert index.match({"a": 3, "b": "12"}) == ["007"]
    assert index.match({"a": 3, "b": 12}) == []


def test_integer_id_in_a_json_line_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "book.jsonl"
    file.write_text(json.dumps({"id": 7, "expression": "a = 1"}) + "\n")
    with pytest.raises(SubscriptionError, match=r"str\(7\)"):
        Index.build(file)


def test_subclass_of_text_is_an_id() -> None:
    index = Index.build({np.str_("x"): "a = 1"})
    assert index.match({"a": 1}) == ["x"]
    assert np.str_("x") in index


def test_id_is_found_in_every_unicode_form() -> None:
    index = Index.build({"cafe\u0301": "a = 1"})
    assert "cafe\u0301" in index
    assert "caf\u00e9" in index
    index.remove("cafe\u0301")
    with pytest.raises(UnknownSubscription):
        index.remove("caf\u00e9")
    with pytest.raises(SubscriptionError, match="surrogate"):
        index.remove("\ud800")


@pytest.mark.parametrize(
    "number", [10**400, -(10**400), 10**5000, float("inf"), float("nan"), "1", False], ids=_kind
)
def test_priority_that_is_not_finite_is_a_typed_error(number: Any) -> None:
    index = Index.build({"s": "a = 1"})
    for call in (
        lambda: Index.build([("t", "a = 1", number)]),
        lambda: Index.build([{"id": "t", "expression": "a = 1", "priority": number}]),
        lambda: Index.build([Subscription("t", "a = 1", number)]),  # type: ignore[arg-type]
        lambda: index.add("t", "a = 1", priority=number),
        lambda: index.update("s", "a = 1", priority=number),
    ):
        with pytest.raises(SubscriptionError, match="a priority is a finite number"):
            call()


@pytest.mark.parametrize("number", [10**400, 10**5000, -1, 1.0, "1", False], ids=_kind)
def test_version_that_is_no_whole_number_is_a_typed_error(number: Any) -> None:
    with pytest.raises(SubscriptionError, match="a version is a whole number"):
        Index.build([{"id": "t", "expression": "a = 1", "version": number}])


@pytest.mark.parametrize("digits", ["1e400", "1" + "0" * 400, "1" + "0" * 5000], ids=len)
def test_huge_numbers_in_files_are_typed_errors(digits: str, tmp_path: Path) -> None:
    for line in (
        f'{{"id": "t", "expression": "a = 1", "priority": {digits}}}',
        f'{{"id": "t", "expression": "a = 1", "version": {digits}}}',
        f'{{"id": "t", "expression": "a = 1 ^ {digits}"}}',
        f'{{"id": "t", "expression": {{"attribute": "a", "op": "=", "value": 1, "weight": {digits}}}}}',
    ):
        (tmp_path / "book.jsonl").write_text(line)
        with pytest.raises(TamisError):
            Index.build(tmp_path / "book.jsonl")
    (tmp_path / "book.csv").write_text(f"id,expression,priority\nt,a = 1,{digits}\n")
    with pytest.raises(SubscriptionError, match="finite"):
        Index.build(tmp_path / "book.csv")


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [
        ("priority", pa.array(["high", "2"]), InputError),
        ("priority", pa.array([True, False]), InputError),
        ("priority", pa.array([1.0, float("inf")]), SubscriptionError),
        ("weight", pa.array([1.0, -1.0]), SubscriptionError),
        ("weight", pa.array([[1.0], [1.0]]), InputError),
        ("version", pa.array([1, -5]), SubscriptionError),
        ("version", pa.array([1, 2**64 - 1], pa.uint64()), SubscriptionError),
        ("version", pa.array([1.0, 2.0]), InputError),
    ],
    ids=str,
)
def test_number_of_a_bulk_table_that_is_out_of_range_is_a_typed_error(
    column: str, values: pa.Array, kind: type[TamisError]
) -> None:
    table = pa.table({"id": ["a", "b"], **BULK, column: values})
    with pytest.raises(kind, match=column):
        Index.build(table)


def test_decimal_is_a_priority() -> None:
    table = pa.table({"id": ["a", "b"], "priority": pa.array([Decimal(2), Decimal("0.5")])})
    for others in (EXPRESSIONS, BULK):
        columns = {**dict(zip(table.column_names, table.columns, strict=True)), **others}
        assert Index.build(pa.table(columns)).subscription("b").priority == 0.5


def test_priority_beside_a_source_is_refused() -> None:
    index = Index.build({})
    with pytest.raises(InputError, match="those of a source have their own"):
        index.add({"a": "x = 1"}, priority=2.0)
    assert len(index) == 0
