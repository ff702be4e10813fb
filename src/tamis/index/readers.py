"""Read files and tables of subscriptions, as an Arrow table or as rows with their line numbers."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
import pyarrow as pa

from tamis.columns.tables import (
    is_string,
    is_table,
    ordinary_table,
    read_parquet,
    refuse_repeated,
    table_of,
)
from tamis.errors import InputError, ParseError, SubscriptionError
from tamis.index.fields import BULK_FIELDS, TEXT_FIELDS, check_columns
from tamis.values.jsontext import NOT_JSON, repeated_name, twice

STEP = 1024
FORMATS = {
    "jsonl": (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
    "csv": (".csv", ".csv.gz"),
    "parquet": (".parquet", ".pq"),
}
_NUMBER = re.compile(r"[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+")
_WHOLE = re.compile(r"[0-9]{1,19}+")
_CASTING = "cast it to text first, so that 7 and '007' stay different"


class Row(NamedTuple):
    """The content of one subscription (an error, if it cannot be read), and its line in the file."""

    content: Any
    line: int | None = None


class Source(NamedTuple):
    """A table, or rows one by one; ``file`` is the name that messages use."""

    rows: pa.Table | Iterable[Row]
    file: str | None = None
    total: int | None = None


def source_of(source: Any, ignore: frozenset[str] = frozenset()) -> Source:
    """Return a source for any object that :meth:`tamis.Index.build` takes."""
    if isinstance(source, Source):
        return source
    if isinstance(source, str | Path):
        return open_source(Path(source), ignore=ignore)
    if isinstance(source, Mapping):
        return Source(map(Row, source.items()), total=len(source))
    if is_table(source):
        return _table_source(table_of(source))
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return Source(map(_row, source), total=len(source) if isinstance(source, Sized) else None)
    raise InputError(
        "subscriptions are a dictionary, an iterable of (id, expression), an Arrow table or a path, "
        f"not a {type(source).__name__}"
    )


def _table_source(table: pa.Table | list[dict[str, Any]], file: str | None = None) -> Source:
    """Return the source of a table; a pandas frame with columns of mixed types becomes rows."""
    if isinstance(table, list):
        return Source(map(Row, table), file, len(table))
    return Source(ordinary_table(table), file, table.num_rows)


def _row(item: Any) -> Row:
    return Row(decode_line(item) if isinstance(item, str | bytes) else item)


def decode_line(line: str | bytes) -> Any:
    """Return the object of a line of JSON, or the error that says why it cannot be read."""
    try:
        found = msgspec.json.decode(line)
        raw = line.encode() if isinstance(line, str) else line
        again = repeated_name(raw, found)
    except (*NOT_JSON, UnicodeEncodeError, ValueError) as bad:
        return ParseError(f"the line is not JSON: {bad}")
    return found if again is None else ParseError(f"the line is ambiguous: {twice(again)}")


def form_of(path: Path, remedy: str = "name the file accordingly") -> str:
    """Return the format that the file name shows; raise :class:`InputError` if it shows none."""
    for form, endings in FORMATS.items():
        if path.name.lower().endswith(endings):
            return form
    known = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    raise InputError(f"the name {path.name!r} says no format; subscriptions are read from {known}: {remedy}")


def open_source(
    path: Path, form: str | None = None, stream: IO[bytes] | None = None, ignore: frozenset[str] = frozenset()
) -> Source:
    """Return the subscriptions of a file, or of ``stream``; then ``path`` only gives the name."""
    if stream is None and not path.exists():
        raise InputError(f"there is no file {path}")
    form = form or form_of(path)
    if form == "parquet":
        return _table_source(read_parquet(path, stream), str(path))
    if form == "csv":
        return _csv_source(path, stream, ignore)
    return Source(_json_lines(path, stream), str(path))


def _json_lines(path: Path, stream: IO[bytes] | None) -> Iterator[Row]:
    with _opened(path, stream) as file:
        for number, line in enumerate(_whole_lines(path, file), 1):
            if line.strip():
                yield Row(decode_line(line), number)


def _opened(path: Path, stream: IO[bytes] | None) -> Any:
    if stream is not None:
        return stream
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def _whole_lines(path: Path, file: Any) -> Iterator[bytes]:
    try:
        yield from file
    except (EOFError, gzip.BadGzipFile, zlib.error) as bad:
        raise InputError(f"{path} cannot be unzipped: {bad}") from None


def _csv_source(path: Path, stream: IO[bytes] | None, ignore: frozenset[str]) -> Source:
    """Return rows of text with the columns of the header, or a table if the header has bulk columns."""
    rows = _csv_rows(path, stream)
    _, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    known = BULK_FIELDS if "expression" not in names and "attribute" in names else TEXT_FIELDS
    for needed in ("id", *(("attribute", "operator") if known is BULK_FIELDS else ("expression",))):
        if needed not in names:
            raise InputError(f"CSV of subscriptions needs the column {needed!r}; it has {', '.join(names)}")
    if len(set(names)) < len(names):
        raise InputError(f"the CSV has a column twice: {', '.join(names)}")
    check_columns(names, known, ignore)
    if known is BULK_FIELDS:
        return Source(_bulk_table(path, names, rows), str(path))
    return Source((Row(_csv_row(names, fields), number) for number, fields in rows), str(path))


def _csv_rows(path: Path, stream: IO[bytes] | None) -> Iterator[tuple[int, list[str]]]:
    """Yield every record and the line that it begins on; bytes that are not UTF-8 become lone surrogates."""
    with _opened(path, stream) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
        reader = csv.reader(text, strict=True)
        first = 1
        try:
            for fields in reader:
                if fields:
                    yield first, fields
                first = reader.line_num + 1
        except csv.Error as bad:
            raise InputError(f"{path} cannot be read as CSV: line {first}: {bad}") from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as bad:
            raise InputError(f"{path} cannot be unzipped: {bad}") from None
        finally:
            with suppress(ValueError):  # a pipe stays open for its owner
                text.detach()


def _csv_row(names: list[str], fields: list[str]) -> Any:
    if len(fields) != len(names):
        return SubscriptionError(f"the row has {len(fields)} fields, the header {len(names)}")
    row: dict[str, Any] = dict(zip(names, fields, strict=True))
    for name, pattern, read in (("priority", _NUMBER, float), ("version", _WHOLE, int)):
        written = row.get(name, "").strip()
        if not written:
            row.pop(name, None)
        elif pattern.fullmatch(written):
            row[name] = read(written)
    return row


def _bulk_table(path: Path, names: list[str], rows: Iterator[tuple[int, list[str]]]) -> pa.Table:
    """Return the bulk columns of a CSV, each of one type."""
    mixed = sorted({"value", "values"} & set(names))
    if mixed:
        raise InputError(
            f"{path}: the column {mixed[0]!r} of a CSV has no type; use number, string, time and boolean"
        )
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    for line, fields in rows:
        if len(fields) != len(names):
            raise InputError(f"{path}: line {line} has {len(fields)} fields, the header {len(names)}")
        for name, field in zip(names, fields, strict=True):
            columns[name].append(field or None)
    try:
        return pa.table({name: _typed(name, texts) for name, texts in columns.items()})
    except (pa.ArrowInvalid, UnicodeEncodeError) as bad:
        raise InputError(f"{path} cannot be read as bulk columns: {bad}") from None


def _typed(name: str, texts: list[str | None]) -> Any:
    column = pa.array(texts, pa.string())
    if name == "boolean":
        return column.cast(pa.bool_())
    if name == "time":
        return column.cast(pa.timestamp("us", "UTC"))
    if name == "version":
        return column.cast(pa.int64())
    if name in ("number", "weight", "priority"):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column.cast(pa.float64())
    return column


def check_table(table: pa.Table, known: tuple[str, ...], ignore: frozenset[str]) -> None:
    """Raise an error if a table has unknown columns, no ids, or ids that are not text."""
    names = table.column_names
    if "id" not in names:
        raise InputError(f"a table of subscriptions needs the column 'id'; it has {', '.join(names)}")
    refuse_repeated(names)
    check_columns(names, known, ignore)
    kind = table.schema.field("id").type
    if not (is_string(kind) or pa.types.is_null(kind)):
        raise SubscriptionError(
            f"the column 'id' has the type {kind}, but ids are text; {_CASTING}", column="id"
        )


def table_rows(table: pa.Table) -> Iterator[Row]:
    """Yield the rows of a table with expressions."""
    names = [name for name in TEXT_FIELDS if name in table.column_names]
    for batch in table.select(names).to_batches(max_chunksize=STEP):
        yield from map(Row, _values(batch))


def _values(batch: pa.RecordBatch) -> list[Any]:
    try:
        return list(batch.to_pylist())
    except UnicodeDecodeError:  # read row by row, so that only the bad rows are refused
        return [_value(batch.slice(at, 1)) for at in range(batch.num_rows)]


def _value(row: pa.RecordBatch) -> Any:
    try:
        return row.to_pylist()[0]
    except UnicodeDecodeError:
        return ParseError("the row holds a string that is not UTF-8")
