"""Matches a batch of events in a Spark worker: maps the index, matches, and writes rows.

A row with a ``note`` is not a match: it describes a refused event with its reason, or the work of a batch. So
one pass over the events returns all three, and a caller that needs only matches drops the rest.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from tamis.contract.on_error import RAISE, REPORT
from tamis.errors import EventError, EventLimit, IndexVersion
from tamis.index.audit import Audit
from tamis.index.card import CPU, CUDA
from tamis.index.index import Index
from tamis.index.work import WorkReport
from tamis.shards.location import Location
from tamis.shards.manifest import current
from tamis.shards.opening import open_shards
from tamis.space.table_row import event_of_row
from tamis.spark.rows import cut_text, readable_events, text_of
from tamis.spark.schema import (
    ARRAYS,
    CARRIED,
    ENVELOPE,
    EVENT_ID,
    NOTE,
    PAIRS,
    SCORED_ARRAYS,
    SCORED_PAIRS,
    SHARD,
    Columns,
)
from tamis.values.event import event_from

EVENTS_AT_ONCE = 4_096  # events that are matched together
REFUSAL = '{"code"'  # the beginning of a note on a refused event
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MatchOptions:
    """The options of a match."""

    k: int | None = None
    arrays: bool = False
    carry: tuple[str, ...] = ()
    most: int | None = None  # matches of an event, beyond which it is refused
    others: tuple[str, ...] = ()  # columns of the events, carried in one struct
    on_error: str = REPORT
    audit: float | None = None  # the share of the events that the tree evaluator matches again
    is_logged: bool = True  # whether a task logs the number of refused events
    device: str = "cpu"

    def columns(self) -> Columns:
        """Return the columns of a row, without the struct of carried columns."""
        if self.arrays:
            found = SCORED_ARRAYS if self.k else ARRAYS
        else:
            found = SCORED_PAIRS if self.k else PAIRS
        return Columns(*found, *map(ENVELOPE.field, self.carry), NOTE)

    def arrow_schema(self, carried: pa.DataType | None = None) -> pa.Schema:
        """Return the schema of a row; ``carried`` is the type of the struct of carried columns, if any."""
        schema = self.columns().arrow
        return schema if carried is None else schema.insert(len(schema) - 1, pa.field(CARRIED, carried))


@dataclass(frozen=True)
class MatchTask:
    """The function of a task: Arrow batches of canonical events in, rows out."""

    path: str
    version: int | None  # ``None``: the current one when a batch is matched
    options: MatchOptions
    shards: int = 0  # number of shards among which the events were distributed; 0: the whole index at once

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match every batch against the version of the index that the driver chose."""
        events = refused = 0
        # A difference ends the task; its folder is on the worker's host, where it can be fetched.
        audit = None if self.options.audit is None else Audit(self.options.audit, tempfile.gettempdir())
        for batch in batches:
            for shard, some in self._dealt(batch):
                events += 0 if shard else some.num_rows  # every shard has the same events
                for found in self._match(some, shard, audit):
                    refused += _count_refused(found)
                    yield found
        if refused and self.options.is_logged:
            _log.warning(
                "%d of %d events were refused; tamis.spark.match_with_notes shows why", refused, events
            )

    def _dealt(self, batch: pa.RecordBatch) -> Iterator[tuple[int | None, pa.RecordBatch]]:
        """Yield the events for each shard, or all of them for the whole index."""
        if not self.shards:
            yield None, batch
            return
        shards = batch.column(batch.schema.get_field_index(SHARD))
        for number in shards.unique().to_pylist():
            yield number, batch.filter(pa.compute.equal(shards, number))

    def _match(
        self, batch: pa.RecordBatch, shard: int | None, audit: Audit | None
    ) -> Iterator[pa.RecordBatch]:
        version = self.version or self._in_force()
        index = open_shards(self.path, version=version, shards=None if shard is None else [shard])
        good = readable_events(batch, index.limits)
        some = batch.take(pa.array(good.rows)) if good.bad else batch
        yield from Rows(batch, self.options, bool(shard)).refused(list(good.bad.items()))
        rows = Rows(some, self.options, bool(shard))
        if self.options.k:
            yield from rows.best(index, good.events, len(good.bad))
        else:
            yield from rows.all(index, good.events, len(good.bad), audit)

    def _in_force(self) -> int:
        manifest = current(Location(self.path))
        if self.shards not in (0, len(manifest.shards)):
            raise IndexVersion(
                f"{self.path} was built anew with {len(manifest.shards)} shards instead of {self.shards};"
                " start the query again"
            )
        return manifest.number


class Rows:
    """Builds the rows of one batch of events; a ``quiet`` one writes no notes on refused events."""

    def __init__(self, batch: pa.RecordBatch, options: MatchOptions, quiet: bool = False) -> None:
        self._batch, self._options, self._quiet = batch, options, quiet
        at = batch.schema.get_field_index(CARRIED) if options.others else -1
        self._schema = options.arrow_schema(None if at < 0 else batch.schema.types[at])
        self._carry = (*options.carry, CARRIED) if at >= 0 else options.carry

    def all(
        self, index: Index, piece: Any, others: int, audit: Audit | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield every match; ``others`` events of the batch were refused already."""
        work = WorkReport(others)
        device = self._options.device
        for found in index.match_batches(
            piece,
            threads=1,
            batch_size=EVENTS_AT_ONCE if device == CPU else None,
            versions=True,
            on_error="skip",
            audit=audit,
            device=card_of_task(device),
        ):
            work = work.plus(found.work)
            table, refused = self._bounded(found.table, found.refused)
            if table.num_rows:
                yield self._matches(table)
            yield from self.refused(refused)
        yield from self._work(work)

    def best(self, index: Index, piece: Any, others: int) -> Iterator[pa.RecordBatch]:
        """Yield the k best matches of each event."""
        work, refused = WorkReport(others), []
        found: list[tuple[int, str, float]] = []
        for row, event in enumerate(_events(piece, index)):
            try:
                if isinstance(event, EventError):
                    raise event
                top = index.top_k(event, self._options.k or 1)
            except EventError as bad:
                refused.append((row, bad))
                continue
            work = work.plus(top.work)
            found.extend((row, name, score) for name, score in top)
        if found:
            yield self._matches(_scored(found, index))
        yield from self.refused(refused)
        yield from self._work(work)

    def _bounded(self, table: pa.Table, refused: list[Any]) -> tuple[pa.Table, list[Any]]:
        """Return the matches without those of events with too many: these are refused, not truncated."""
        most = self._options.most
        if most is None:
            return table, refused
        rows, count = np.unique(table["event"].to_numpy(), return_counts=True)
        over = rows[count > most]
        if not len(over):
            return table, refused
        kept = pa.array(~np.isin(table["event"].to_numpy(), over))
        sizes = dict(zip(rows.tolist(), count.tolist(), strict=True))
        return table.filter(kept), [*refused, *((row, too_many(sizes[row], most)) for row in over.tolist())]

    def _matches(self, table: pa.Table) -> pa.RecordBatch:
        if self._options.arrays and not self._options.k:
            table = table.sort_by([("event", "ascending"), ("subscription", "ascending")])
        event = table["event"].to_numpy()
        names = ("subscription", "version", "score") if self._options.k else ("subscription", "version")
        columns = [_flat(table[name]) for name in names]
        if self._options.arrays:
            event, start = np.unique(event, return_index=True)
            ends = pa.array(np.append(start, table.num_rows).astype(np.int32))
            columns = [pa.ListArray.from_arrays(ends, column) for column in columns]
        place = pa.array(event)
        carried = [self._column(name, place) for name in self._carry]
        arrays = [self._column(EVENT_ID, place), *columns, *carried, pa.nulls(len(place), pa.string())]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _column(self, name: str, place: pa.Array) -> pa.Array:
        kind = self._schema.field(name).type
        return self._batch.column(self._batch.schema.get_field_index(name)).take(place).cast(kind)

    def refused(self, refused: list[tuple[int, EventError]]) -> Iterator[pa.RecordBatch]:
        """Yield notes on refused events, or raise the error of the first one with ``on_error="raise"``."""
        if refused and self._options.on_error == RAISE:
            row, bad = min(refused, key=lambda pair: pair[0])
            raise named(bad, self._batch.column(self._batch.schema.get_field_index(EVENT_ID))[row].as_py())
        if refused and not self._quiet and self._options.on_error == REPORT:
            notes = [note_of(bad, text_of(self._batch, row)) for row, bad in refused]
            ids = self._column(EVENT_ID, pa.array([row for row, _ in refused], pa.int64()))
            yield self._notes(ids, notes)

    def _work(self, work: WorkReport) -> Iterator[pa.RecordBatch]:
        report = work._asdict()
        del report["advice"]  # a batch is too small to conclude that an attribute never occurs
        if self._quiet:
            report["events"] = 0  # every shard sees the same events, which count once
        yield self._notes(pa.nulls(1, pa.string()), [msgspec.json.encode({"work": report}).decode()])

    def _notes(self, ids: pa.Array, notes: list[str]) -> pa.RecordBatch:
        empty = [pa.nulls(len(notes), field.type) for field in list(self._schema)[1:-1]]
        return pa.RecordBatch.from_arrays([ids, *empty, pa.array(notes, pa.string())], schema=self._schema)


def card_of_task(device: str) -> str:
    """Return the device of this task: the card that Spark has given to it, if it has given one."""
    context = TaskContext.get() if device == CUDA else None
    cards = context.resources().get("gpu") if context is not None else None
    return f"{CUDA}:{cards.addresses[0]}" if cards is not None else device


def named(bad: EventError, event: str | None) -> EventError:
    """Return the same error, with the id of the event."""
    about = "an event without an id" if event is None else f"the event {str(event)[:80]!r}"
    return type(bad)(f"{about} is refused: {bad.message}", **{**bad.details, "event": event})


def _count_refused(found: pa.RecordBatch) -> int:
    notes = found.column(found.schema.get_field_index(NOTE))
    return int(pa.compute.sum(pa.compute.starts_with(notes, REFUSAL)).as_py() or 0)


class _Refusal(msgspec.Struct):
    """The note on a refused event, with the columns ``EVENT_FAULT``."""

    code: str
    message: str
    text: str


def note_of(bad: EventError, text: str) -> str:
    """Return a refusal as a note."""
    return msgspec.json.encode(_Refusal(bad.code, cut_text(str(bad)), text)).decode()


def too_many(found: int, most: int) -> EventLimit:
    """Return the error for an event with too many matches."""
    return EventLimit(
        f"the event matches {found} subscriptions, more than matches_per_event = {most}; raise the bound, or"
        " ask for the k best",
        limit="matches_per_event",
    )


def _flat(column: Any) -> pa.Array:
    found = column.combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def _events(piece: pa.Table | list[Any], index: Index) -> Iterator[Any]:
    """Yield events one by one for top-k; an unreadable one is yielded as its error."""
    if isinstance(piece, list):
        yield from piece
        return
    for row in range(piece.num_rows):
        try:
            yield event_from(event_of_row(piece, row, index.limits), index.limits)
        except EventError as bad:
            yield bad


def _scored(found: list[tuple[int, str, float]], index: Index) -> pa.Table:
    names = [name for _, name, _ in found]
    return pa.table(
        {
            "event": pa.array([row for row, _, _ in found], pa.int64()),
            "subscription": pa.array(names, pa.string()),
            "version": pa.array(index.versions(names), pa.int64()),
            "score": pa.array([score for _, _, score in found], pa.float64()),
        }
    )
