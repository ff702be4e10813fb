"""Generate W1, the workload of the OpIndex paper: tens of thousands of attributes, three operators.

The parameters of its table 3 are the fields of :class:`W1`. The text names one default (20,000 attributes);
for the others the second value of each list is taken.

* A subscription has 1 to ``most_predicates`` predicates, uniformly, on different attributes.
* A predicate is ``=`` with probability ``equality``, else ``<=`` or ``>=``, each half of the rest; its
  operand is one of ``values`` numbers.
* An event has 1 to ``most_attributes`` different attributes, uniformly, each with one of the values.
* ``alpha`` is the exponent of the Zipf law that attributes follow, in subscriptions and in events alike,
  ``value_alpha`` that of operands and values (the same unless given).

| paper | here |
|---|---|
| d | ``dimensions`` |
| Γmax | ``most_predicates`` |
| m | ``most_attributes`` |
| θ1 | ``equality`` |
| σ | ``values`` |
| Zipf | ``alpha``, ``value_alpha`` |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from bench.workloads.base import EQ, GE, LE, Ints, Operands, Rows, bulk_table, numbered, sparse_events
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, distinct, generator, ranks, zipf
from bench.workloads.synthetic import Matrices, Synthetic, check_bounds, gather, used_cells
from tamis.columns.rows import starts


@dataclass(frozen=True)
class W1(Synthetic):
    """The parameters of table 3 of the paper."""

    name: str = "w1"
    dimensions: int = 20_000
    most_predicates: int = 8
    most_attributes: int = 40
    equality: float = 0.4
    values: int = 200
    alpha: float = 0.0
    value_alpha: float | None = None

    def __post_init__(self) -> None:
        check_bounds(
            self,
            dimensions=(1, None),
            most_predicates=(1, self.dimensions),
            most_attributes=(1, self.dimensions),
            equality=(0, 1),
            values=(1, None),
            alpha=(0, None),
            value_alpha=(0, None),
        )

    @property
    def about(self) -> str:
        """A description in one line."""
        return f"OpIndex paper: {self.dimensions:,} attributes, events of up to {self.most_attributes}"

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return conjunctions over ``a0``, ``a1`` …"""
        size, attribute, operator, operand = gather(rows, BLOCK, partial(self._block, seed))
        used = used_cells(attribute, size)
        operands = Operands(np.ones(int(size.sum()), np.int64), pa.array(operand[used]))
        owner = np.repeat(np.arange(len(size)), size)
        cells = Rows(owner, attribute[used], operator[used], {"number": operands})
        return bulk_table(cells, numbered("s", rows), [f"a{at}" for at in range(self.dimensions)])

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return events as one map column, name to integer; they do not depend on the book."""
        size, attribute, value = gather(rows, EVENT_BLOCK, partial(self._events, seed))
        used = used_cells(attribute, size)
        names = numbered("a", self.dimensions)
        return sparse_events(starts(size), names, attribute[used], pa.array(value[used]))

    @cached_property
    def _popularity(self) -> Floats:
        return zipf(self.dimensions, self.alpha)

    @cached_property
    def _operands(self) -> Floats:
        return zipf(self.values, self.alpha if self.value_alpha is None else self.value_alpha)

    def _block(self, seed: int, number: int) -> Matrices:
        """Return sizes, attributes, operators and operands of a block of subscriptions."""
        rng = generator(seed, "w1 subscriptions", number)
        size = rng.integers(1, self.most_predicates + 1, BLOCK)
        return size, *self._predicates(rng, BLOCK, self.most_predicates)

    def _predicates(self, rng: np.random.Generator, rows: int, width: int) -> tuple[Ints, Ints, Ints]:
        """Return attributes, different ones in each row, operators and operands."""
        shape = (rows, width)
        edges = np.cumsum([self.equality, (1.0 - self.equality) / 2])
        operator = np.array([EQ, LE, GE])[np.searchsorted(edges, rng.random(shape), side="right")]
        return distinct(rng, self._popularity, *shape), operator, ranks(rng, self._operands, shape)

    def _events(self, seed: int, number: int) -> Matrices:
        """Return sizes, attributes and values of a block of events."""
        rng = generator(seed, "w1 events", number)
        shape = (EVENT_BLOCK, self.most_attributes)
        size = rng.integers(1, self.most_attributes + 1, EVENT_BLOCK)
        return size, distinct(rng, self._popularity, *shape), ranks(rng, self._operands, shape)


W1_DEFAULT = W1()
