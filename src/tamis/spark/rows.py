"""Reads events from the Arrow batches of a Spark worker, for the matcher and as text.

A batch is canonical (``event_id``, ``event_time``, ``attributes``, ``payload``) or has no column
``attributes``; then every other column is an attribute. A struct of attributes means the same as the columns
of a table in the library; a map holds sparse attributes; a string or binary is JSON.

No row is ever skipped: an unreadable event is replaced by an :class:`~tamis.errors.EventError`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import EventError, EventLimit, EventSyntax, EventValue
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.space.table_row import event_of_row
from tamis.spark.schema import ATTRIBUTES, ENVELOPE, EVENT_ID
from tamis.values.event import event_or_error
from tamis.values.foreign import decimal_number
from tamis.values.value import clean_time, format_time

TEXT_BYTES = 64 * 1024  # of a refused event or subscription that are kept in quarantine


class ReadableEvents(NamedTuple):
    """The events of a batch with an id and attributes, their rows, and the errors of the others.

    Unreadable JSON is still among the events, as an error: it shows only when it is decoded.
    """

    events: pa.Table | list[Any]
    rows: npt.NDArray[np.int64]
    bad: dict[int, EventError]


def readable_events(batch: pa.RecordBatch, limits: Limits = DEFAULT_LIMITS) -> ReadableEvents:
    """Return the events of ``batch`` to match; refused rows do not slow this down."""
    bad = _without_id(batch, limits)
    attributes = _attributes(batch)
    if attributes is not None and attributes.null_count:
        for row in np.flatnonzero(attributes.is_null().to_numpy(zero_copy_only=False)).tolist():
            bad.setdefault(row, EventSyntax("the attributes of the event are null"))
    good = np.ones(batch.num_rows, np.bool_)
    good[list(bad)] = False
    some = batch.filter(pa.array(good)) if bad else batch
    return ReadableEvents(_decoded_events(some, limits), np.flatnonzero(good), bad)


def events_in(batch: pa.RecordBatch, limits: Limits = DEFAULT_LIMITS) -> pa.Table | list[Any]:
    """Return the events of ``batch`` in the order of its rows, for ``Index.match_batches``.

    A table cannot contain a refusal: a batch with one becomes single events, which is slow. A caller that can
    map rows back to their numbers should use :func:`readable_events`.
    """
    events, rows, bad = readable_events(batch, limits)
    if not bad:
        return events
    single = events if isinstance(events, list) else [_event(events, at, limits) for at in range(len(rows))]
    found: dict[int, Any] = dict(zip(rows.tolist(), single, strict=True)) | bad
    return [found[row] for row in range(batch.num_rows)]


def _decoded_events(batch: pa.RecordBatch, limits: Limits) -> pa.Table | list[Any]:
    attributes = _attributes(batch)
    if attributes is None or not _is_text(attributes.type):
        return _table(batch, attributes)
    return [_decoded(line, limits) for line in attributes.cast(_binary(attributes.type)).to_pylist()]


def text_of(batch: pa.RecordBatch, row: int) -> str:
    """Return the event in ``row`` as JSON text in the library's form, cut to 64 KiB; ``""`` for null.

    A value that JSON cannot hold (NaN) is written as Python does: reading it back fails, as it should.
    """
    attributes = _attributes(batch)
    if attributes is None or not _is_text(attributes.type):
        one = batch.slice(row, 1)
        if attributes is not None and not attributes[row].is_valid:
            return ""
        return cut_text(json.dumps(_row(_table(one, _attributes(one))), ensure_ascii=False))
    line = attributes.cast(_binary(attributes.type))[row].as_py()
    return "" if line is None else cut_text(line.decode("utf-8", "replace"))


def cut_text(text: str) -> str:
    """Return ``text``, cut to the length that the quarantine keeps."""
    if len(text) * 4 <= TEXT_BYTES or len(raw := text.encode("utf-8", "replace")) <= TEXT_BYTES:
        return text
    return raw[:TEXT_BYTES].decode("utf-8", "ignore")


def _attributes(batch: pa.RecordBatch) -> Any | None:
    at = batch.schema.get_field_index(ATTRIBUTES)
    if at < 0 or not (_is_text(kind := batch.schema.types[at]) or _is_nested(kind)):
        return None
    return batch.column(at)


def _is_nested(kind: Any) -> bool:
    return bool(pa.types.is_struct(kind) or pa.types.is_map(kind))


def _is_text(kind: Any) -> bool:
    return _is_large(kind) or bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _is_large(kind: Any) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_large_binary(kind))


def _binary(kind: Any) -> Any:
    """Return the type for the same bytes without the promise of UTF-8, which Spark does not keep."""
    return pa.large_binary() if _is_large(kind) else pa.binary()


def _table(batch: pa.RecordBatch, attributes: Any | None) -> pa.Table:
    """Return one column per attribute, or a map of them."""
    if attributes is None:
        names = [name for name in batch.schema.names if name != EVENT_ID and name not in ENVELOPE]
        return pa.Table.from_batches([batch]).select(names)
    if pa.types.is_map(attributes.type):
        return pa.Table.from_arrays([attributes], [ATTRIBUTES])
    return pa.Table.from_arrays(attributes.flatten(), [field.name for field in attributes.type])


def _without_id(batch: pa.RecordBatch, limits: Limits) -> dict[int, EventError]:
    """Return an error for each row whose event has no usable id."""
    at = batch.schema.get_field_index(EVENT_ID)
    if at < 0 or not _is_text(batch.schema.types[at]):
        return {}
    size = pc.fill_null(pc.binary_length(batch.column(at)), 0).to_numpy(zero_copy_only=False)
    found: dict[int, EventError] = {}
    for row in np.flatnonzero((size == 0) | (size > limits.event_id_bytes)).tolist():
        found[row] = _refused_id(int(size[row]), limits)
    return found


def _refused_id(size: int, limits: Limits) -> EventError:
    if not size:
        return EventValue("the event_id is null, empty or not UTF-8")
    return EventLimit(
        f"the event_id has {size} bytes, more than event_id_bytes = {limits.event_id_bytes}",
        limit="event_id_bytes",
    )


def _decoded(line: bytes, limits: Limits) -> Any:
    if not line.strip():
        return EventSyntax("the event is blank")
    return event_or_error(line, limits)


def _event(table: pa.Table, row: int, limits: Limits) -> Any:
    try:
        return event_of_row(table, row, limits)
    except EventError as bad:
        return bad


def _row(table: pa.Table) -> dict[str, Any]:
    """Return a table of one row as an object; a map at the top holds names, like columns."""
    found: dict[str, Any] = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        value = _plain(column[0])
        if pa.types.is_map(column.type):
            for key, item in (value or {}).items():
                _enter(found, key, item)
        elif value is not None:
            _enter(found, name, value)
    return found


def _enter(found: dict[str, Any], name: str, value: Any) -> None:
    """Add a value; a name in several columns gets all their values."""
    found[name] = [found[name], value] if name in found else value


def _plain(scalar: Any) -> Any:
    """Return a cell as JSON: times and points tagged, invalid bytes replaced.

    Every row of a table has every column, so a null means an absent attribute and is not written.
    """
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if pa.types.is_dictionary(kind):
        return _plain(scalar.value)
    if pa.types.is_map(kind):
        keys, items = scalar.values.field(0), scalar.values.field(1)
        return {_plain(key): _plain(item) for key, item in zip(keys, items, strict=True) if item.is_valid}
    if pa.types.is_struct(kind):
        return _point_or_object({field.name: _plain(scalar[field.name]) for field in kind})
    if hasattr(scalar, "values"):
        return [_plain(item) for item in scalar.values if item.is_valid]
    if _is_text(kind):
        return scalar.as_buffer().to_pybytes().decode("utf-8", "replace")
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _time(scalar)
    return _decimal(scalar.as_py()) if pa.types.is_decimal(kind) else scalar.as_py()


def _decimal(number: Decimal) -> Any:
    try:
        return decimal_number(number)
    except EventValue:  # becomes infinity, which is refused when the text is read back
        return float(number)


def _point_or_object(found: Mapping[str, Any]) -> Mapping[str, Any]:
    if set(found) == {"lon", "lat"}:
        return {"$point": [found["lon"], found["lat"]]}
    return {name: value for name, value in found.items() if value is not None}


def _time(scalar: Any) -> Any:
    try:
        return {"$time": format_time(clean_time(scalar.as_py()))}
    except (ValueError, OverflowError):  # a time that Python cannot represent
        return {"$time": str(scalar.value)}
