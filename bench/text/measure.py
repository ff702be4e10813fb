"""Measure the cases in turn, on documents that no index has seen before."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from bench.text.cases import cases
from bench.workloads.w3 import W3
from bench.workloads.words import vocabulary
from tamis import Index

TRAINING = 500
FIRST_CALL = 16  # documents

Say = Callable[[str], Any]


class Row(NamedTuple):
    """The figures of one case."""

    name: str
    microseconds: float  # of processor time for a document, from the Arrow table to the table of matches
    ratio: float  # to plain words
    first_s: float  # of the first call: tables, and compilation unless the kernels were compiled before
    matches: float  # of a document


def measure(
    texts: W3, queries: int, documents: int, rounds: int, engine: str, only: str, say: Say
) -> list[Row]:
    """Return a row for each case; in each round all cases match the same documents."""
    book, sample = texts.subscriptions(queries, 1), texts.events(TRAINING, 2)
    stream = texts.events(documents * rounds + FIRST_CALL, 3)
    chosen = [case for at, case in enumerate(cases(texts, sample)) if at == 0 or only in case.name]
    indexes, first = [], []
    for case in chosen:
        say(f"building {case.name}")
        index = Index.build(book, engine=engine, sample=sample)
        for one in case.extra:
            index.add(one["id"], one["expression"])
        index.merge()
        indexes.append(index)
        first.append(_spent(index, case.changed(stream.slice(0, FIRST_CALL)))[0])
    best, found = [float("inf")] * len(chosen), [0] * len(chosen)
    for number in range(rounds):
        part = stream.slice(FIRST_CALL + number * documents, documents)
        for at, (case, index) in enumerate(zip(chosen, indexes, strict=True)):
            say(f"round {number + 1}: {case.name}")
            seconds, count = _spent(index, case.changed(part))
            best[at], found[at] = min(best[at], seconds), found[at] + count
    return [
        Row(
            case.name,
            1e6 * best[at] / documents,
            best[at] / best[0],
            first[at],
            found[at] / documents / rounds,
        )
        for at, case in enumerate(chosen)
    ]


def _spent(index: Any, documents: pa.Table) -> tuple[float, int]:
    """Return the processor time of a call, and the number of matches."""
    documents = documents.combine_chunks()
    begin = time.process_time()
    found = index.match_many(documents, threads=1)
    return time.process_time() - begin, found.table.num_rows


class Patterns(NamedTuple):
    """The figures of LIKE with an inner ``%``."""

    rules: int
    microseconds: float  # of processor time for an event
    first_s: float
    matches: float


def inner_wildcards(rules: int, events: int) -> Patterns:
    """Return the cost of ``LIKE '%a%b%'`` for one event at a time: lines of twenty words."""
    chance, words = random.Random(1), vocabulary(20_000).to_pylist()
    book = {
        f"r{n}": f"line LIKE '%{chance.choice(words[300:])}%{chance.choice(words[300:])}%'"
        for n in range(rules)
    }
    index = Index.build(book)
    lines = [{"line": " ".join(chance.choices(words, k=20))} for _ in range(events + 1)]
    begin = time.process_time()
    index.match(lines.pop())
    first = time.process_time() - begin
    begin = time.process_time()
    found = sum(len(index.match(line)) for line in lines)
    spent = time.process_time() - begin
    return Patterns(rules, 1e6 * spent / events, first, found / events)


def as_table(rows: list[Row]) -> str:
    """Return the rows as text."""
    lines = [f"{'':<30}{'µs/document':>12}{'ratio':>8}{'first call, s':>15}{'matches':>10}"]
    for row in rows:
        lines.append(
            f"{row.name:<30}{row.microseconds:>12.1f}{row.ratio:>8.2f}{row.first_s:>15.2f}{row.matches:>10,.1f}"
        )
    return "\n".join(lines)
