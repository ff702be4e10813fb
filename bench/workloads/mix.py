"""Generate the mixes for the peers: small integers, few names, every kind of predicate.

Twenty names have whole values from 0 to 99, so that every peer can express them in its own language. A
subscription has ``size`` predicates on different names, each of a kind drawn with the shares below; the rest
of the shares is ``!=``. One-sided operands are uniform, ``between`` covers a share ``width`` of the values,
``in`` lists ``choices`` different ones.

An event has a value for every name: peers disagree about ``!=`` on an absent attribute, and that is no
question of speed. A share ``planted`` of the events satisfies a random subscription (of the first block). By
chance, three equalities would almost never hold, and all engines would agree on empty answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bench.workloads.base import (
    BETWEEN,
    EQ,
    GE,
    IN,
    LE,
    NE,
    Ints,
    Operands,
    Rows,
    bulk_table,
    numbered,
)
from bench.workloads.draw import BLOCK, EVENT_BLOCK, distinct, generator, zipf
from bench.workloads.synthetic import Synthetic, check_bounds, gather

_KINDS = np.array([EQ, LE, GE, BETWEEN, IN, NE])


@dataclass(frozen=True)
class Mix(Synthetic):
    """The number of predicates of a subscription, and their kinds."""

    name: str = "mix-mixed"
    attributes: int = 20
    cardinality: int = 100
    size: int = 4
    equality: float = 0.5
    one_sided: float = 0.3
    between: float = 0.1
    one_of: float = 0.07
    width: float = 0.2
    choices: int = 3
    planted: float = 0.1

    def __post_init__(self) -> None:
        check_bounds(
            self,
            attributes=(1, None),
            cardinality=(2, 32_000),
            size=(1, self.attributes),
            equality=(0, 1),
            one_sided=(0, 1),
            between=(0, 1),
            one_of=(0, 1),
            width=(0, 1),
            choices=(1, self.cardinality),
            planted=(0, 1),
        )

    @property
    def about(self) -> str:
        """A description in one line."""
        return (
            f"for peers: {self.size} predicates on {self.attributes} names, values 0–{self.cardinality - 1}"
        )

    def names(self) -> list[str]:
        """Return the attributes, in the order of the columns of an event."""
        return [f"a{at}" for at in range(self.attributes)]

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return conjunctions over ``a0``, ``a1`` …"""
        block = _Block(*gather(rows, BLOCK, lambda number: self._block(seed, number)))
        return bulk_table(block.rows(), numbered("s", rows), self.names())

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return events, a column for each attribute."""
        (values,) = gather(rows, EVENT_BLOCK, lambda number: (self._events(seed, number, book),))
        return pa.table({name: values[:, at] for at, name in enumerate(self.names())})

    def _block(self, seed: int, number: int) -> _Block:
        rng = generator(seed, "mix subscriptions", number)
        shape = (BLOCK, self.size)
        attribute = distinct(rng, zipf(self.attributes, 0.0), *shape)
        half = self.one_sided / 2
        edges = np.cumsum([self.equality, half, half, self.between, self.one_of])
        kind = _KINDS[np.searchsorted(edges - 1e-12, rng.random(shape), side="right")]
        operand = rng.integers(0, self.cardinality, (*shape, self.choices))
        _make_different(operand, self.cardinality)
        wide = max(1, round(self.width * self.cardinality))
        low = rng.integers(0, self.cardinality - wide + 1, shape)
        return _Block(attribute, kind, operand, low, low + wide - 1)

    def _events(self, seed: int, number: int, book: int) -> Ints:
        rng = generator(seed, "mix events", number)
        values = rng.integers(0, self.cardinality, (EVENT_BLOCK, self.attributes))
        rows = np.flatnonzero(rng.random(EVENT_BLOCK) < self.planted)
        block = self._block(seed, 0).head(book)
        chosen = rng.integers(0, len(block.kind), len(rows))
        wanted = block.satisfying(rng, self.cardinality)[chosen]
        values[rows[:, None], block.attribute[chosen]] = wanted
        return values


class _Block(NamedTuple):
    """Subscriptions as matrices, one row each."""

    attribute: Ints
    kind: Ints
    operand: Ints
    low: Ints
    high: Ints

    def rows(self) -> Rows:
        """Return the rows of the bulk path, in order."""
        kind = self.kind.ravel()
        choices = self.operand.shape[-1]
        cells = np.zeros((len(kind), max(2, choices)), np.int64)
        cells[:, :choices] = self.operand.reshape(len(kind), choices)
        ranged = kind == BETWEEN
        cells[ranged, 0], cells[ranged, 1] = self.low.ravel()[ranged], self.high.ravel()[ranged]
        count = np.select([ranged, kind == IN], [2, choices], 1)
        numbers = cells[np.arange(cells.shape[1]) < count[:, None]]
        subscription = np.repeat(np.arange(len(self.kind)), self.kind.shape[1])
        return Rows(
            subscription, self.attribute.ravel(), kind, {"number": Operands(count, pa.array(numbers))}
        )

    def head(self, count: int) -> _Block:
        """Return the first ``count`` subscriptions."""
        return _Block(*(part[:count] for part in self))

    def satisfying(self, rng: np.random.Generator, cardinality: int) -> Ints:
        """Return a value that satisfies each predicate."""
        first = self.operand[..., 0]
        at = rng.random(first.shape)
        low = np.select(
            [self.kind == LE, self.kind == BETWEEN, self.kind == NE], [0, self.low, first + 1], first
        )
        high = np.select(
            [self.kind == GE, self.kind == BETWEEN, self.kind == NE],
            [cardinality - 1, self.high, first + cardinality - 1],
            first,
        )
        value: Ints = (low + (at * (high - low + 1)).astype(np.int64)) % cardinality
        return value


def _make_different(operand: Ints, cardinality: int) -> None:
    """Replace a value that already stands in the same list by the next free one."""
    for at in range(1, operand.shape[-1]):
        before, own = operand[..., :at], operand[..., at]
        while (taken := (before == own[..., None]).any(axis=-1)).any():
            own[taken] = (own[taken] + 1) % cardinality


MIX_EQUAL = Mix(name="mix-equal", size=3, equality=1.0, one_sided=0.0, between=0.0, one_of=0.0)
MIX_MIXED = Mix()
MIX_RANGES = Mix(name="mix-ranges", size=5, equality=0.0, one_sided=0.0, between=1.0, one_of=0.0)
MIXES = {"equal": MIX_EQUAL, "mixed": MIX_MIXED, "ranges": MIX_RANGES}
