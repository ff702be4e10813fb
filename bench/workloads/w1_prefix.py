"""Generate W1 with prefixes: ``=`` on numbers, prefixes on words (OpIndex paper, section 7.7).

The paper gives 10,000 numeric and 100 string attributes, the two operators, and words of Wikipedia. It leaves
these points open; our choices:

* A predicate is a prefix of ``prefix_length`` letters on a string attribute with probability ``prefix``,
  else ``=`` on a number; sizes and numbers are those of :class:`~bench.workloads.w1.W1`.
* The words are made up, ``words`` of them, as popular as Zipf's law (``word_alpha``) says.
* Of the attributes of an event a share ``text`` are strings; drawn from all alike it would be one in a
  hundred, and nothing would ever match.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.base import EQ, LIKE, Ints, Operands, Rows, bulk_table, numbered
from bench.workloads.draw import BLOCK, EVENT_BLOCK, Floats, Mask, distinct, generator, ranks, zipf
from bench.workloads.synthetic import Matrices, Synthetic, check_bounds, gather, used_cells
from bench.workloads.words import vocabulary
from tamis.columns.rows import starts


@dataclass(frozen=True)
class W1Prefix(Synthetic):
    """The figures of the paper, and the choices above."""

    name: str = "w1-prefix"
    dimensions: int = 10_000
    strings: int = 100
    most_predicates: int = 8
    most_attributes: int = 40
    values: int = 200
    prefix: float = 0.5
    prefix_length: int = 3
    text: float = 0.2
    words: int = 50_000
    alpha: float = 0.0
    word_alpha: float = 1.0

    def __post_init__(self) -> None:
        fewest = min(self.dimensions, self.strings)
        check_bounds(
            self,
            dimensions=(1, None),
            strings=(1, None),
            most_predicates=(1, fewest),
            most_attributes=(1, fewest),
            values=(1, None),
            prefix=(0, 1),
            prefix_length=(1, None),
            text=(0, 1),
            words=(1, None),
            alpha=(0, None),
            word_alpha=(0, None),
        )

    @property
    def about(self) -> str:
        """A description in one line."""
        return f"OpIndex paper: {self.strings:,} attributes with prefixes, {self.dimensions:,} with numbers"

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return conjunctions over numbers ``a0`` … and strings ``t0`` …"""
        size, textual, attribute, value = gather(rows, BLOCK, partial(self._block, seed))
        used = used_cells(attribute, size)
        textual, value = textual[used], value[used]
        operands = {
            "number": Operands((~textual).astype(np.int64), pa.array(value[~textual])),
            "string": Operands(textual.astype(np.int64), self._prefixes.take(pa.array(value[textual]))),
        }
        owner = np.repeat(np.arange(len(size)), size)
        cells = Rows(owner, attribute[used], np.where(textual, LIKE, EQ), operands)
        return bulk_table(cells, numbered("s", rows), self._names.to_pylist())

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return events as two map columns, one of numbers and one of words."""
        size, textual, attribute, value = gather(rows, EVENT_BLOCK, partial(self._events, seed))
        used = used_cells(attribute, size)
        words = vocabulary(self.words)
        return pa.table(
            {
                "numbers": self._map(used & ~textual, attribute, pa.array(value[used & ~textual])),
                "words": self._map(used & textual, attribute, words.take(pa.array(value[used & textual]))),
            }
        )

    def _map(self, used: Mask, attribute: Ints, values: pa.Array) -> pa.MapArray:
        names = self._names.take(pa.array(attribute[used]))
        offsets = pa.array(starts(used.sum(axis=1)).astype(np.int32))
        return pa.MapArray.from_arrays(offsets, names, values)

    @cached_property
    def _names(self) -> pa.Array:
        return pa.concat_arrays([numbered("a", self.dimensions), numbered("t", self.strings)])

    @cached_property
    def _prefixes(self) -> pa.Array:
        """A pattern for every word."""
        beginning = pc.utf8_slice_codeunits(vocabulary(self.words), 0, self.prefix_length)
        return pc.binary_join_element_wise(beginning, pa.scalar("%"), "")

    @cached_property
    def _popularity(self) -> dict[str, Floats]:
        return {
            "number": zipf(self.dimensions, self.alpha),
            "string": zipf(self.strings, self.alpha),
            "value": zipf(self.values, self.alpha),
            "word": zipf(self.words, self.word_alpha),
        }

    def _block(self, seed: int, number: int) -> Matrices:
        rng = generator(seed, "w1 prefix subscriptions", number)
        return self._draw(rng, BLOCK, self.most_predicates, self.prefix)

    def _events(self, seed: int, number: int) -> Matrices:
        rng = generator(seed, "w1 prefix events", number)
        return self._draw(rng, EVENT_BLOCK, self.most_attributes, self.text)

    def _draw(self, rng: np.random.Generator, rows: int, width: int, share: float) -> Matrices:
        """Return sizes, string cells, attributes (different ones in a row), and values or ranks of words."""
        popularity, shape = self._popularity, (rows, width)
        size = rng.integers(1, width + 1, rows)
        textual = rng.random(shape) < share
        number, string = (distinct(rng, popularity[kind], *shape) for kind in ("number", "string"))
        value, word = (ranks(rng, popularity[kind], shape) for kind in ("value", "word"))
        attribute = np.where(textual, string + self.dimensions, number)
        return size, textual, attribute, np.where(textual, word, value)


W1_PREFIX = W1Prefix()
