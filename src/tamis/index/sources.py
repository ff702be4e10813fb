"""Read subscriptions from dictionaries, iterables, Arrow tables, Parquet, JSON lines and CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tamis.columns import Columns, RowWriter, columns_from_arrow
from tamis.columns.literals import StringColumn, string_column
from tamis.columns.rows import ClauseRows, ClauseWriter, clause_rows
from tamis.errors import DuplicateSubscription, EventValue, SubscriptionError, TamisError
from tamis.expression.tree import Subscription
from tamis.index.fields import BULK_FIELDS, TEXT_FIELDS, check_keys, ignored
from tamis.index.readers import STEP, Row, Source, check_table, source_of, table_rows
from tamis.index.refused_subscriptions import Place, Refusals, raise_refused, refusal
from tamis.language import expression_from
from tamis.limits import Limits
from tamis.segment import Particulars
from tamis.values.analysis import NO_ANALYSERS, Analysers
from tamis.values.value import clean_string

Progress = Callable[[int, int | None], None]


class Book(NamedTuple):
    """Subscriptions ready to be indexed, and the refused ones."""

    ids: StringColumn
    columns: Columns
    particulars: Particulars
    refused: Refusals
    clauses: ClauseRows
    cnf: bool = False  # whether clauses may have groups of alternatives


def read_book(
    source: Any,
    limits: Limits,
    skip_bad: bool,
    progress: Progress | None = None,
    ignore: str | Collection[str] = (),
    cnf: bool = False,
    analysers: Analysers = NO_ANALYSERS,
) -> Book:
    """Read subscriptions; bad ones are refused (``skip_bad``), or one error names all of them.

    Unknown fields and columns are refused unless ``ignore`` names them. With ``cnf``, clauses may have groups
    of alternatives. ``analysers`` names those of text attributes.
    """
    ignored_fields = ignored(ignore)
    opened = source_of(source, ignored_fields)
    if isinstance(opened.rows, pa.Table):
        bulk = "expression" not in opened.rows.column_names
        check_table(opened.rows, BULK_FIELDS if bulk else TEXT_FIELDS, ignored_fields)
        if bulk:
            book = _from_columns(opened.rows, opened.file, limits, cnf, analysers)
        else:
            rows = Source(table_rows(opened.rows), opened.file, opened.rows.num_rows)
            book = _from_rows(rows, limits, progress, ignored_fields, cnf, analysers)
    else:
        book = _from_rows(opened, limits, progress, ignored_fields, cnf, analysers)
    if not skip_bad:
        raise_refused(book.refused)
    return book


def _from_columns(table: pa.Table, file: str | None, limits: Limits, cnf: bool, analysers: Analysers) -> Book:
    bulk = columns_from_arrow(table, limits, analysers)
    raw = bulk.ids.cast(pa.large_string())
    _, start, data = raw.buffers()
    offsets = (
        np.frombuffer(start, np.int64)[raw.offset : raw.offset + len(raw) + 1]
        if len(raw)
        else np.zeros(1, np.int64)
    )
    body = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    ids = StringColumn(offsets - offsets[0], body[offsets[0] : offsets[-1]])
    refused = [
        refusal(name, error, Place(row + 1, None, file))
        for (name, error), row in zip(bulk.refused, bulk.refused_rows, strict=True)
    ]
    clauses = clause_rows(bulk.columns, limits, cnf=cnf)
    return Book(ids, bulk.columns, Particulars(bulk.priority, bulk.version), refused, clauses, cnf)


def _from_rows(
    source: Source,
    limits: Limits,
    progress: Progress | None,
    ignore: frozenset[str],
    cnf: bool,
    analysers: Analysers,
) -> Book:
    writer = RowWriter()
    clauses = ClauseWriter(writer.names, limits, cnf)
    ids: dict[str, int] = {}
    held_all: list[tuple[float, int]] = []
    refused: Refusals = []
    rows: Iterable[Row] = source.rows
    done = 0
    for done, row in enumerate(rows, 1):
        try:
            held = subscription_from(row.content, limits, TEXT_FIELDS, ignore, analysers)
            if held.id in ids:
                message = f"the id {held.id[:80]!r} stands twice, first in row {ids[held.id]}"
                raise DuplicateSubscription(message, subscription=held.id)
            if writer.add(held.expression):
                clauses.add(len(ids), held.expression)
        except TamisError as bad:
            refused.append(refusal(_id_of(row.content), bad, Place(done, row.line, source.file)))
            continue
        ids[held.id] = done
        held_all.append((held.priority, held.version))
        if progress is not None and done % STEP == 0:
            progress(done, source.total)
    if progress is not None:
        progress(done, source.total)
    columns = writer.freeze()
    names = string_column(list(ids))
    return Book(names, columns, particulars_of(held_all), refused, clauses.freeze(columns), cnf)


def particulars_of(pairs: list[tuple[float, int]]) -> Particulars:
    """Return (priority, version) pairs as columns."""
    return Particulars(
        np.array([priority for priority, _ in pairs], np.float64),
        np.array([version for _, version in pairs], np.int64),
    )


def subscription_from(
    row: Any,
    limits: Limits,
    known: Collection[str] = TEXT_FIELDS,
    ignore: Collection[str] = (),
    analysers: Analysers = NO_ANALYSERS,
) -> Subscription:
    """Return a checked subscription from an object, a pair or a mapping.

    A pair is (id, expression) or (id, expression, priority). A mapping has the ``known`` keys.
    """
    if isinstance(row, TamisError):
        raise row
    priority: Any = None
    version: Any = None
    if isinstance(row, Subscription):
        identity, expression, priority, version = row.id, row.expression, row.priority, row.version
    elif isinstance(row, Mapping):
        check_keys(row, known, ignore)
        if "id" not in row or "expression" not in row:
            raise SubscriptionError("a subscription needs the keys 'id' and 'expression'")
        identity, expression, priority = row["id"], row["expression"], row.get("priority")
        version = row.get("version")
    elif isinstance(row, tuple | list) and len(row) in (2, 3):
        identity, expression, priority = (*row, None)[:3]
    else:
        raise SubscriptionError(
            f"a subscription is (id, expression) or an object, not a {type(row).__name__}"
        )
    return checked_subscription(identity, expression, priority, version, limits, analysers)


def checked_subscription(
    identity: Any, expression: Any, priority: Any, version: Any, limits: Limits, analysers: Analysers
) -> Subscription:
    """Return the subscription with these fields, each in a form that it may have."""
    return Subscription(
        check_id(identity, limits),
        expression_from(expression, limits, analysers),
        _check_priority(priority),
        _check_version(version),
    )


def check_id(identity: Any, limits: Limits) -> str:
    """Return a usable id: text, not empty and not too long."""
    if type(identity) is str and identity.isascii() and 0 < len(identity) <= limits.subscription_id_bytes:
        return identity  # as almost always: a few calls less
    text = id_text(identity)
    if not text:
        raise SubscriptionError("an id is a string that is not empty, not ''")
    if len(text) * 4 > limits.subscription_id_bytes and len(text.encode()) > limits.subscription_id_bytes:
        raise SubscriptionError(
            f"the id {text[:40]!r}… is longer than subscription_id_bytes = {limits.subscription_id_bytes}",
            limit="subscription_id_bytes",
        )
    return text


def id_text(identity: Any) -> str:
    """Return ``identity`` in the Unicode form NFC, as ids are kept; raise an error if it is not text."""
    if isinstance(identity, str):
        try:
            return clean_string(str.__str__(identity))
        except EventValue as bad:
            raise SubscriptionError(f"the id {identity[:40]!r} cannot be used: {bad.message}") from None
    shown = _shown(identity)
    remedy = "" if identity is None else f"; write str({shown}), and use the same text wherever you name it"
    raise SubscriptionError(f"an id is a string, not {shown} ({type(identity).__name__}){remedy}")


_NUMBERS = (int, float, Decimal, np.integer, np.floating)


def _check_priority(priority: Any) -> float:
    if priority is None:
        return 0.0
    if type(priority) is float and math.isfinite(priority):
        return priority
    number = math.nan
    if isinstance(priority, _NUMBERS) and not isinstance(priority, bool):
        try:
            number = float(priority)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        raise SubscriptionError(f"a priority is a finite number, not {_shown(priority)}")
    return number


def _check_version(version: Any) -> int:
    if version is None:
        return 0
    if type(version) is int and 0 <= version < 2**63:
        return version
    if isinstance(version, bool) or not isinstance(version, int | np.integer) or not 0 <= version < 2**63:
        raise SubscriptionError(f"a version is a whole number from 0, not {_shown(version)}")
    return int(version)


def _shown(value: Any) -> str:
    """Return the beginning of a value's repr; Python refuses to write very long integers."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _id_of(row: Any) -> str:
    if isinstance(row, Mapping):
        identity = row.get("id", "")
    elif isinstance(row, tuple | list) and row:
        identity = row[0]
    else:
        identity = getattr(row, "id", "")
    return identity if isinstance(identity, str) else _shown(identity)
