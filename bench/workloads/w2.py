"""Generate W2, the workload of the BE*-Tree paper, uniform and Zipf: narrow ranges in a few dense places.

The paper's parameters are the fields of :class:`W2`. It leaves other points open; our choices:

* A subscription has ``size - spread`` to ``size + spread`` predicates, uniformly, on different
  attributes, drawn from P(r) = C / r^alpha.
* Every attribute has ``clusters`` centres, uniform in the domain; a value lies at most ``reach`` (the
  paper's cluster size) away from one of them, uniformly. With no clusters (the paper's N/A) values are
  uniform in the domain.
* A predicate is a ``between`` over 1 to ``widest`` values (the paper: a handful), an equality if it is one.
* An event has ``event_size`` different attributes, drawn like those of subscriptions, with such values.
* Chance makes no event match, so the match probability is reached by construction
  (:mod:`bench.workloads.profiles`).
* The weight of a predicate is the inverse frequency of its attribute (1 for the rarest), scaled by
  Gaussian noise around ``weight`` with a deviation of ``weight_deviation``, at most 1. (The paper prints
  max for this min; with max the noise would vanish.)

``w2-dblp`` and ``w2-dblp-title`` have the figures of the paper's author and title columns (677 attributes of
26^3 values, sizes). The words of DBLP are not here, so attributes follow Zipf's law and values clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from bench.workloads.base import BETWEEN, EQ, Ints, Operands, Rows, bulk_table, dense_rows, numbered
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, distinct, generator, zipf
from bench.workloads.profiles import Profiles, profile_count, profile_width
from bench.workloads.synthetic import Matrices, Synthetic, check_bounds, gather, used_cells


@dataclass(frozen=True)
class W2(Synthetic):
    """The parameters of table III of the paper, and the choices above."""

    name: str = "w2"
    dimensions: int = 400
    cardinality: int = 250_000_000
    clusters: int = 4
    reach: int = 100
    size: int = 8
    spread: int = 2
    event_size: int = 15
    widest: int = 9
    alpha: float = 0.0
    match_probability: float = 0.001
    profiles: int = 64
    weight: float = 0.8
    weight_deviation: float = 0.05

    def __post_init__(self) -> None:
        check_bounds(
            self,
            dimensions=(1, None),
            clusters=(0, None),
            reach=(0, None),
            cardinality=(2 * self.reach + 2, None),
            size=(1, self.dimensions),
            spread=(0, None),
            event_size=(1, self.dimensions),
            widest=(1, self.cardinality),
            alpha=(0, None),
            match_probability=(0, 1),
            profiles=(1, None),
            weight=(0, 1),
            weight_deviation=(0, None),
        )

    @property
    def about(self) -> str:
        """A description in one line."""
        law = f"Zipf {self.alpha:g}" if self.alpha else "uniform"
        return f"BE*-Tree paper: {self.dimensions:,} attributes, {self.clusters} clusters each, {law}"

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return weighted conjunctions over ``a0``, ``a1`` …"""
        size, attribute, low, width, weight = gather(rows, BLOCK, partial(self._block, seed))
        used = used_cells(attribute, size)
        low, width = low[used], width[used]
        numbers = np.stack([low, low + width - 1], axis=1)
        several = np.stack([np.ones(len(low), np.bool_), width > 1], axis=1)
        operands = Operands(np.where(width > 1, 2, 1), pa.array(numbers[several]))
        owner = np.repeat(np.arange(len(size)), size)
        cells = Rows(owner, attribute[used], np.where(width > 1, BETWEEN, EQ), {"number": operands})
        table = bulk_table(cells, numbered("s", rows), [f"a{at}" for at in range(self.dimensions)])
        return table.append_column("weight", pa.array(weight[used]))

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return events as one map column, name to integer; they do not depend on the book."""
        attribute, value = gather(rows, EVENT_BLOCK, partial(self._events, seed))
        return dense_rows(attribute, value, self.dimensions)

    @cached_property
    def _popularity(self) -> Floats:
        return zipf(self.dimensions, self.alpha)

    @cached_property
    def _inverse(self) -> Floats:
        """The inverse frequency of every attribute, 1 for the rarest."""
        share = np.diff(self._popularity, prepend=0.0)
        return np.asarray(share.min() / share)

    @property
    def _most(self) -> int:
        return min(self.size + self.spread, self.dimensions)

    def _values(self, rng: np.random.Generator, seed: int, attribute: Ints) -> Ints:
        """Return a value near one of the centres of each attribute."""
        if not self.clusters:
            return rng.integers(0, self.cardinality, attribute.shape)
        centre = generator(seed, "w2 centres").integers(
            self.reach, self.cardinality - self.reach, (self.dimensions, self.clusters)
        )
        chosen = centre[attribute, rng.integers(0, self.clusters, attribute.shape)]
        return np.asarray(chosen + rng.integers(-self.reach, self.reach + 1, attribute.shape))

    def _block(self, seed: int, number: int) -> Matrices:
        """Return sizes, attributes, lowest values, widths and weights of a block."""
        rng = generator(seed, "w2 subscriptions", number)
        size = rng.integers(max(1, self.size - self.spread), self._most + 1, BLOCK)
        attribute = distinct(rng, self._popularity, BLOCK, self._most)
        width = rng.integers(1, self.widest + 1, attribute.shape)
        low = self._values(rng, seed, attribute)
        if self.match_probability:
            followed = self._profiles(seed).followers(rng, BLOCK, self._most, self.match_probability)
            rows, attributes, values = followed
            known = attributes.shape[1]
            size[rows] = np.minimum(size[rows], known)
            attribute[rows, :known] = attributes
            low[rows, :known] = values - (rng.random(values.shape) * width[rows, :known]).astype(np.int64)
        noise = np.minimum(1.0, rng.normal(self.weight, self.weight_deviation, attribute.shape))
        return size, attribute, low, width, self._inverse[attribute] * np.maximum(noise, 0.0)

    def _profiles(self, seed: int) -> Profiles:
        rng = generator(seed, "w2 profiles")
        shape = (
            profile_count(self.profiles, self.match_probability),
            profile_width(self._most, self.event_size),
        )
        attribute = distinct(rng, self._popularity, *shape)
        return Profiles(attribute, self._values(rng, seed, attribute))

    def _events(self, seed: int, number: int) -> Matrices:
        rng = generator(seed, "w2 events", number)
        shape = (EVENT_BLOCK, self.event_size)
        if not self.match_probability:
            attribute = distinct(rng, self._popularity, *shape)
            return attribute, self._values(rng, seed, attribute)
        known = np.zeros(shape, np.int64)
        fixed = self._profiles(seed).lead(rng, known)
        attribute = distinct(rng, self._popularity, *shape, fixed)
        return attribute, np.where(fixed >= 0, known, self._values(rng, seed, attribute))


W2_UNIFORM = W2()
W2_ZIPF = W2(name="w2-zipf", alpha=1.0)
W2_DBLP = W2(name="w2-dblp", dimensions=677, cardinality=26**3, size=8, event_size=16, alpha=0.8)
W2_TITLE = W2(name="w2-dblp-title", dimensions=677, cardinality=26**3, size=30, event_size=43, alpha=0.8)
