"""W2: the synthetic workload of the BE*-Tree paper, uniform and Zipf: narrow ranges in a few dense places.

What the paper fixes is a field of :class:`W2`; what it leaves open is settled like this.

* A subscription has ``size - spread`` to ``size + spread`` predicates, uniformly, on different
  attributes, drawn from P(r) = C / r^alpha.
* Every attribute has ``clusters`` centres, uniform in the domain; a value lies at most ``reach`` (the
  paper's cluster size) away from one of them, uniformly.
* A predicate is a ``between`` over 1 to ``widest`` values (the paper: a handful), an equality if it is one.
* An event has ``event_size`` different attributes, drawn like those of subscriptions, with such values.
* Chance makes no event match, so the match probability is reached by construction: there are some
  profiles, each with fixed values for half of an event; every event follows a profile, and each profile
  satisfies the share ``match_probability`` of the book.
* The weight of a predicate is the inverse frequency of its attribute (1 for the rarest), scaled by
  Gaussian noise around 0.8 with a deviation of 0.05, at most 1. (The paper prints max for this min; with
  max the noise would vanish.)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from bench.workloads.base import (
    BETWEEN,
    EQ,
    Ints,
    Operands,
    Rows,
    bulk_table,
    no_texts,
    numbered,
    sparse_events,
)
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, blocks, distinct, generator, zipf


@dataclass(frozen=True)
class W2:
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

    @property
    def about(self) -> str:
        """One line for people."""
        law = f"Zipf {self.alpha:g}" if self.alpha else "uniform"
        return f"BE*-Tree paper: {self.dimensions:,} attributes, {self.clusters} clusters each, {law}"

    def parameters(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)

    def subscriptions(self, count: int, seed: int) -> pa.Table:
        """``count`` weighted conjunctions over ``a0``, ``a1`` …"""
        parts = [self._block(seed, number, used) for number, used in blocks(count, BLOCK)]
        size, attribute, low, width, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        used = np.arange(attribute.shape[1]) < size[:, None]
        low, width = low[used], width[used]
        numbers = np.stack([low, low + width - 1], axis=1)
        several = np.stack([np.ones(len(low), np.bool_), width > 1], axis=1)
        operands = Operands(np.where(width > 1, 2, 1), pa.array(numbers[several]))
        rows = Rows(
            np.repeat(np.arange(len(size)), size),
            attribute[used],
            np.where(width > 1, BETWEEN, EQ),
            {"number": operands},
        )
        names = [f"a{at}" for at in range(self.dimensions)]
        table = bulk_table(rows, numbered("s", count), names)
        return table.append_column("weight", pa.array(weight[used]))

    def texts(self, count: int, seed: int) -> pa.Table:
        """None: the columns can say everything."""
        return no_texts()

    def events(self, count: int, seed: int, book: int = 1_000_000) -> pa.Table:
        """``count`` events as one map column, name to integer."""
        parts = [self._events(seed, number) for number, _ in blocks(count, EVENT_BLOCK)]
        attribute = np.concatenate([part[0] for part in parts])[:count]
        value = np.concatenate([part[1] for part in parts])[:count]
        offsets = np.arange(count + 1) * self.event_size
        names = numbered("a", self.dimensions)
        return sparse_events(offsets, names, attribute.ravel(), pa.array(value.ravel()))

    @cached_property
    def _popularity(self) -> Floats:
        return zipf(self.dimensions, self.alpha)

    @cached_property
    def _inverse(self) -> Floats:
        """Inverse frequency of every attribute, 1 for the rarest."""
        share = np.diff(self._popularity, prepend=0.0)
        return np.asarray(share.min() / share)

    def _values(self, rng: np.random.Generator, seed: int, attribute: Ints) -> Ints:
        """A value near one of the centres of each attribute."""
        centre = generator(seed, "w2 centres").integers(
            self.reach, self.cardinality - self.reach, (self.dimensions, self.clusters)
        )
        chosen = centre[attribute, rng.integers(0, self.clusters, attribute.shape)]
        return np.asarray(chosen + rng.integers(-self.reach, self.reach + 1, attribute.shape))

    def _block(self, seed: int, number: int, count: int) -> tuple[Ints, Ints, Ints, Ints, Floats]:
        """Size, attributes, lowest values, widths and weights of a block."""
        rng = generator(seed, "w2 subscriptions", number)
        most = min(self.size + self.spread, self.dimensions)
        size = rng.integers(max(1, self.size - self.spread), most + 1, BLOCK)
        attribute = distinct(rng, self._popularity, BLOCK, most)
        width = rng.integers(1, self.widest + 1, attribute.shape)
        low = self._values(rng, seed, attribute)
        self._follow_profiles(rng, seed, attribute, low, width)
        noise = np.minimum(1.0, rng.normal(0.8, 0.05, attribute.shape))
        weight = self._inverse[attribute] * noise
        return size[:count], attribute[:count], low[:count], width[:count], weight[:count]

    def _profile(self, seed: int) -> tuple[Ints, Ints]:
        """Attributes of each profile, and their values."""
        rng = generator(seed, "w2 profiles")
        width = min(self.event_size, max(self.size + self.spread, self.event_size // 2))
        attribute = distinct(rng, self._popularity, self.profiles, width)
        return attribute, self._values(rng, seed, attribute)

    def _follow_profiles(
        self, rng: np.random.Generator, seed: int, attribute: Ints, low: Ints, width: Ints
    ) -> None:
        """Make a share of the block true for each profile, widths unchanged."""
        attributes, values = self._profile(seed)
        rows = np.flatnonzero(rng.random(len(attribute)) < self.match_probability * self.profiles)
        profile = rng.integers(0, self.profiles, len(rows))[:, None]
        columns = attribute.shape[1]
        place = rng.permuted(np.tile(np.arange(attributes.shape[1]), (len(rows), 1)), axis=1)[:, :columns]
        attribute[rows] = attributes[profile, place]
        low[rows] = values[profile, place] - (rng.random(place.shape) * width[rows]).astype(np.int64)

    def _events(self, seed: int, number: int) -> tuple[Ints, Ints]:
        rng = generator(seed, "w2 events", number)
        attributes, values = self._profile(seed)
        profile = rng.integers(0, self.profiles, EVENT_BLOCK)
        fixed = np.full((EVENT_BLOCK, self.event_size), -1)
        fixed[:, : attributes.shape[1]] = attributes[profile]
        attribute = distinct(rng, self._popularity, *fixed.shape, fixed)
        value = self._values(rng, seed, attribute)
        value[:, : attributes.shape[1]] = values[profile]
        return attribute, value


W2_UNIFORM = W2()
W2_ZIPF = W2(name="w2-zipf", alpha=1.0)
