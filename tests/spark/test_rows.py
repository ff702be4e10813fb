"""Arrow batches of a Spark worker as events: every form, every refusal, no skipped row."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Limits
from tamis.errors import EventError
from tamis.index.batches import nowhere
from tamis.index.match import locate
from tamis.space.table_row import event_of_row
from tamis.spark.rows import TEXT_BYTES, cut_text, events_in, readable_events, text_of
from tamis.values.event import decode_event, event_from

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
ATTRIBUTES = {
    "city": "Oslo",
    "price": 12.5,
    "tags": ["a", "b"],
    "shop": {"name": "x", "rank": 3},
    "at": {"lon": 10.7, "lat": 59.9},
    "when": NOON,
    "day": date(2026, 11, 15),
    "cost": Decimal("1.25"),
}


def batch_of(attributes: Any, kind: Any = None) -> pa.RecordBatch:
    ids = pa.array([f"e{row}" for row in range(len(attributes))])
    return pa.record_batch([ids, pa.array(attributes, kind)], ["event_id", "attributes"])


def refusals(batch: pa.RecordBatch, limits: Limits = Limits()) -> dict[int, tuple[str, str]]:  # noqa: B008
    _, refused = locate(nowhere(limits), events_in(batch, limits))
    return {row: (bad.code, bad.message) for row, bad in refused}


def test_struct_is_read_as_a_table_of_its_fields() -> None:
    piece = events_in(batch_of([ATTRIBUTES, {"city": "Rome"}]))
    assert isinstance(piece, pa.Table)
    assert piece.column_names == list(ATTRIBUTES)
    assert piece["city"].to_pylist() == ["Oslo", "Rome"]


def test_map_is_read_as_sparse_attributes() -> None:
    piece = events_in(batch_of([{"city": "Oslo"}, {"town": "Rome"}], pa.map_(pa.string(), pa.string())))
    index = Index.build({"o": "city = 'Oslo'", "r": "town = 'Rome'"})
    (batch,) = index.match_batches(piece)
    assert batch.table.to_pydict() == {"event": [0, 1], "subscription": ["o", "r"]}


def test_every_other_column_is_an_attribute_without_attributes() -> None:
    batch = pa.record_batch(
        [pa.array(["e"]), pa.array([NOON]), pa.array(["p"]), pa.array([1]), pa.array(["x"])],
        ["event_id", "event_time", "payload", "price", "city"],
    )
    assert events_in(batch).column_names == ["price", "city"]  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_json_is_read_from_any_column_type(kind: Any) -> None:
    lines = [b'{"a": 1}', b"", b" \n", None, b"[1]", b'{"a"', b'{"a": 1, "a": 2}', b'{"b": "\xc3\xa9"}']
    piece = events_in(batch_of(pa.array(lines, pa.binary()).cast(kind)))
    assert isinstance(piece, list)
    assert [getattr(event, "code", event) for event in piece] == [
        {"a": 1}, *["event-syntax"] * 6, {"b": "é"},
    ]  # fmt: skip


def test_json_that_is_not_utf8_is_refused_alone() -> None:
    """Spark's strings may hold any bytes, and Arrow still declares them as strings."""
    raw = pa.array([b'{"a": "\xff"}', b'{"a": 1}'], pa.binary())
    lines = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    batch = batch_of(lines)
    assert refusals(batch).keys() == {0}
    assert text_of(batch, 0) == '{"a": "\ufffd"}'


def test_null_attributes_are_refused_at_their_row() -> None:
    for kind in (None, pa.map_(pa.string(), pa.int64())):
        batch = batch_of([{"a": 1}, None, {"a": 3}], kind)
        piece = events_in(batch)
        assert [getattr(event, "attributes", None) for event in piece] == [{"a": (1,)}, None, {"a": (3,)}]
        assert refusals(batch) == {1: ("event-syntax", "the attributes of the event are null")}
        assert text_of(batch, 1) == ""


def test_good_rows_keep_their_numbers() -> None:
    batch = batch_of([{"a": 1}, None, {"a": 3}])
    piece, rows, bad = readable_events(batch)
    assert isinstance(piece, pa.Table)
    assert (piece["a"].to_pylist(), rows.tolist()) == ([1, 3], [0, 2])
    assert {row: why.code for row, why in bad.items()} == {1: "event-syntax"}
    lines, rows, bad = readable_events(batch_of(['{"a": 1}', None, "{"]))
    assert ([getattr(line, "code", line) for line in lines], rows.tolist()) == (
        [{"a": 1}, "event-syntax"], [0, 2],
    )  # fmt: skip
    assert list(bad) == [1]
    assert readable_events(batch_of([{"a": 1}])).bad == {}


def test_null_field_is_an_absent_attribute() -> None:
    piece = events_in(batch_of([{"a": None}, {"a": 1}]))
    index = Index.build({"none": "a IS NULL"})
    (batch,) = index.match_batches(piece)
    assert batch.table["event"].to_pylist() == [0]


@pytest.mark.parametrize("attributes", [['{"a": 1}'] * 4, [{"a": 1}] * 4])
def test_events_without_a_usable_id_are_refused(attributes: list[Any]) -> None:
    ids = pa.array(["e", None, "", "é" * 3])
    batch = pa.record_batch([ids, pa.array(attributes)], ["event_id", "attributes"])
    assert {row: code for row, (code, _) in refusals(batch).items()} == {1: "event-value", 2: "event-value"}
    edge = refusals(batch, Limits(event_id_bytes=5))
    assert edge[3] == ("event-limit", "the event_id has 6 bytes, more than event_id_bytes = 5")
    assert 3 not in refusals(batch, Limits(event_id_bytes=6))


def test_row_text_is_the_same_event() -> None:
    many = pa.map_(pa.string(), pa.map_(pa.string(), pa.int64()))
    for batch in (
        batch_of([ATTRIBUTES]),
        batch_of([{"a": [("x", 1)], "b": [("y", 2)]}], many),
        batch_of(['{"a": [1, 2], "b": {"c": null}}']),
        pa.record_batch(
            [pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), pa.array([2])], ["m", "k"]
        ),
    ):
        piece = events_in(batch)
        wanted = event_from(piece[0]) if isinstance(piece, list) else event_of_row(piece, 0, Limits())
        assert event_from(decode_event(text_of(batch, 0))) == wanted


def test_row_text_is_written_when_the_row_is_no_event() -> None:
    assert text_of(batch_of([{"a": float("nan")}]), 0) == '{"a": NaN}'
    late = pa.array([{"t": 2**62}]).cast(pa.struct([("t", pa.timestamp("us", "UTC"))]))
    assert text_of(batch_of(late), 0) == f'{{"t": {{"$time": "{2**62}"}}}}'
    assert refusals(batch_of(late))[0][0] == "event-value"
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"], pa.binary()).buffers())
    batch = batch_of(pa.StructArray.from_arrays([bad], ["a"]))
    assert text_of(batch, 0) == '{"a": "\ufffd"}'
    assert refusals(batch)[0][0] == "event-value"


def test_texts_are_cut_at_a_character() -> None:
    assert cut_text("a" * TEXT_BYTES) == "a" * TEXT_BYTES
    assert len(cut_text("é" * TEXT_BYTES).encode()) == TEXT_BYTES
    assert len(cut_text("aé" + "é" * TEXT_BYTES).encode()) == TEXT_BYTES - 1
    assert len(text_of(batch_of(["x" * (TEXT_BYTES + 1)]), 0)) == TEXT_BYTES


def test_invalid_row_among_tables_keeps_the_errors_of_others() -> None:
    batch = batch_of([{"a": float("nan")}, None, {"a": 1.0}])
    assert {row: code for row, (code, _) in refusals(batch).items()} == {0: "event-value", 1: "event-syntax"}
    assert isinstance(events_in(batch)[0], EventError)  # type: ignore[index]


SCALARS = {
    pa.string(): st.sampled_from(["", "a", "é", "two words", '"', "\\", "\u2028", "𝒳"]),
    pa.int64(): st.sampled_from([0, -1, 2**63 - 1, -(2**63)]),
    pa.int8(): st.integers(-128, 127),
    pa.float64(): st.floats(allow_nan=True, allow_infinity=True),
    pa.float32(): st.floats(width=32),
    pa.bool_(): st.booleans(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(UTC)),
    pa.timestamp("us"): st.datetimes(),
    pa.date32(): st.dates(),
    pa.decimal128(20, 4): st.decimals(-(10**9), 10**9, places=4),
}
NAMES = st.sampled_from(["a", "b", "c.d", "naïve"])
POINT = pa.struct([("lon", pa.float64()), ("lat", pa.float64())])


@st.composite
def columns(draw: st.DrawFn, depth: int = 0) -> tuple[Any, st.SearchStrategy[Any]]:
    """Return a type that a column may have, and a strategy for its values."""
    shape = draw(
        st.sampled_from(["scalar", "scalar", "list", "struct", "map", "point"] if depth < 2 else ["scalar"])
    )
    if shape == "point":
        ends = (st.floats(-180, 180), st.floats(-91, 90))
        return POINT, st.tuples(*ends).map(lambda pair: {"lon": pair[0], "lat": pair[1]})
    if shape == "scalar":
        kind = draw(st.sampled_from(list(SCALARS)))
        return kind, SCALARS[kind] | st.none()
    kind, values = draw(columns(depth + 1))
    if shape == "list":
        return pa.list_(kind), st.lists(values, max_size=3) | st.none()
    if shape == "map":
        return pa.map_(pa.string(), kind), st.dictionaries(NAMES, values, max_size=2) | st.none()
    return pa.struct([("x", kind)]), st.fixed_dictionaries({"x": values}) | st.none()


@given(st.data())
def test_any_row_reads_like_its_text(data: st.DataObject) -> None:
    """A typed row and its JSON in quarantine and samples are the same event, or both are refused."""
    names = data.draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    kinds, values = zip(*(data.draw(columns()) for _ in names), strict=True)
    struct = pa.struct(list(zip(names, kinds, strict=True)))
    rows = data.draw(st.lists(st.tuples(*values), min_size=1, max_size=3))
    arrays = [pa.array([_items(row[at], kind) for row in rows], kind) for at, kind in enumerate(kinds)]
    batch = batch_of(pa.StructArray.from_arrays(arrays, fields=list(struct)))
    piece = events_in(batch)
    assert isinstance(piece, pa.Table)
    for row in range(len(rows)):
        assert _read(lambda at=row: event_of_row(piece, at, Limits())) == _read(
            lambda at=row: event_from(decode_event(text_of(batch, at)))
        )
    refused = {row for row, _ in locate(nowhere(Limits()), piece)[1]}
    assert refused == {
        row for row in range(len(rows)) if _read(lambda at=row: event_of_row(piece, at, Limits())) is None
    }


def _items(value: Any, kind: Any) -> Any:
    """Return maps as lists of pairs, as Arrow takes them, also inside lists and structs."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return [(key, _items(item, kind.item_type)) for key, item in value.items()]
    if pa.types.is_list(kind):
        return [_items(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {field.name: _items(value[field.name], field.type) for field in kind}
    return value


def _read(event: Any) -> Any:
    """Return the attributes with sorted values, because a name may come from several columns."""
    try:
        return {name: sorted(map(repr, values)) for name, values in event().attributes.items()}
    except EventError:
        return None
