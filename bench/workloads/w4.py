"""Generate W4, the workload of the PS-Tree paper, dense (100 attributes) and sparse (30,000).

The paper's parameters are the fields of :class:`W4`. It leaves other points open; our choices:

* A subscription has ``size - spread`` to ``size + spread`` predicates, uniformly, on different
  attributes, drawn from P(r) = C / r^alpha.
* A predicate is an equality with probability ``equality`` (operand uniform in the domain). Of the
  others a share ``one_sided`` is ``<=`` or ``>=`` with a uniform operand (half of the domain on
  average), the rest is ``between`` over a uniform number of values from ``narrowest`` to ``widest`` of
  the domain, placed uniformly. By chance a dense event then matches some tens of 1,000,000
  subscriptions.
* An event has ``event_size`` different attributes with uniform values.
* By chance a sparse event matches nothing, so a share ``planted`` of the events is made to satisfy
  one random subscription (of the first block). Otherwise all engines would agree on empty answers.
* ``match_probability``, if given, is reached by construction (:mod:`bench.workloads.profiles`). The share
  that chance gives is measured on some thousands of subscriptions, and the missing share is built. With few
  values and popular attributes, chance may give more than is wanted; then nothing is built.

| paper | here |
|---|---|
| α in Zipf | ``alpha`` |
| dimension number | ``dimensions`` |
| dimension cardinality | ``cardinality`` |
| average subscription size | ``size`` |
| average event size | ``event_size`` |
| matching probability | ``match_probability`` |
| equality operator ratio | ``equality`` |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa

from bench.workloads.base import BETWEEN, EQ, GE, LE, Ints, bulk_table, dense_rows, numbered
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, distinct, generator, zipf
from bench.workloads.profiles import Profiles, profile_count, profile_width
from bench.workloads.synthetic import Synthetic, check_bounds, gather
from bench.workloads.w4_block import Block

_PROFILES = 16
_TRIED, _TRIED_EVENTS = 4_096, 64  # subscriptions and events that measure the share of chance matches


@dataclass(frozen=True)
class W4(Synthetic):
    """The parameters of table 1 of the paper (defaults in bold there), and the choices above."""

    name: str = "w4-dense"
    dimensions: int = 100
    cardinality: int = 100
    size: int = 5
    spread: int = 2
    event_size: int = 30
    equality: float = 0.2
    alpha: float = 0.0
    one_sided: float = 0.25
    narrowest: float = 0.01
    widest: float = 0.30
    planted: float = 0.0
    match_probability: float | None = None

    def __post_init__(self) -> None:
        check_bounds(
            self,
            dimensions=(1, None),
            cardinality=(1, None),
            size=(1, self.dimensions),
            spread=(0, None),
            event_size=(1, self.dimensions),
            equality=(0, 1),
            alpha=(0, None),
            one_sided=(0, 1),
            narrowest=(0, self.widest),
            widest=(0, 1),
            planted=(0, 1),
            match_probability=(0, 1),
        )

    @property
    def about(self) -> str:
        """A description in one line."""
        return f"PS-Tree paper: {self.dimensions:,} attributes, events of {self.event_size}"

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return conjunctions over ``a0``, ``a1`` …"""
        block = Block(*gather(rows, BLOCK, lambda number: self._block(seed, number)))
        return bulk_table(block.rows(), numbered("s", rows), [f"a{at}" for at in range(self.dimensions)])

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return events as one map column, name to integer."""
        attribute, value = gather(rows, EVENT_BLOCK, lambda number: self._events(seed, number, book))
        return dense_rows(attribute, value, self.dimensions)

    @cached_property
    def _popularity(self) -> Floats:
        return zipf(self.dimensions, self.alpha)

    # ------------------------------------------------------------------------------- subscriptions
    def _block(self, seed: int, number: int) -> Block:
        rng = generator(seed, "w4 subscriptions", number)
        block = self._random(rng, BLOCK)
        if self.match_probability:
            self._follow_profiles(rng, seed, block)
        return block

    def _random(self, rng: np.random.Generator, count: int) -> Block:
        widest = min(self.size + self.spread, self.dimensions)
        size = rng.integers(max(1, self.size - self.spread), widest + 1, count)
        shape = (count, widest)
        attribute = distinct(rng, self._popularity, *shape)
        operator = self._operators(rng, shape)
        operand = rng.integers(0, self.cardinality, shape)
        values = rng.integers(self._width(self.narrowest), self._width(self.widest) + 1, shape)
        low = (rng.random(shape) * (self.cardinality - values + 1)).astype(np.int64)
        return Block(size, attribute, operator, operand, low, values)

    def _width(self, share: float) -> int:
        return min(self.cardinality, max(1, round(share * self.cardinality)))

    def _operators(self, rng: np.random.Generator, shape: tuple[int, int]) -> Ints:
        at = rng.random(shape)
        one_sided = (1.0 - self.equality) * self.one_sided
        edges = np.cumsum([self.equality, one_sided / 2, one_sided / 2])
        return np.array([EQ, LE, GE, BETWEEN])[np.searchsorted(edges, at, side="right")]

    # ------------------------------------------------------------------------------------ profiles
    def _profiles(self, seed: int) -> Profiles:
        assert self.match_probability
        rng = generator(seed, "w4 profiles")
        width = profile_width(self.size + self.spread, self.event_size)
        count = profile_count(_PROFILES, self.match_probability)
        attributes = distinct(rng, self._popularity, count, width)
        return Profiles(attributes, rng.integers(0, self.cardinality, attributes.shape))

    def _follow_profiles(self, rng: np.random.Generator, seed: int, block: Block) -> None:
        """Make a share of the block true for each profile, without changing operators or widths."""
        profiles = self._profiles(seed)
        share = _share_to_build(self, seed)
        rows, attributes, values = profiles.followers(rng, BLOCK, block.attribute.shape[1], share)
        known = attributes.shape[1]
        block.size[rows] = np.minimum(block.size[rows], known)
        block.attribute[rows, :known] = attributes
        block.cover(rng, rows, values, self.cardinality)

    def chance(self, seed: int) -> float:
        """Return the share of the book that an event matches by chance, measured on some thousands."""
        rng = generator(seed, "w4 chance")
        value = rng.integers(0, self.cardinality, (_TRIED_EVENTS, self.event_size))
        fixed = self._profiles(seed).lead(rng, value)
        attribute = distinct(rng, self._popularity, _TRIED_EVENTS, self.event_size, fixed)
        return self._random(rng, _TRIED).share_true(attribute, value, self.dimensions, self.cardinality)

    # -------------------------------------------------------------------------------------- events
    def _events(self, seed: int, number: int, book: int) -> tuple[Ints, Ints]:
        rng = generator(seed, "w4 events", number)
        shape = (EVENT_BLOCK, self.event_size)
        value = rng.integers(0, self.cardinality, shape)
        fixed = np.full(shape, -1)
        if self.match_probability:
            fixed = self._profiles(seed).lead(rng, value)
        elif self.planted:
            first = Block(*(matrix[:book] for matrix in self._block(seed, 0)))
            self._plant(rng, first, fixed, value)
        return distinct(rng, self._popularity, *shape, fixed), value

    def _plant(self, rng: np.random.Generator, block: Block, fixed: Ints, value: Ints) -> None:
        """Let some events satisfy a subscription of ``block``."""
        width = min(block.attribute.shape[1], self.event_size)
        rows = np.flatnonzero(rng.random(len(fixed)) < self.planted)
        chosen = rng.integers(0, len(block.size), len(rows))
        low, high = block.satisfying(self.cardinality)
        asked = np.arange(width) < block.size[chosen, None]
        inside = (low + (rng.random(low.shape) * (high - low + 1)).astype(np.int64))[chosen, :width]
        fixed[rows, :width] = np.where(asked, block.attribute[chosen, :width], -1)
        value[rows, :width] = np.where(asked, inside, value[rows, :width])


@lru_cache(maxsize=16)
def _share_to_build(workload: W4, seed: int) -> float:
    """Return the share of the book to build around each profile: the wanted share less that of chance."""
    assert workload.match_probability
    chance = workload.chance(seed)
    return max(0.0, (workload.match_probability - chance) / (1.0 - chance)) if chance < 1.0 else 0.0


W4_DENSE = W4()
W4_SPARSE = W4(name="w4-sparse", dimensions=30_000, planted=0.1)
