"""Run Tamis as a peer: the public API on one thread, one event at a time or in a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

import tamis
from bench.peers.common_file import Predicate


class _Tamis:
    def __init__(self) -> None:
        self._rows: dict[str, list[Any]] = {"id": [], "attribute": [], "operator": [], "number": []}
        self._index: Any = None

    def add(self, number: int, predicates: tuple[Predicate, ...]) -> None:
        """Keep the rows of the bulk path."""
        for predicate in predicates:
            self._rows["id"].append(str(number))
            self._rows["attribute"].append(predicate.name)
            self._rows["operator"].append(predicate.operator)
            self._rows["number"].append(predicate.operands)

    def ready(self) -> None:
        """Build the default engine."""
        self._index = tamis.Index.build(pa.table(self._rows))
        self._rows.clear()

    def version(self) -> str:
        """Return the version of the library."""
        return tamis.__version__


class OneEvent(_Tamis):
    """The call ``Index.match`` with a dictionary."""

    batch = 1

    def prepare(self, events: Sequence[tuple[int, ...]]) -> dict[str, int]:
        """Return dictionaries, as they come out of a JSON parser."""
        return {f"a{at}": value for at, value in enumerate(events[0])}

    def match(self, prepared: dict[str, int]) -> list[str]:
        """Return a list of ids."""
        found: list[str] = self._index.match(prepared)
        return found

    def ids(self, answer: list[str], count: int) -> list[list[int]]:
        """Return the numbers in the ids."""
        return [list(map(int, answer))]


class Batch(_Tamis):
    """The call ``Index.match_many`` with an Arrow table."""

    batch = 2_000

    def prepare(self, events: Sequence[tuple[int, ...]]) -> pa.Table:
        """Return a column for each attribute."""
        return pa.table({f"a{at}": column for at, column in enumerate(zip(*events, strict=True))})

    def match(self, prepared: pa.Table) -> pa.Table:
        """Return a table of pairs."""
        return self._index.match_many(prepared, threads=1)

    def ids(self, answer: pa.Table, count: int) -> list[list[int]]:
        """Return the pairs, event by event."""
        rows: list[list[int]] = [[] for _ in range(count)]
        for event, subscription in zip(*(answer.column(at).to_pylist() for at in (0, 1)), strict=True):
            rows[event].append(int(subscription))
        return rows
