"""Hold subscriptions of W4 as matrices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bench.workloads.base import BETWEEN, GE, LE, Ints, Operands, Rows
from bench.workloads.synthetic import used_cells


class Block(NamedTuple):
    """Subscriptions as matrices, one row each; only the first ``size`` columns of a row count."""

    size: Ints
    attribute: Ints
    operator: Ints
    operand: Ints
    low: Ints
    width: Ints

    def satisfying(self, cardinality: int) -> tuple[Ints, Ints]:
        """Return the least and the greatest value that satisfies each predicate."""
        low = np.where(self.operator == BETWEEN, self.low, np.where(self.operator == LE, 0, self.operand))
        high = np.where(self.operator == GE, cardinality - 1, self.operand)
        return low, np.where(self.operator == BETWEEN, self.low + self.width - 1, high)

    def cover(self, rng: np.random.Generator, rows: Ints, value: Ints, cardinality: int) -> None:
        """Move the operands of ``rows`` so that ``value`` satisfies every predicate."""
        part = np.ix_(rows, np.arange(value.shape[1]))
        operator, width = self.operator[part], self.width[part]
        at = rng.random(value.shape)
        below = (at * (value + 1)).astype(np.int64)
        above = value + (at * (cardinality - value)).astype(np.int64)
        self.operand[part] = np.where(operator == LE, above, np.where(operator == GE, below, value))
        least, most = np.maximum(0, value - width + 1), np.minimum(value, cardinality - width)
        self.low[part] = least + (at * (most - least + 1)).astype(np.int64)

    def share_true(self, attribute: Ints, value: Ints, dimensions: int, cardinality: int) -> float:
        """Return the mean number of true subscriptions over events of these attributes and values."""
        low, high = self.satisfying(cardinality)
        idle = ~used_cells(self.attribute, self.size)
        found = 0
        for names, values in zip(attribute, value, strict=True):
            event = np.full(dimensions, -1)
            event[names] = values
            at = event[self.attribute]
            found += int((idle | ((low <= at) & (at <= high) & (at >= 0))).all(axis=1).sum())
        return found / (len(attribute) * len(self.size))

    def rows(self) -> Rows:
        """Return the used cells, in order."""
        used = used_cells(self.attribute, self.size)
        operator = self.operator[used]
        ranged = operator == BETWEEN
        first = np.where(ranged, self.low[used], self.operand[used])
        count = np.where(ranged, 2, 1)
        numbers = np.repeat(first, count)
        ends = np.cumsum(count)[ranged] - 1
        numbers[ends] += self.width[used][ranged] - 1
        owner = np.repeat(np.arange(len(self.size)), self.size)
        return Rows(owner, self.attribute[used], operator, {"number": Operands(count, pa.array(numbers))})
