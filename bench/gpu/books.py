"""Build the indexes and the events of the measurements, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bench.workloads import WORKLOADS

SEED = 1
SAMPLE = 2_000


class Book(NamedTuple):
    """A workload at a size, and what a card is asked to reach."""

    name: str
    workload: str
    subscriptions: int
    events: int
    target: float  # events a second
    is_wide: bool  # whether its events also come with a column for each attribute


BOOKS = (
    Book("dense 1M", "w4-dense", 1_000_000, 1 << 20, 20e6, True),
    Book("dense 10M", "w4-dense", 10_000_000, 1 << 18, 1.5e6, True),
    Book("sparse 1M", "w4-sparse", 1_000_000, 1 << 20, 30e6, False),
    Book("ads 3M", "w4-ads", 3_000_000, 1 << 18, 3e6, True),
    Book("market 1M", "market", 1_000_000, 1 << 18, 8e6, False),
)


def scaled(scale: int) -> list[Book]:
    """Return the books at a part of their size."""
    return [
        book._replace(
            subscriptions=max(book.subscriptions // scale, 100), events=max(book.events // scale, 256)
        )
        for book in BOOKS
    ]


def start(book: Book, folder: Path) -> subprocess.Popen[bytes]:
    """Start the process that prepares a book."""
    command = [sys.executable, "-m", "bench.gpu.books", str(folder), book.name]
    return subprocess.Popen([*command, str(book.subscriptions), str(book.events)])


def prepare(folder: Path, book: Book) -> None:
    """Write the index and the events of a book."""
    import tamis

    workload = WORKLOADS[book.workload]
    events = workload.events(book.events, SEED, book.subscriptions)
    texts = workload.texts(book.subscriptions, SEED)
    index = tamis.Index.build(
        workload.subscriptions(book.subscriptions, SEED), sample=events.slice(0, SAMPLE)
    )
    if texts.num_rows:
        index.add(texts)
        index.merge()
    index.save(folder / "index")
    _write(events, folder / "events.arrow")
    if book.is_wide:
        _write(wide(events), folder / "wide.arrow")


def wide(events: pa.Table) -> pa.Table:
    """Return events of one map column with a column for each attribute, in the narrowest integers."""
    pairs = events.column(0).combine_chunks()
    pairs = pairs.chunk(0) if isinstance(pairs, pa.ChunkedArray) else pairs
    coded = pairs.keys.dictionary_encode()
    names = coded.dictionary.to_pylist()
    start = pairs.offsets.to_numpy().astype(np.int64)
    row = np.repeat(np.arange(len(pairs)), np.diff(start))
    column = coded.indices.to_numpy()
    value = pairs.items.to_numpy()
    word = np.min_scalar_type(int(value.max(initial=0)))
    held = np.zeros((len(names), len(pairs)), word)
    absent = np.ones((len(names), len(pairs)), np.bool_)
    held[column, row] = value
    absent[column, row] = False
    columns = [pa.array(held[at], mask=absent[at]) for at in range(len(names))]
    return pa.table(columns, names)


def read(path: Path) -> pa.Table:
    """Return a table that ``prepare`` wrote, in memory."""
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all().combine_chunks()


def _write(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def _main(arguments: list[str]) -> None:
    folder, name, subscriptions, events = arguments
    book: Any = next(book for book in BOOKS if book.name == name)
    prepare(Path(folder), book._replace(subscriptions=int(subscriptions), events=int(events)))


if __name__ == "__main__":
    _main(sys.argv[1:])
