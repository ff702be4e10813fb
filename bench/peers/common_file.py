"""Read and write the one file that every peer reads, in whatever language its program is written.

The file is text, in lines. The first line has, between tabs, ``tamis-peers``, the version of the format, the
name of the workload, the least and the greatest value, and the number of attributes, subscriptions and
events. Then comes one line per subscription (its id is its place, from 0): predicates between tabs, each an
attribute's number, an operator and the operands between blanks, as in ``3 between 10 29``. Then comes one
line per event: a value for every attribute, between blanks. All values are whole numbers, so that no reader
needs a library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bench.workloads.mix import Mix
from tamis.columns.rows import starts

MARK, VERSION = "tamis-peers", "1"
OPERATORS = ("=", "!=", "<=", ">=", "between", "in")


class Predicate(NamedTuple):
    """An attribute's number, an operator, and its operands."""

    attribute: int
    operator: str
    operands: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the attribute, for peers that need names."""
        return f"a{self.attribute}"


@dataclass(frozen=True)
class Content:
    """The content of a common file."""

    name: str
    lowest: int
    highest: int
    attributes: int
    subscriptions: list[tuple[Predicate, ...]]
    events: list[tuple[int, ...]]


def write(mix: Mix, subscriptions: int, events: int, seed: int, file: Path) -> None:
    """Write the beginning of ``mix`` as a common file."""
    header = (MARK, VERSION, mix.name, 0, mix.cardinality - 1, mix.attributes, subscriptions, events)
    with file.open("w", encoding="ascii") as out:
        out.write("\t".join(map(str, header)) + "\n")
        out.writelines(line + "\n" for line in _subscription_lines(mix.subscriptions(subscriptions, seed)))
        rows = np.column_stack([c.to_numpy() for c in mix.events(events, seed, subscriptions).columns])
        out.writelines(" ".join(map(str, row)) + "\n" for row in rows.tolist())


def _subscription_lines(table: pa.Table) -> Iterator[str]:
    attribute, operator = (table.column(name).combine_chunks() for name in ("attribute", "operator"))
    words = operator.cast(pa.string()).to_pylist()
    numbers = table.column("number").to_pylist()
    predicates = [
        f"{at} {op} {' '.join(map(str, operands))}"
        for at, op, operands in zip(attribute.indices.to_pylist(), words, numbers, strict=True)
    ]
    size = np.bincount(table.column("id").combine_chunks().indices.to_numpy())
    bounds = starts(size).tolist()
    return ("\t".join(predicates[a:b]) for a, b in pairwise(bounds))


def read(file: Path, most: int | None = None) -> Content:
    """Return the content of ``file``, at most ``most`` subscriptions; raise ``ValueError`` if malformed."""
    with file.open(encoding="ascii") as lines:
        head = next(lines, "").rstrip("\n").split("\t")
        if len(head) != 8 or head[:2] != [MARK, VERSION]:
            raise ValueError(f"{file} is not a common file of peers, version {VERSION}")
        lowest, highest, attributes, count, events = map(int, head[3:])
        kept = count if most is None else min(count, most)
        subscriptions = [_predicates(next(lines)) for _ in range(kept)]
        for _ in range(count - kept):
            next(lines)
        rows = [tuple(map(int, next(lines).split())) for _ in range(events)]
    return Content(head[2], lowest, highest, attributes, subscriptions, rows)


def _predicates(line: str) -> tuple[Predicate, ...]:
    return tuple(_predicate(part.split()) for part in line.rstrip("\n").split("\t"))


def _predicate(words: list[str]) -> Predicate:
    attribute, operator, *operands = words
    if operator not in OPERATORS:
        raise ValueError(f"no operator {operator!r}; there are {', '.join(OPERATORS)}")
    return Predicate(int(attribute), operator, tuple(map(int, operands)))
