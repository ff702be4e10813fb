"""Measure engines on the mixes for the peers: three equalities, four mixed predicates, five wide ranges.

``python -m bench.mixes`` prints processor time for an event, and work. The engines take turns, and the best
of several rounds counts, because other processes of the machine slow all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import click

from bench import parts
from bench.workloads.mix import MIXES, Mix
from tamis import Index

SAMPLE = 500
SINGLES = 300
COUNTS = ("visited", "candidates", "verified", "matches")
SLOW = 30_000_000  # pairs of a clause and an event that ``scan`` looks at in a round, at most


class Row(NamedTuple):
    """The figures of one engine, for an event."""

    engine: str
    batch_us: float  # from located events to matches
    table_us: float  # from an Arrow table to an Arrow table
    one_us: float  # ``match`` of a dictionary
    visited: float
    candidates: float
    verified: float
    matches: float
    bytes_each: float


def rows(mix: Mix, subscriptions: int, events: int, engines: tuple[str, ...], rounds: int) -> list[Row]:
    """Return the figures of each engine; all must find as many pairs as the others."""
    book, sample = mix.columns(1, range(subscriptions)), mix.stream(2, range(SAMPLE), subscriptions)
    table = mix.stream(1, range(events), subscriptions)
    if "scan" in engines:
        table = table.slice(0, max(1, min(events, SLOW // subscriptions)))
    indexes = {name: Index.build(book, engine=name, sample=sample) for name in engines}
    located = {name: parts.locate_events(index, table) for name, index in indexes.items()}
    singles = table.slice(0, SINGLES).to_pylist()
    batch = _best(indexes, rounds, lambda name, index: parts.match_located(index, located[name]))
    tables = _best(indexes, rounds, lambda _, index: index.match_many(table, threads=1).num_rows)
    one = _best(indexes, rounds, lambda _, index: sum(len(index.match(event)) for event in singles))
    found = []
    for name, index in indexes.items():
        work = [part.work for part in index.match_batches(table, threads=1)]
        counts = {n: sum(getattr(w, n) for w in work) / table.num_rows for n in COUNTS}
        found.append(
            Row(
                name,
                batch[name] / table.num_rows,
                tables[name] / table.num_rows,
                one[name] / len(singles),
                bytes_each=parts.engine_bytes(index) / subscriptions,
                **counts,
            )
        )
    return found


def _best(indexes: dict[str, Any], rounds: int, work: Callable[[str, Any], int]) -> dict[str, float]:
    """Return the least processor time of each engine in microseconds; the engines take turns."""
    best, found = dict.fromkeys(indexes, float("inf")), set()
    for _ in range(rounds):
        for name, index in indexes.items():
            begin = time.thread_time()
            found.add(work(name, index))
            best[name] = min(best[name], 1e6 * (time.thread_time() - begin))
    if len(found) != 1:
        raise AssertionError(f"the engines find different numbers of pairs: {sorted(found)}")
    return best


@click.command()
@click.option("-n", "--subscriptions", "sizes", default=[10_000, 100_000], multiple=True, show_default=True)
@click.option("-m", "--events", default=4_096, show_default=True)
@click.option("--mix", "mixes", default=list(MIXES), multiple=True, type=click.Choice(list(MIXES)))
@click.option("-e", "--engine", "engines", default=["hybrid", "bitmatrix"], multiple=True, show_default=True)
@click.option("--rounds", default=5, show_default=True)
def main(
    sizes: tuple[int, ...], events: int, mixes: tuple[str, ...], engines: tuple[str, ...], rounds: int
) -> None:
    """Print a table for each mix and each number of subscriptions."""
    for mix in mixes:
        for size in sizes:
            print(f"{mix}, {size:,} subscriptions; processor time in µs for an event")
            print(
                f"{'':<12}{'batch':>9}{'table':>9}{'one':>9}{'visited':>10}{'candidates':>12}{'verified':>10}"
                f"{'matches':>9}{'bytes':>7}"
            )
            for row in rows(MIXES[mix], size, events, engines, rounds):
                print(
                    f"{row.engine:<12}{row.batch_us:>9.2f}{row.table_us:>9.2f}{row.one_us:>9.1f}{row.visited:>10,.1f}"
                    f"{row.candidates:>12,.1f}{row.verified:>10,.1f}{row.matches:>9,.1f}{row.bytes_each:>7,.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
