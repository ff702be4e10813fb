"""Counts and bounded sketches of one attribute, updated while a log is read."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from datasketches import frequent_strings_sketch, hll_sketch, hll_union, kll_doubles_sketch, tgt_hll_type

from tamis.spark.profiling.leaves import FAMILIES, Leaf
from tamis.values.value import format_time, moment_of

Ints = npt.NDArray[np.int64]
HLL_BITS = 11  # distinct counts within 2.3 %, in a kilobyte
KLL_SIZE = 200  # ranks within 1.3 %
LONGEST = 256  # characters of a value that may be listed as frequent; longer ones are texts
RARE = 4_096  # a value rarer than one in this many of a batch's values is not counted individually


class Partial(msgspec.Struct):
    """The sketches of one attribute as bytes, for transfer between workers."""

    events: int
    multi: int
    values: list[int]
    distinct: bytes
    numbers: bytes
    times: bytes
    frequent: bytes


class AttributeSketch:
    """The counts, distinct and frequent values, and distributions of one attribute."""

    def __init__(self, most_values: int) -> None:
        self.events = 0
        self.multi = 0
        self.values = [0] * len(FAMILIES)
        self.distinct = hll_union(HLL_BITS)
        self.spread = {"number": kll_doubles_sketch(KLL_SIZE), "time": kll_doubles_sketch(KLL_SIZE)}
        self.frequent = frequent_strings_sketch(map_bits(most_values))

    def add(self, leaves: list[Leaf]) -> None:
        """Add the leaves of the attribute in one batch."""
        owner = leaves[0].owner if len(leaves) == 1 else np.concatenate([leaf.owner for leaf in leaves])
        count = np.unique(owner, return_counts=True)[1]
        self.events += len(count)
        self.multi += int(np.count_nonzero(count > 1))
        for leaf in leaves:
            self.values[FAMILIES.index(leaf.family)] += len(leaf.owner)
            if leaf.values is not None:
                self._values(leaf)

    def _values(self, leaf: Leaf) -> None:
        if leaf.family in self.spread:
            self.spread[leaf.family].update(leaf.values.astype(np.float64))
        values, counts = _counted(leaf)
        seen = hll_sketch(HLL_BITS, tgt_hll_type.HLL_4)
        for value in values:
            seen.update(value)
        self.distinct.update(seen)
        often = np.flatnonzero(counts * RARE >= len(leaf.owner))
        for at in often.tolist():
            shown = _shown(leaf.family, values[at])
            if len(shown) <= LONGEST:
                self.frequent.update(shown, int(counts[at]))

    def freeze(self) -> bytes:
        """Return the sketches as bytes."""
        return msgspec.msgpack.encode(
            Partial(
                self.events,
                self.multi,
                self.values,
                self.distinct.get_result(tgt_hll_type.HLL_4).serialize_compact(),
                self.spread["number"].serialize(),
                self.spread["time"].serialize(),
                self.frequent.serialize(),
            )
        )

    def merge(self, frozen: bytes) -> None:
        """Merge the frozen sketches of another worker."""
        other = msgspec.msgpack.decode(frozen, type=Partial)
        self.events += other.events
        self.multi += other.multi
        self.values = [mine + theirs for mine, theirs in zip(self.values, other.values, strict=True)]
        self.distinct.update(hll_sketch.deserialize(other.distinct))
        self.spread["number"].merge(kll_doubles_sketch.deserialize(other.numbers))
        self.spread["time"].merge(kll_doubles_sketch.deserialize(other.times))
        self.frequent.merge(frequent_strings_sketch.deserialize(other.frequent))


def map_bits(most: int) -> int:
    """Return the size of a map that keeps ``most`` frequent items when it is three quarters full."""
    return max(3, math.ceil(math.log2(most / 0.75)))


def _counted(leaf: Leaf) -> tuple[list[Any], Ints]:
    """Return the distinct values of a leaf and how often each occurs."""
    if isinstance(leaf.values, pa.Array):
        table = pc.value_counts(leaf.values)
        return table.field(0).to_pylist(), table.field(1).to_numpy(zero_copy_only=False)
    values, counts = np.unique(leaf.values, return_counts=True)
    return values.tolist(), counts


def _shown(family: str, value: Any) -> str:
    """Return a value with its family in front, as the map of frequent items stores it."""
    if family == "time":
        value = format_time(moment_of(value))
    elif family == "boolean":
        value = "TRUE" if value else "FALSE"
    elif family == "number":
        value = str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)
    return f"{family}:{value}"
