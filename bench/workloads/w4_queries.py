"""Generate queries: the shape of the keyword queries of the PS-Tree paper (sections 7.1 and 7.3).

The paper turns every keyword into an equality: its first letters are the attribute, the others the value. It
gives 2,100,000 subscriptions of 2.78 predicates on average over 17,577 attributes (26^3 beginnings and one),
and events (documents) of 93.07 pairs. It does not give the words; our choices:

* A query has 1 to ``most`` keywords, binomially, ``size`` on average; a document ``event_size`` words on
  average, by Poisson's law. The attributes of a query and of a document are different ones.
* Beginnings are as popular as Zipf's law (``alpha``) says, and so are the ``endings`` of each
  (``value_alpha``), with queries and documents alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.base import EQ, Operands, Rows, bulk_table, numbered, sparse_events
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, distinct, generator, ranks, zipf
from bench.workloads.synthetic import Matrices, Synthetic, check_bounds, gather, used_cells
from bench.workloads.words import vocabulary
from tamis.columns.rows import starts

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Queries(Synthetic):
    """The figures of the paper, and the choices above."""

    name: str = "w4-queries"
    dimensions: int = 17_577
    size: float = 2.78
    most: int = 5
    event_size: float = 93.07
    endings: int = 40
    alpha: float = 0.7
    value_alpha: float = 0.7

    def __post_init__(self) -> None:
        check_bounds(
            self,
            dimensions=(1, None),
            most=(1, self.dimensions),
            size=(1, self.most),
            event_size=(1, self.dimensions),
            endings=(1, None),
            alpha=(0, None),
            value_alpha=(0, None),
        )

    @property
    def about(self) -> str:
        """A description in one line."""
        return (
            f"PS-Tree paper: keyword queries, {self.dimensions:,} attributes, events of {self.event_size:g}"
        )

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return conjunctions such as ``boo = 'lean'``."""
        size, attribute, ending = gather(rows, BLOCK, partial(self._block, seed))
        used = used_cells(attribute, size)
        values = vocabulary(self.endings).take(pa.array(ending[used]))
        operands = Operands(np.ones(len(values), np.int64), values)
        owner = np.repeat(np.arange(len(size)), size)
        cells = Rows(owner, attribute[used], np.full(len(values), EQ), {"string": operands})
        return bulk_table(cells, numbered("q", rows), self._names.to_pylist())

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return documents as one map column, name to string; they do not depend on the book."""
        parts = gather(rows, EVENT_BLOCK, partial(self._events, seed))
        size, attribute, ending = parts
        used = used_cells(attribute, size)
        values = vocabulary(self.endings).take(pa.array(ending[used]))
        return sparse_events(starts(size), self._names, attribute[used], values)

    @cached_property
    def _names(self) -> pa.Array:
        """The names ``aaa``, ``baa`` …; there are 26^3 of them."""
        letters = pa.array(list(_LETTERS))
        number = np.arange(min(26**3, self.dimensions))
        digits = [letters.take(pa.array(number // 26**at % 26)) for at in range(3)]
        three = pc.binary_join_element_wise(*digits, "")
        return pa.concat_arrays([three, numbered("other", self.dimensions - len(three))])

    @cached_property
    def _popularity(self) -> Floats:
        return zipf(self.dimensions, self.alpha)

    @cached_property
    def _endings(self) -> Floats:
        return zipf(self.endings, self.value_alpha)

    def _block(self, seed: int, number: int) -> Matrices:
        """Return sizes, attributes and values of a block of queries."""
        rng = generator(seed, "w4 queries", number)
        more = (self.size - 1) / max(1, self.most - 1)
        size = 1 + rng.binomial(self.most - 1, more, BLOCK)
        shape = (BLOCK, self.most)
        return size, distinct(rng, self._popularity, *shape), ranks(rng, self._endings, shape)

    def _events(self, seed: int, number: int) -> Matrices:
        """Return sizes, attributes and values of a block of documents."""
        rng = generator(seed, "w4 documents", number)
        widest = min(self.dimensions, int(self.event_size + 8 * self.event_size**0.5) + 1)
        size = np.clip(rng.poisson(self.event_size, EVENT_BLOCK), 1, widest)
        shape = (EVENT_BLOCK, widest)
        return size, distinct(rng, self._popularity, *shape), ranks(rng, self._endings, shape)


QUERIES = Queries()
