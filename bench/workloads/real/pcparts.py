"""Read real computer parts, and draw searches for them at random.

The catalogue has no searches. A search has a part in mind: it names its category and ``least`` to ``most`` of
its other properties, a word or a flag exactly, a number within ``margin``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bench.workloads.base import BETWEEN, EQ, Ints, Operands, Rows, bulk_table, numbered
from bench.workloads.draw import BLOCK, Floats, blocks, generator
from bench.workloads.real.source import Real
from bench.workloads.synthetic import check_bounds
from tamis.columns.rows import starts

_NUMBER, _STRING, _BOOLEAN = range(3)


class _Pairs(NamedTuple):
    """The pairs of each part, without lists: their begin, and attribute, type and value of each."""

    start: Ints
    attribute: Ints
    kind: Ints
    value: Floats  # for a string: its number


@dataclass(frozen=True)
class RealParts(Real):
    """Searches drawn at random against a real catalogue."""

    name: str = "real-pcparts"
    least: int = 1
    most: int = 3
    margin: float = 0.2

    def __post_init__(self) -> None:
        check_bounds(self, least=(0, None), most=(self.least, None), margin=(0, 1))

    @property
    def about(self) -> str:
        """A description in one line."""
        return "real: a catalogue of computer parts (docyx/pc-part-dataset, MIT); the searches are drawn"

    @property
    def known(self) -> int | None:
        """Unlimited: searches are drawn at random."""
        return None

    def read_events(self) -> Iterator[dict[str, Any]]:
        """Yield all parts."""
        for line in self.lines("catalogue_pcparts/items.jsonl.gz"):
            yield {name: value for name, value in line.items() if name != "id"}

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return conjunctions over the attributes of the catalogue."""
        pairs, names, strings = self._catalogue
        parts = [self._block(seed, number, part) for number, part in blocks(rows, BLOCK)]
        count = np.concatenate([size for size, _ in parts])
        chosen = np.concatenate([cells for _, cells in parts])
        kind, value = pairs.kind[chosen], pairs.value[chosen]
        number, string, boolean = (kind == at for at in (_NUMBER, _STRING, _BOOLEAN))
        reach = np.abs(value[number]) * self.margin
        bounds = np.stack([value[number] - reach, value[number] + reach], axis=1).ravel()
        operands = {
            "number": Operands(2 * number, pa.array(bounds)),
            "string": Operands(
                1 * string, pa.array(strings, pa.string()).take(pa.array(value[string].astype(np.int64)))
            ),
            "boolean": Operands(1 * boolean, pa.array(value[boolean] > 0)),
        }
        owner = np.repeat(np.arange(len(count)), count)
        cells = Rows(owner, pairs.attribute[chosen], np.where(number, BETWEEN, EQ), operands)
        return bulk_table(cells, numbered("s", rows), names)

    def _block(self, seed: int, number: int, part: slice) -> tuple[Ints, Ints]:
        """Return the number of predicates of each search, and their pairs: the category, then others."""
        rng = generator(seed, "pcparts", number)
        pairs = self._catalogue[0]
        item = rng.integers(0, len(pairs.start) - 1, BLOCK)
        known = (pairs.start[item + 1] - pairs.start[item]).astype(np.int64)
        owner = np.repeat(np.arange(BLOCK), known)
        first = starts(known)
        place = np.arange(len(owner)) - first[owner]
        luck = np.where(place == 0, -1.0, rng.random(len(owner)))
        order = np.lexsort((luck, owner))
        wanted = np.minimum(1 + rng.integers(self.least, self.most + 1, BLOCK), known)
        kept = order[place < wanted[owner]]
        cells = pairs.start[item][owner[kept]] + place[kept]
        last = starts(wanted)
        return wanted[part], cells[last[part.start] : last[part.stop]]

    @cached_property
    def _catalogue(self) -> tuple[_Pairs, list[str], list[str]]:
        """The pairs of all parts, category first; the attributes; the strings."""
        names: dict[str, int] = {}
        strings: dict[str, int] = {}
        count, rows = [], []
        for part in self._events:
            kept = [(name, value) for name, value in part.items() if not isinstance(value, list)]
            kept = sorted(kept, key=lambda pair: pair[0] != "category")
            count.append(len(kept))
            rows += [(names.setdefault(name, len(names)), *_coded(value, strings)) for name, value in kept]
        attribute, kind, value = zip(*rows, strict=True)
        pairs = _Pairs(
            starts(np.array(count)), np.array(attribute), np.array(kind), np.array(value, np.float64)
        )
        return pairs, list(names), list(strings)


def _coded(value: Any, strings: dict[str, int]) -> tuple[int, float]:
    if isinstance(value, str):
        return _STRING, strings.setdefault(value, len(strings))
    return (_BOOLEAN if isinstance(value, bool) else _NUMBER), float(value)
