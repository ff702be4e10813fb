"""Measure ``presearch`` with and without leapfrog on the same batches of documents (W3), beside ``hybrid``.

``python -m bench.leapfrog`` prints processor time for a document, and work. The engines take turns, and the
best of several rounds counts, because other processes of the machine slow all of them.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import click

from bench import parts
from bench.workloads.w3 import W3
from tamis import Index

TRAINING = 1_000
PAIR_DOCUMENTS = 4  # the paper's 200 of 50,000 documents, as a share of the training documents


class Row(NamedTuple):
    """The figures of one engine, for a document."""

    name: str
    microseconds: float
    candidates: float
    verified: float


def rows(
    texts: W3, queries: int, documents: int, batch: int, ways: tuple[int, ...], rounds: int
) -> list[Row]:
    """Return the figures of each way without and with leapfrog, and of ``hybrid``; all must agree."""
    book, events, sample = (
        texts.subscriptions(queries, 1),
        texts.events(documents, 3),
        texts.events(TRAINING, 2),
    )
    specs: dict[str, tuple[str, dict[str, Any]]] = {"hybrid": ("hybrid", {})}
    for way in ways:
        for leaps in (0, 1):
            parameters = {"way": way, "leapfrog": leaps, "batch": batch, "pair_documents": PAIR_DOCUMENTS}
            specs[f"way {way}, leapfrog {leaps}"] = ("presearch", parameters)
    indexes = {
        name: Index.build(book, engine=engine, parameters=parameters, sample=sample)
        for name, (engine, parameters) in specs.items()
    }
    located = {name: parts.locate_events(index, events) for name, index in indexes.items()}
    best, found = dict.fromkeys(specs, float("inf")), set()
    for _ in range(rounds):
        for name, index in indexes.items():
            begin = time.thread_time()
            found.add(parts.match_located(index, located[name]))
            best[name] = min(best[name], time.thread_time() - begin)
    if len(found) != 1:
        raise AssertionError(f"the engines find different numbers of pairs: {sorted(found)}")
    return [_row(name, index, events, best[name]) for name, index in indexes.items()]


def _row(name: str, index: Any, events: Any, seconds: float) -> Row:
    work = [part.work for part in index.match_batches(events, threads=1)]
    candidates, verified = sum(one.candidates for one in work), sum(one.verified for one in work)
    count = events.num_rows
    return Row(name, 1e6 * seconds / count, candidates / count, verified / count)


@click.command()
@click.option("-n", "--queries", default=200_000, show_default=True)
@click.option("-m", "--documents", default=2_400, show_default=True)
@click.option("--batch", "batches", default=[200, 600, 1_200], multiple=True, show_default=True)
@click.option("--way", "ways", default=[1, 2, 3], multiple=True, show_default=True)
@click.option("--shortest", default=1, show_default=True, help="Least words of a document.")
@click.option("--rounds", default=8, show_default=True)
def main(
    queries: int, documents: int, batches: tuple[int, ...], ways: tuple[int, ...], shortest: int, rounds: int
) -> None:
    """Print a table for each size of a batch."""
    for batch in batches:
        print(f"batches of {batch:,}{'µs':>18}{'candidates':>12}{'verified':>10}   for a document")
        for row in rows(W3(shortest=shortest), queries, documents, batch, ways, rounds):
            print(
                f"{row.name:<20}{row.microseconds:>12.1f}{row.candidates:>12,.0f}{row.verified:>10,.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
