"""Collects the partial profile of each worker in one pass over a log, and merges partial profiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from datasketches import frequent_strings_sketch

from tamis.limits import Limits
from tamis.spark.profiling.leaves import Leaf, leaves_of
from tamis.spark.profiling.sketch import AttributeSketch
from tamis.spark.profiling.terms import Buckets, add_terms
from tamis.spark.rows import readable_events
from tamis.spark.schema import ATTRIBUTES, DATA, DRAW, KIND, NAME, PARTIAL, SAMPLED
from tamis.values.analysis import DEFAULT, analyser_of, clean_analysers

_ROW = (KIND, NAME, DRAW, DATA, ATTRIBUTES)
_CHUNK = 10_000


class Settings(NamedTuple):
    """The parameters of a profile; ``declared`` has the names or settings of analysers by attribute."""

    sample: int
    least_pair: float
    limits: Limits
    declared: dict[str, Any]


class Total(msgspec.Struct):
    """The numbers of events read, of refused events, and of attributes dropped to stay within the limit."""

    events: int = 0
    refused: int = 0
    dropped: int = 0


def collect(batches: Iterator[pa.RecordBatch], settings: Settings) -> Iterator[pa.RecordBatch]:
    """Yield the partial profile of a partition: rows of (kind, name, data) and the sampled events."""
    collector = Collector(settings)
    kind: Any = pa.null()
    for batch in batches:
        kind = batch.schema.field(ATTRIBUTES).type
        collector.add(batch)
    yield from _described(collector.freeze(), kind)
    yield from collector.sample.batches()


def _described(rows: Iterator[tuple[str, str, bytes]], kind: Any) -> Iterator[pa.RecordBatch]:
    columns = list(zip(*rows, strict=True))
    if not pa.types.is_null(kind):
        count = len(columns[0])
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(columns[0], pa.string()),
                pa.array(columns[1], pa.string()),
                pa.nulls(count, pa.int64()),
                pa.array(columns[2], pa.binary()),
                pa.nulls(count, kind),
            ],
            list(_ROW),
        )


class Collector:
    """The partial profile of one worker."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._analysers = clean_analysers(settings.declared)
        self._sketches: dict[str, AttributeSketch] = {}
        self._terms = Buckets(settings.limits.profile_terms)
        self._pairs = Buckets(settings.limits.profile_pairs)
        self._total = Total()
        self.sample = Sample(settings.sample)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the events of a canonical batch that also has ``draw``."""
        limits = self._settings.limits
        good = readable_events(batch, limits)
        leaves, unread = leaves_of(good.events, limits)
        refused = good.bad.keys() | {int(good.rows[at]) for at in unread}
        self._total.events += batch.num_rows
        self._total.refused += len(refused)
        for name, some in _by_name(leaves).items():
            self._sketch(name).add(some)
            analyser = analyser_of(self._analysers.get(name, DEFAULT))
            least = self._settings.least_pair
            add_terms(some, batch.num_rows, least, analyser, self._terms, self._pairs)
        self.sample.add(batch, refused)

    def _sketch(self, name: str) -> AttributeSketch:
        """Return the sketch of an attribute; for a new one, the rarest attributes may be dropped."""
        held = self._sketches.get(name)
        if held is None:
            limits = self._settings.limits
            if len(self._sketches) >= 2 * limits.profile_attributes:
                self._drop(limits.profile_attributes)
            held = self._sketches[name] = AttributeSketch(limits.profile_values)
        return held

    def _drop(self, kept: int) -> None:
        ranked = sorted(self._sketches, key=lambda name: self._sketches[name].events, reverse=True)
        self._total.dropped += len(ranked) - kept
        self._sketches = {name: self._sketches[name] for name in ranked[:kept]}

    def freeze(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield all counts as (kind, name, data)."""
        yield "total", "", msgspec.msgpack.encode(self._total)
        yield from (("attribute", name, sketch.freeze()) for name, sketch in self._sketches.items())
        yield from (("terms", bucket, data) for bucket, data in self._terms.freeze())
        yield from (("pairs", bucket, data) for bucket, data in self._pairs.freeze())


def _by_name(leaves: list[Leaf]) -> dict[str, list[Leaf]]:
    found: dict[str, list[Leaf]] = {}
    for leaf in leaves:
        found.setdefault(leaf.name, []).append(leaf)
    return found


class Sample:
    """The events with the lowest draws, which are a uniform sample of the good ones."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._highest: int | None = None  # no higher draw can be among the lowest any more
        self._held: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, batch: pa.RecordBatch, refused: set[int]) -> None:
        """Offer the events of a batch."""
        draw = batch.column(batch.schema.get_field_index(DRAW)).to_numpy(zero_copy_only=False)
        good = np.ones(batch.num_rows, np.bool_)
        good[list(refused)] = False
        if self._highest is not None:
            good &= draw < self._highest
        self._held.append(batch.select([DRAW, ATTRIBUTES]).filter(pa.array(good)))
        self._rows += self._held[-1].num_rows
        if self._rows > 2 * self._size:
            self._thin()

    def _thin(self) -> None:
        table = pa.Table.from_batches(self._held).combine_chunks()
        draw = table.column(DRAW).to_numpy()
        lowest = np.argpartition(draw, self._size)[: self._size]
        self._held = table.take(pa.array(lowest)).combine_chunks().to_batches()
        self._rows, self._highest = self._size, int(draw[lowest].max())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the sample as rows of a partial profile."""
        if self._rows > self._size:
            self._thin()
        for held in self._held:
            for at in range(0, held.num_rows, _CHUNK):
                some = held.slice(at, _CHUNK)
                count = some.num_rows
                columns = [pa.array([SAMPLED] * count), pa.array([""] * count), some.column(0)]
                yield pa.RecordBatch.from_arrays(
                    [*columns, pa.nulls(count, pa.binary()), some.column(1)],
                    list(_ROW),
                )


def merge(table: pa.Table, limits: Limits) -> pa.Table:
    """Return the partial rows of one kind and name as one row."""
    kind, name = table[KIND][0].as_py(), table[NAME][0].as_py()
    parts: list[bytes] = table[DATA].to_pylist()
    row = {KIND: kind, NAME: name, DATA: _merged(kind, parts, limits)}
    return pa.Table.from_pylist([row], schema=PARTIAL.arrow)


def _merged(kind: str, parts: list[bytes], limits: Limits) -> bytes:
    if kind == "attribute":
        sketch = AttributeSketch(limits.profile_values)
        for part in parts:
            sketch.merge(part)
        return sketch.freeze()
    if kind == "total":
        totals = [msgspec.msgpack.decode(part, type=Total) for part in parts]
        return msgspec.msgpack.encode(
            Total(*(sum(getattr(total, name) for total in totals) for name in Total.__struct_fields__))
        )
    first, *others = (frequent_strings_sketch.deserialize(part) for part in parts)
    for other in others:
        first.merge(other)
    return bytes(first.serialize())
