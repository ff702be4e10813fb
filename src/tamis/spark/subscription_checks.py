"""Checks subscriptions in a worker: which rows are valid, and the faults of the others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.columns import columns_from_arrow
from tamis.columns.texts import normal, readable
from tamis.errors import ParseError, SubscriptionError, TamisError
from tamis.index.sources import check_id
from tamis.language import expression_from, to_text
from tamis.limits import Limits
from tamis.spark.rows import cut_text
from tamis.spark.schema import (
    CODE,
    EXPRESSION,
    FAULT,
    ID,
    MESSAGE,
    POSITION,
    PRIORITY,
    REFUSED_SUBSCRIPTIONS,
    TEXT,
    VERSION,
)
from tamis.values.analysis import Analysers, clean_analysers

CORRUPT = "_corrupt_record"  # the line that Spark's reader could not parse


class CheckedRow(NamedTuple):
    """The cleaned id and expression of a row, and its fault if there is one."""

    id: str | None
    expression: str | None
    bad: TamisError | None


class Rules(NamedTuple):
    """The limits and the declared analysers that subscriptions are checked with, in every task."""

    limits: Limits
    declared: Mapping[str, Any]

    @property
    def analysers(self) -> Analysers:
        """The names of the analysers; those of users are known in this process from now on."""
        return clean_analysers(self.declared)


def check_texts(batches: Iterator[pa.RecordBatch], rules: Rules) -> Iterator[pa.RecordBatch]:
    """Yield the rows of (id, expression, …) with the result of a check; ``_``-columns hold original texts."""
    for batch in batches:
        checked_rows = _checked_rows(batch, rules)
        columns = {name: batch.column(at) for at, name in enumerate(batch.schema.names) if name[:1] != "_"}
        columns[ID] = pa.array([checked.id for checked in checked_rows], pa.string())
        columns[EXPRESSION] = pa.array([checked.expression for checked in checked_rows], pa.string())
        refused = [
            _columns_of(checked.bad, line or checked.expression or "")
            for checked, line in zip(checked_rows, _texts(batch, CORRUPT), strict=True)
        ]
        fault_columns = pa.Table.from_pylist(refused, schema=FAULT.arrow).combine_chunks()
        columns |= dict(zip(FAULT, (c.combine_chunks() for c in fault_columns.columns), strict=True))
        yield pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _columns_of(bad: TamisError | None, text: str) -> dict[str, Any]:
    if bad is None:
        return {}
    return {
        CODE: bad.code,
        POSITION: getattr(bad, "position", None),
        MESSAGE: cut_text(bad.message),
        TEXT: cut_text(text),
    }


def _checked_rows(batch: pa.RecordBatch, rules: Rules) -> list[CheckedRow]:
    lines = zip(
        _raw(batch, ID),
        _raw(batch, EXPRESSION),
        _numbers(batch, PRIORITY),
        _numbers(batch, VERSION),
        _raw(batch, CORRUPT),
        strict=True,
    )
    analysers = rules.analysers
    return [_checked_row(*line, rules.limits, analysers) for line in lines]


def _checked_row(
    identity: bytes | None,
    expression: bytes | None,
    priority: TamisError | None,
    version: TamisError | None,
    corrupt: bytes | None,
    limits: Limits,
    analysers: Analysers,
) -> CheckedRow:
    try:
        if corrupt is not None:
            raise ParseError("the line is not what its file promises: not JSON, torn, or of a wrong type")
        _checked_id(identity, limits)
        for bad in (priority, version):
            if bad is not None:
                raise bad
        return CheckedRow(_shown(identity), _checked_text(expression, limits, analysers), None)
    except TamisError as refused:
        return CheckedRow(_shown(identity), _shown(expression), refused)


def _checked_id(raw: bytes | None, limits: Limits) -> None:
    if not raw:
        raise SubscriptionError("the id is null or empty")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise SubscriptionError("the id is not UTF-8") from None
    if check_id(text, limits) != text:
        raise SubscriptionError(
            f"the id {text[:40]!r} is not in the Unicode form NFC; write it so (its shard is the hash of its"
            " bytes, and two ways to write one id would be two subscriptions)"
        )


def _checked_text(raw: bytes | None, limits: Limits, analysers: Analysers) -> str:
    """Return a valid expression as text; JSON is rewritten, so that all rows have one form."""
    if raw is None:
        raise ParseError("the expression is null")
    try:
        text = raw.decode()
    except UnicodeDecodeError as bad:
        raise ParseError(f"the expression is not UTF-8 at byte {bad.start}", position=bad.start) from None
    tree = expression_from(text, limits, analysers)
    return to_text(tree) if text.lstrip().startswith("{") else text


def _numbers(batch: pa.RecordBatch, name: str) -> list[TamisError | None]:
    """Return an error for each row whose ``_<name>`` is not a usable number."""
    found: list[TamisError | None] = [None] * batch.num_rows
    if name not in batch.schema.names:
        return found
    value = batch.column(batch.schema.names.index(name)).to_numpy(zero_copy_only=False)
    good, what = (value >= 0, "a whole number from 0") if name == VERSION else (
        np.isfinite(value), "a finite number",
    )  # fmt: skip
    written = _texts(batch, f"_{name}")
    for row in np.flatnonzero(~good).tolist():
        found[row] = SubscriptionError(f"a {name} is {what}, not {(written[row] or '')[:80]!r}")
    return found


def _raw(batch: pa.RecordBatch, name: str) -> list[bytes | None]:
    """Return a column of strings as bytes, because Spark does not guarantee UTF-8."""
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    found: list[bytes | None] = batch.column(batch.schema.names.index(name)).cast(pa.binary()).to_pylist()
    return found


def _texts(batch: pa.RecordBatch, name: str) -> list[str | None]:
    return [_shown(raw) for raw in _raw(batch, name)]


def _shown(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8", "replace")


def check_bulk(batches: Iterator[pa.RecordBatch], rules: Rules, wanted: str) -> Iterator[pa.RecordBatch]:
    """Yield the ``good`` rows of (id, attribute, operator, …), or one row per ``bad`` subscription.

    Rows come sorted by id. The last subscription of a batch may continue in the next one, so it waits for it.
    """
    waiting: list[pa.Table] = []
    for batch in batches:
        table = pa.Table.from_batches([*[b for t in waiting for b in t.to_batches()], batch])
        last = table.column(ID)[table.num_rows - 1] if table.num_rows else None
        whole = table.num_rows - _tail(table.column(ID), last)
        waiting = [table.slice(whole)]
        yield from _checked_bulk(table.slice(0, whole), rules, wanted)
    for table in waiting:
        yield from _checked_bulk(table, rules, wanted)


def _tail(ids: pa.ChunkedArray, last: Any) -> int:
    """Return the number of rows at the end with the last row's id."""
    if last is None:
        return 0
    others = ids.is_valid() if not last.is_valid else pc.fill_null(pc.not_equal(ids, last), True)
    place = np.flatnonzero(others.to_numpy(zero_copy_only=False))
    return len(ids) - (int(place[-1]) + 1 if len(place) else 0)


def _checked_bulk(table: pa.Table, rules: Rules, wanted: str) -> Iterator[pa.RecordBatch]:
    if not table.num_rows:
        return
    names = _names(table)
    bulk = columns_from_arrow(table, rules.limits, rules.analysers)
    refused = dict(_odd_names(table, names)) | dict(bulk.refused)
    bad = pc.is_in(names, pa.array(list(refused), pa.string()))
    if wanted == "good":
        yield from table.filter(pc.invert(bad)).to_batches()
    elif refused:
        rows = [{ID: name, **_columns_of(why, _rows_of(table, names, name))} for name, why in refused.items()]
        yield from pa.Table.from_pylist(rows, schema=REFUSED_SUBSCRIPTIONS.arrow).to_batches()


def _names(table: pa.Table) -> pa.Array:
    """Return the ids as the library groups them: in NFC; a null or invalid id becomes the empty one."""
    ids = pc.fill_null(pa.concat_arrays([*table.column(ID).chunks, pa.array([], pa.string())]), "")
    usable = readable(ids)
    return normal(ids if usable is None else pc.if_else(pa.array(usable), ids, ""))


def _odd_names(table: pa.Table, names: pa.Array) -> Iterator[tuple[str, TamisError]]:
    same = pc.fill_null(pc.equal(table.column(ID).cast(pa.binary()), names.cast(pa.binary())), False)
    for name in pc.unique(names.filter(pc.invert(same.combine_chunks()))).to_pylist():
        yield name, SubscriptionError("the id is null, not UTF-8 or not in the Unicode form NFC")


def _rows_of(table: pa.Table, names: pa.Array, name: str) -> str:
    """Return the rows of one subscription as JSON."""
    rows = table.filter(pc.equal(names, name)).drop_columns(ID).slice(0, 100)
    try:
        return json.dumps(rows.to_pylist(), default=str, ensure_ascii=False)
    except UnicodeDecodeError:
        return ""
