"""W1: the synthetic workload of the OpIndex paper: tens of thousands of attributes, three operators.

The parameters of its table 3 are the fields of :class:`W1`. The text names one default (20,000 attributes);
for the others the second value of each list is taken.

* A subscription has 1 to ``most_predicates`` predicates, uniformly, on different attributes.
* A predicate is ``=`` with probability ``equality``, else ``<=`` or ``>=``, each half of the rest; its
  operand is one of ``values`` numbers.
* An event has 1 to ``most_attributes`` different attributes, uniformly, each with one of the values.
* ``alpha`` is the exponent of the Zipf law that attributes and operands follow, in subscriptions and in
  events alike.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from bench.workloads.base import (
    EQ,
    GE,
    LE,
    Ints,
    Operands,
    Rows,
    bulk_table,
    no_texts,
    numbered,
    sparse_events,
    starts,
)
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, blocks, distinct, generator, ranks, zipf

Matrices = tuple[Ints, ...]


@dataclass(frozen=True)
class W1:
    """The parameters of table 3 of the paper."""

    name: str = "w1"
    dimensions: int = 20_000
    most_predicates: int = 8
    most_attributes: int = 40
    equality: float = 0.4
    values: int = 200
    alpha: float = 0.0

    @property
    def about(self) -> str:
        """One line for people."""
        return f"OpIndex paper: {self.dimensions:,} attributes, events of up to {self.most_attributes}"

    def parameters(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)

    def subscriptions(self, count: int, seed: int) -> pa.Table:
        """``count`` conjunctions over ``a0``, ``a1`` …"""
        parts = [_head(self._block(seed, number), used) for number, used in blocks(count, BLOCK)]
        size, attribute, operator, operand = (np.concatenate(part) for part in zip(*parts, strict=True))
        used = np.arange(self.most_predicates) < size[:, None]
        operands = Operands(np.ones(int(size.sum()), np.int64), pa.array(operand[used]))
        rows = Rows(np.repeat(np.arange(count), size), attribute[used], operator[used], {"number": operands})
        return bulk_table(rows, numbered("s", count), [f"a{at}" for at in range(self.dimensions)])

    def texts(self, count: int, seed: int) -> pa.Table:
        """None: the columns can say everything."""
        return no_texts()

    def events(self, count: int, seed: int, book: int = 1_000_000) -> pa.Table:
        """``count`` events as one map column, name to integer; they do not depend on the book."""
        parts = [_head(self._events(seed, number), used) for number, used in blocks(count, EVENT_BLOCK)]
        size, attribute, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        used = np.arange(self.most_attributes) < size[:, None]
        names = numbered("a", self.dimensions)
        return sparse_events(starts(size), names, attribute[used], pa.array(value[used]))

    @cached_property
    def _popularity(self) -> Floats:
        return zipf(self.dimensions, self.alpha)

    @cached_property
    def _operands(self) -> Floats:
        return zipf(self.values, self.alpha)

    def _block(self, seed: int, number: int) -> Matrices:
        """Sizes, attributes, operators and operands of a block of subscriptions."""
        rng = generator(seed, "w1 subscriptions", number)
        shape = (BLOCK, self.most_predicates)
        size = rng.integers(1, self.most_predicates + 1, BLOCK)
        edges = np.cumsum([self.equality, (1.0 - self.equality) / 2])
        operator = np.array([EQ, LE, GE])[np.searchsorted(edges, rng.random(shape), side="right")]
        return size, distinct(rng, self._popularity, *shape), operator, ranks(rng, self._operands, shape)

    def _events(self, seed: int, number: int) -> Matrices:
        """Sizes, attributes and values of a block of events."""
        rng = generator(seed, "w1 events", number)
        shape = (EVENT_BLOCK, self.most_attributes)
        size = rng.integers(1, self.most_attributes + 1, EVENT_BLOCK)
        return size, distinct(rng, self._popularity, *shape), ranks(rng, self._operands, shape)


def _head(matrices: Matrices, count: int) -> Matrices:
    return tuple(matrix[:count] for matrix in matrices)


W1_DEFAULT = W1()
