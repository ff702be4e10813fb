"""Write workloads as files that the ``tamis`` command reads, piece by piece.

Subscriptions become bulk columns (Parquet) if columns can express all of them, else expressions. JSON lines
always hold expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from bench.workloads.synthetic import Synthetic
from bench.workloads.texts import expressions
from bench.workloads.truth import rows_of

FORMATS = ("parquet", "jsonl")
Progress = Callable[[int], object]


def write_subscriptions(
    workload: Synthetic, count: int, seed: int, file: Path, progress: Progress = lambda _: None
) -> None:
    """Write ``count`` subscriptions; the extension of ``file`` gives the format."""
    if file.suffix == ".parquet" and not workload.in_text(count):
        _parquet(_counted(map(_plain, workload.subscription_pieces(count, seed)), progress, "id"), file)
        return
    pieces = _counted(_all_as_text(workload, count, seed), progress)
    if file.suffix == ".parquet":
        _parquet(pieces, file)
    else:
        _lines((piece.to_pylist() for piece in pieces), file)


def write_events(
    workload: Synthetic, count: int, seed: int, book: int, file: Path, progress: Progress = lambda _: None
) -> None:
    """Write ``count`` events for a book of ``book`` subscriptions; the extension gives the format."""
    pieces = _counted(workload.event_pieces(count, seed, book), progress)
    if file.suffix == ".parquet":
        _parquet(pieces, file)
    else:
        _lines(map(rows_of, pieces), file)


def _all_as_text(workload: Synthetic, count: int, seed: int) -> Iterator[pa.Table]:
    yield from map(expressions, workload.subscription_pieces(count, seed))
    yield from workload.text_pieces(count, seed)


def _plain(piece: pa.Table) -> pa.Table:
    """Return strings instead of codes, because each piece has its own codes."""
    for at, field in enumerate(piece.schema):
        if pa.types.is_dictionary(field.type):
            piece = piece.set_column(at, field.name, piece.column(at).cast(pa.string()))
    return piece


def _counted(pieces: Iterable[pa.Table], progress: Progress, by: str = "") -> Iterator[pa.Table]:
    """Yield ``pieces``, and report how many rows (or different values of the column ``by``) each has."""
    for piece in pieces:
        yield piece
        progress(len(piece.column(by).unique()) if by else piece.num_rows)


def _parquet(pieces: Iterator[pa.Table], file: Path) -> None:
    first = next(pieces)
    with pq.ParquetWriter(file, first.schema) as writer:
        writer.write_table(first)
        for piece in pieces:
            writer.write_table(piece)


def _lines(pieces: Iterable[Iterable[object]], file: Path) -> None:
    encode = msgspec.json.Encoder().encode
    with file.open("wb") as stream:
        for piece in pieces:
            stream.writelines(encode(row) + b"\n" for row in piece)
