"""Subscriptions from anywhere: dictionaries, iterables, Arrow tables, Parquet, JSON lines and CSV."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from tamis.errors import DuplicateSubscription, InputError, ParseError, SubscriptionError, TamisError
from tamis.index.segment import Particulars
from tamis.lang import expression_from
from tamis.lang.columns import Columns, RowWriter, columns_from_arrow
from tamis.lang.columns.literals import StringColumn, string_column
from tamis.limits import Limits
from tamis.model.expr import Subscription
from tamis.model.value import clean_string

Progress = Callable[[int, int | None], None]
Refusals = list[tuple[str, TamisError]]
STEP = 1024


class Book(NamedTuple):
    """Subscriptions ready to be indexed, and the ones that were refused."""

    ids: StringColumn
    columns: Columns
    particulars: Particulars
    refused: Refusals


def read_book(source: Any, limits: Limits, skip_bad: bool, progress: Progress | None = None) -> Book:
    """Read subscriptions; a bad one is refused (``skip_bad``) or raises."""
    if isinstance(source, str | Path):
        source = _open(Path(source))
    if type(source).__module__.startswith("pandas"):
        source = pa.Table.from_pandas(source, preserve_index=False)
    if isinstance(source, pa.Table) and "expression" not in source.column_names:
        return _from_columns(source, limits, skip_bad)
    total = len(source) if hasattr(source, "__len__") else None
    return _from_rows(_rows(source), limits, skip_bad, progress, total)


def _from_columns(table: pa.Table, limits: Limits, skip_bad: bool) -> Book:
    bulk = columns_from_arrow(table, limits)
    if bulk.refused and not skip_bad:
        subscription, error = bulk.refused[0]
        error.details["subscription"] = subscription
        raise error
    raw = bulk.ids.cast(pa.large_string())
    _, start, data = raw.buffers()
    offsets = (
        np.frombuffer(start, np.int64)[raw.offset : raw.offset + len(raw) + 1]
        if len(raw)
        else np.zeros(1, np.int64)
    )
    body = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    ids = StringColumn(offsets - offsets[0], body[offsets[0] : offsets[-1]])
    return Book(ids, bulk.columns, Particulars(bulk.priority, bulk.version), bulk.refused)


def _from_rows(
    rows: Iterator[Any], limits: Limits, skip_bad: bool, progress: Progress | None, total: int | None
) -> Book:
    writer = RowWriter()
    ids: dict[str, None] = {}
    held_all: list[tuple[float, int]] = []
    refused: Refusals = []
    done = 0
    for done, row in enumerate(rows, 1):
        try:
            held = subscription_from(row, limits)
            if held.id in ids:
                raise DuplicateSubscription(f"the id {held.id[:80]!r} stands twice", subscription=held.id)
            writer.add(held.expression)
        except TamisError as bad:
            if not skip_bad:
                raise
            refused.append((_id_of(row), bad))
            continue
        ids[held.id] = None
        held_all.append((held.priority, held.version))
        if progress is not None and done % STEP == 0:
            progress(done, total)
    if progress is not None:
        progress(done, total)
    return Book(string_column(list(ids)), writer.freeze(), particulars_of(held_all), refused)


def particulars_of(pairs: list[tuple[float, int]]) -> Particulars:
    """Columns of (priority, version) pairs."""
    return Particulars(
        np.array([priority for priority, _ in pairs], np.float64),
        np.array([version for _, version in pairs], np.int64),
    )


def subscription_from(row: Any, limits: Limits) -> Subscription:
    """A checked subscription from an object, a pair (id, expression) or a mapping with those keys."""
    if isinstance(row, TamisError):
        raise row
    version = 0
    if isinstance(row, Subscription):
        identity, expression, priority, version = row.id, row.expression, row.priority, row.version
    elif isinstance(row, Mapping):
        if "id" not in row or "expression" not in row:
            raise SubscriptionError("a subscription needs the keys 'id' and 'expression'")
        identity, expression, priority = row["id"], row["expression"], row.get("priority") or 0.0
        version = row.get("version") or 0
    elif isinstance(row, tuple | list) and len(row) in (2, 3):
        identity, expression, priority = (*row, 0.0)[:3]
    else:
        raise SubscriptionError(
            f"a subscription is (id, expression) or an object, not a {type(row).__name__}"
        )
    return Subscription(
        check_id(identity, limits),
        expression_from(expression, limits),
        _check_priority(priority),
        _check_version(version),
    )


def check_id(identity: Any, limits: Limits) -> str:
    """A usable id; whole numbers are written as text."""
    if type(identity) is int:
        identity = str(identity)
    if type(identity) is not str or not identity:
        raise SubscriptionError(f"an id is a string that is not empty, not {identity!r}")
    text = clean_string(identity)
    if len(text.encode()) > limits.subscription_id_bytes:
        raise SubscriptionError(
            f"the id {text[:40]!r}… is longer than subscription_id_bytes = {limits.subscription_id_bytes}",
            limit="subscription_id_bytes",
        )
    return text


def _check_priority(priority: Any) -> float:
    if isinstance(priority, bool) or not isinstance(priority, int | float) or not math.isfinite(priority):
        raise SubscriptionError(f"a priority is a finite number, not {priority!r}")
    return float(priority)


def _check_version(version: Any) -> int:
    if type(version) is not int or not 0 <= version < 2**63:
        raise SubscriptionError(f"a version is a whole number from 0, not {version!r}")
    return version


def _id_of(row: Any) -> str:
    if isinstance(row, Mapping):
        return str(row.get("id", ""))
    if isinstance(row, tuple | list) and row:
        return str(row[0])
    return str(getattr(row, "id", ""))


def _rows(source: Any) -> Iterator[Any]:
    if isinstance(source, Mapping):
        return iter(source.items())
    if isinstance(source, pa.Table):
        return _table_rows(source)
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        return (_decode(row) if isinstance(row, str | bytes) else row for row in source)
    raise InputError(
        "subscriptions are a dictionary, an iterable of (id, expression), an Arrow table or a path, "
        f"not a {type(source).__name__}"
    )


def _table_rows(table: pa.Table) -> Iterator[Any]:
    names = [name for name in ("id", "expression", "priority", "version") if name in table.column_names]
    if "id" not in names:
        raise InputError(
            f"a table of subscriptions needs the column 'id'; it has {', '.join(table.column_names)}"
        )
    for batch in table.select(names).to_batches(max_chunksize=STEP):
        yield from batch.to_pylist()


def _decode(line: str | bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as bad:
        return ParseError(f"the line is not JSON: {bad}")


def _open(path: Path) -> Any:
    name = path.name.lower()
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if name.endswith(".parquet"):
        import pyarrow.parquet as pq

        return pq.read_table(path)
    if name.endswith((".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")):
        return _lines(path)
    if name.endswith(".csv"):
        import pyarrow.csv

        return pyarrow.csv.read_csv(path)
    raise InputError(f"{path}: subscriptions are read from .jsonl, .jsonl.gz, .parquet or .csv files")


def _lines(path: Path) -> Iterator[bytes]:
    with (gzip.open if path.name.endswith(".gz") else open)(path, "rb") as file:
        yield from (line for line in file if line.strip())
