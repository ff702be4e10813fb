"""W4: the synthetic workload of the PS-Tree paper, dense (100 attributes) and sparse (30,000).

What the paper fixes is a field of :class:`W4`; what it leaves open is settled like this.

* A subscription has ``size - spread`` to ``size + spread`` predicates, uniformly, on different
  attributes, drawn from P(r) = C / r^alpha.
* A predicate is an equality with probability ``equality`` (operand uniform in the domain). Of the
  others a share ``one_sided`` is ``<=`` or ``>=`` with a uniform operand (half of the domain on
  average), the rest is ``between`` over a uniform number of values from ``narrowest`` to ``widest`` of
  the domain, placed uniformly. By chance a dense event then matches some tens of 1,000,000
  subscriptions.
* An event has ``event_size`` different attributes with uniform values.
* By chance a sparse event matches nothing, so that a share ``planted`` of the events is made to
  satisfy one random subscription (of the first block); otherwise engines could agree on nothing.
* ``match_probability``, if given, is reached by construction: there are some profiles, each with fixed
  values for half of an event; every event follows a profile, and each profile satisfies that share of
  the book. The rest of the event and of the book is random, so the measured share lies slightly above.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from bench.workloads.base import (
    BETWEEN,
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
)
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, blocks, distinct, generator, zipf

_PROFILES = 16


@dataclass(frozen=True)
class W4:
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

    @property
    def about(self) -> str:
        """One line for people."""
        return f"PS-Tree paper: {self.dimensions:,} attributes, events of {self.event_size}"

    def parameters(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)

    def subscriptions(self, count: int, seed: int) -> pa.Table:
        """``count`` conjunctions over ``a0``, ``a1`` …"""
        parts = [self._block(seed, number).head(used) for number, used in blocks(count, BLOCK)]
        return bulk_table(_rows(parts), numbered("s", count), [f"a{at}" for at in range(self.dimensions)])

    def texts(self, count: int, seed: int) -> pa.Table:
        """None: the columns can say everything."""
        return no_texts()

    def events(self, count: int, seed: int, book: int = 1_000_000) -> pa.Table:
        """``count`` events as one map column, name to integer."""
        parts = [self._events(seed, number, book) for number, _ in blocks(count, EVENT_BLOCK)]
        attribute = np.concatenate([part[0] for part in parts])[:count]
        value = np.concatenate([part[1] for part in parts])[:count]
        offsets = np.arange(count + 1) * self.event_size
        names = numbered("a", self.dimensions)
        return sparse_events(offsets, names, attribute.ravel(), pa.array(value.ravel()))

    @cached_property
    def _popularity(self) -> Floats:
        return zipf(self.dimensions, self.alpha)

    # ------------------------------------------------------------------------------- subscriptions
    def _block(self, seed: int, number: int) -> _Block:
        rng = generator(seed, "w4 subscriptions", number)
        widest = min(self.size + self.spread, self.dimensions)
        size = rng.integers(max(1, self.size - self.spread), widest + 1, BLOCK)
        shape = (BLOCK, widest)
        attribute = distinct(rng, self._popularity, BLOCK, widest)
        operator = self._operators(rng, shape)
        operand = rng.integers(0, self.cardinality, shape)
        values = rng.integers(self._width(self.narrowest), self._width(self.widest) + 1, shape)
        low = (rng.random(shape) * (self.cardinality - values + 1)).astype(np.int64)
        block = _Block(size, attribute, operator, operand, low, values)
        if self.match_probability:
            self._follow_profiles(rng, seed, block)
        return block

    def _width(self, share: float) -> int:
        return min(self.cardinality, max(1, round(share * self.cardinality)))

    def _operators(self, rng: np.random.Generator, shape: tuple[int, int]) -> Ints:
        at = rng.random(shape)
        one_sided = (1.0 - self.equality) * self.one_sided
        edges = np.cumsum([self.equality, one_sided / 2, one_sided / 2])
        return np.array([EQ, LE, GE, BETWEEN])[np.searchsorted(edges, at, side="right")]

    # ------------------------------------------------------------------------------------ profiles
    @property
    def _profiles(self) -> int:
        return min(_PROFILES, int(1.0 / self.match_probability)) if self.match_probability else 0

    def _profile(self, seed: int) -> tuple[Ints, Ints]:
        """Attributes of each profile, and their values."""
        rng = generator(seed, "w4 profiles")
        width = min(self.event_size, max(self.size + self.spread, self.event_size // 2))
        attributes = distinct(rng, self._popularity, self._profiles, width)
        return attributes, rng.integers(0, self.cardinality, attributes.shape)

    def _follow_profiles(self, rng: np.random.Generator, seed: int, block: _Block) -> None:
        """Make a share of the block true for each profile, without changing operators or widths."""
        assert self.match_probability
        attributes, values = self._profile(seed)
        profile = rng.integers(0, len(attributes), BLOCK)
        chosen = rng.random(BLOCK) < self.match_probability * len(attributes)
        rows, profile = np.flatnonzero(chosen), profile[chosen]
        columns = min(block.attribute.shape[1], attributes.shape[1])
        block.size[rows] = np.minimum(block.size[rows], columns)
        place = rng.permuted(np.tile(np.arange(attributes.shape[1]), (len(rows), 1)), axis=1)[:, :columns]
        block.attribute[rows, :columns] = attributes[profile[:, None], place]
        value = values[profile[:, None], place]
        block.cover(rng, rows, value, self.cardinality)

    # -------------------------------------------------------------------------------------- events
    def _events(self, seed: int, number: int, book: int) -> tuple[Ints, Ints]:
        rng = generator(seed, "w4 events", number)
        shape = (EVENT_BLOCK, self.event_size)
        value = rng.integers(0, self.cardinality, shape)
        fixed = np.full(shape, -1)
        if self.match_probability:
            attributes, values = self._profile(seed)
            profile = rng.integers(0, len(attributes), EVENT_BLOCK)
            fixed[:, : attributes.shape[1]] = attributes[profile]
            value[:, : attributes.shape[1]] = values[profile]
        elif self.planted:
            self._plant(rng, self._block(seed, 0).head(book), fixed, value)
        return distinct(rng, self._popularity, *shape, fixed), value

    def _plant(self, rng: np.random.Generator, block: _Block, fixed: Ints, value: Ints) -> None:
        """Let some events satisfy a subscription of ``block``."""
        width = min(block.attribute.shape[1], self.event_size)
        rows = np.flatnonzero(rng.random(len(fixed)) < self.planted)
        chosen = rng.integers(0, len(block.size), len(rows))
        low, high = block.satisfying(self.cardinality)
        asked = np.arange(width) < block.size[chosen, None]
        inside = (low + (rng.random(low.shape) * (high - low + 1)).astype(np.int64))[chosen, :width]
        fixed[rows, :width] = np.where(asked, block.attribute[chosen, :width], -1)
        value[rows, :width] = np.where(asked, inside, value[rows, :width])


@dataclass(frozen=True)
class _Block:
    """Subscriptions as matrices, one row each; only the first ``size`` columns of a row count."""

    size: Ints
    attribute: Ints
    operator: Ints
    operand: Ints
    low: Ints
    width: Ints

    def head(self, count: int) -> _Block:
        """The first ``count`` subscriptions."""
        return _Block(*(getattr(self, name)[:count] for name in _FIELDS))

    def satisfying(self, cardinality: int) -> tuple[Ints, Ints]:
        """Least and greatest value that satisfies each predicate."""
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


_FIELDS = tuple(field.name for field in fields(_Block))


def _rows(parts: list[_Block]) -> Rows:
    """The used cells of the blocks, in order."""
    all_ = _Block(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))
    used = np.arange(all_.attribute.shape[1]) < all_.size[:, None]
    operator = all_.operator[used]
    ranged = operator == BETWEEN
    first = np.where(ranged, all_.low[used], all_.operand[used])
    count = np.where(ranged, 2, 1)
    numbers = np.repeat(first, count)
    ends = np.cumsum(count)[ranged] - 1
    numbers[ends] += all_.width[used][ranged] - 1
    subscription = np.repeat(np.arange(len(all_.size)), all_.size)
    return Rows(subscription, all_.attribute[used], operator, {"number": Operands(count, pa.array(numbers))})


W4_DENSE = W4()
W4_SPARSE = W4(name="w4-sparse", dimensions=30_000, planted=0.1)
