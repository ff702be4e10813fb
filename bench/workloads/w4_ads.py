"""Generate ads: the shape of the display advertisements of the PS-Tree paper (section 7.4).

The paper gives 3,000,000 subscriptions of 1 to 56 predicates (8 on average) over 122 attributes, and events
of 20 pairs. It leaves other points open; our choices:

* The number of predicates is log-normal, cut off at both ends.
* Attributes are as popular as Zipf's law says, with subscriptions and events alike.
* The attributes have few, some or many values (channels, regions, shops), in turn; the popularity of
  values, too, follows Zipf's law. An advertisement names one value (``=``), a few (``in``), or, if there are
  many, a range (``between``, ``<=``, ``>=``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from bench.workloads.base import (
    BETWEEN,
    EQ,
    GE,
    IN,
    LE,
    Ints,
    Operands,
    Rows,
    bulk_table,
    dense_rows,
    numbered,
)
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, blocks, distinct, generator, zipf
from bench.workloads.synthetic import Synthetic, check_bounds, gather
from tamis.columns.rows import starts

CARDINALITIES = (4, 12, 40, 150, 600, 2_500)


@dataclass(frozen=True)
class Ads(Synthetic):
    """The figures of the paper, and the choices above."""

    name: str = "w4-ads"
    dimensions: int = 122
    mean: float = 8.0
    sigma: float = 0.6
    most: int = 56
    event_size: int = 20
    alpha: float = 0.7
    value_alpha: float = 0.5
    equality: float = 0.45
    members: float = 0.3
    widest: float = 0.1
    most_members: int = 6

    def __post_init__(self) -> None:
        check_bounds(
            self,
            dimensions=(1, None),
            mean=(1, self.most),
            sigma=(0, None),
            most=(1, None),
            event_size=(1, self.dimensions),
            alpha=(0, None),
            value_alpha=(0, 0.99),
            equality=(0, 1 - self.members),
            members=(0, 1),
            widest=(0, 1),
            most_members=(2, None),
        )

    @property
    def about(self) -> str:
        """A description in one line."""
        return f"PS-Tree paper: advertisements, {self.dimensions} attributes, events of {self.event_size}"

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return advertisements over ``a0``, ``a1`` …"""
        parts = [self._block(seed, number, part) for number, part in blocks(rows, BLOCK)]
        sizes, attribute, operator, counts, numbers = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        owner = np.repeat(np.arange(len(sizes)), sizes)
        cells = Rows(owner, attribute, operator, {"number": Operands(counts, pa.array(numbers))})
        return bulk_table(cells, numbered("s", rows), [f"a{at}" for at in range(self.dimensions)])

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return sessions as one map column, name to integer; they do not depend on the book."""
        attribute, value = gather(rows, EVENT_BLOCK, partial(self._events, seed))
        return dense_rows(attribute, value, self.dimensions)

    # ------------------------------------------------------------------------------- subscriptions
    def _block(self, seed: int, number: int, part: slice) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Return sizes; attribute, operator and number of operands of each predicate; and all operands."""
        rng = generator(seed, "ads subscriptions", number)
        size = self._sizes(rng)
        attribute = self._attributes(rng, size)
        cardinality = self._cardinality(attribute)
        operator = self._operators(rng, cardinality)
        value = self._values(rng, cardinality)
        members = rng.integers(2, self.most_members + 1, len(attribute))
        width = (rng.random(len(attribute)) * self.widest * cardinality).astype(np.int64)
        first = starts(size)
        kept = slice(first[part.start], first[part.stop])
        cells = (operator[kept], cardinality[kept], value[kept], members[kept], width[kept])
        return size[part], attribute[kept], operator[kept], *self._operands(*cells)

    def _operands(
        self, operator: Ints, cardinality: Ints, value: Ints, members: Ints, width: Ints
    ) -> tuple[Ints, Ints]:
        """Return the number of operands of each predicate, and all operands."""
        several = np.where(operator == BETWEEN, 2, 1)
        counts = np.where(operator == IN, np.minimum(members, cardinality), several)
        first = starts(counts)
        step = np.arange(first[-1]) - np.repeat(first[:-1], counts)
        # The members of a set are consecutive, modulo the domain: they differ, and popular ones meet.
        operands = (np.repeat(value, counts) + step) % np.repeat(cardinality, counts)
        ranged = operator == BETWEEN
        operands[first[:-1][ranged]] = value[ranged]
        operands[first[:-1][ranged] + 1] = np.minimum(value + width, cardinality - 1)[ranged]
        return counts, operands

    def _sizes(self, rng: np.random.Generator) -> Ints:
        drawn = rng.lognormal(np.log(self.mean) - self.sigma**2 / 2, self.sigma, BLOCK)
        return np.clip(np.round(drawn), 1, min(self.most, self.dimensions)).astype(np.int64)

    def _attributes(self, rng: np.random.Generator, size: Ints) -> Ints:
        """Return different attributes for each row, drawn in steps so that short rows stay cheap."""
        popularity = zipf(self.dimensions, self.alpha)
        drawn = np.zeros((BLOCK, int(size.max())), np.int64)
        least, step = 0, 8
        while least < drawn.shape[1]:
            rows = np.flatnonzero((size > least) & (size <= step))
            width = min(step, drawn.shape[1])
            drawn[rows, :width] = distinct(rng, popularity, len(rows), width)
            least, step = step, 2 * step
        return drawn[np.arange(drawn.shape[1]) < size[:, None]]

    def _operators(self, rng: np.random.Generator, cardinality: Ints) -> Ints:
        """Return operators: ranges only for attributes with many values, one more equality for the others."""
        at = rng.random(len(cardinality))
        third = (1.0 - self.equality - self.members) / 3
        edges = np.cumsum([self.equality, self.members, third, third])
        operator = np.array([EQ, IN, BETWEEN, LE, GE])[np.searchsorted(edges, at, side="right")]
        few = cardinality < CARDINALITIES[2]
        return np.where(few & (operator != IN), EQ, operator)

    def _cardinality(self, attribute: Ints) -> Ints:
        return np.array(CARDINALITIES)[attribute % len(CARDINALITIES)]

    def _values(self, rng: np.random.Generator, cardinality: Ints) -> Ints:
        """Return values by inverting P(v) ~ v^-alpha as if continuous: close to Zipf's law, and quick."""
        uniform: Floats = rng.random(cardinality.shape)
        return np.minimum(
            (cardinality * uniform ** (1 / (1 - self.value_alpha))).astype(np.int64), cardinality - 1
        )

    # -------------------------------------------------------------------------------------- events
    def _events(self, seed: int, number: int) -> tuple[Ints, Ints]:
        rng = generator(seed, "ads events", number)
        attribute = distinct(rng, zipf(self.dimensions, self.alpha), EVENT_BLOCK, self.event_size)
        return attribute, self._values(rng, self._cardinality(attribute))


ADS = Ads()
