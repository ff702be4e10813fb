"""``match_stream``: matches events as they arrive against the current index, into the outbox.

Between micro-batches the index is brought up to date: changes of the store become a version of the index, and
a version that another process built is used. The version is pinned in the store before a batch is matched,
and every row is unique there. So a batch that is run again after any crash does the same and adds nothing.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tamis.contract.on_error import REPORT
from tamis.errors import IndexNotFound, InputError
from tamis.shards.changes import apply_changes
from tamis.shards.collect import collect
from tamis.shards.location import Location
from tamis.shards.manifest import Manifest, current, numbers
from tamis.spark.carried_columns import Carry, checked_carry
from tamis.spark.match import Matcher, canonical_of, options_of
from tamis.spark.outbox import write_noted
from tamis.spark.progress import COUNTS, WORK, report
from tamis.spark.schema import ENVELOPE
from tamis.spark.worker import MatchOptions
from tamis.spark.workers import ready
from tamis.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

Sink = Callable[["DataFrame", int], None]
CHANGES = 10_000  # changes applied at once
REMOVE_EVERY = 60.0  # seconds between collections of old versions
KEPT = 1_000  # batches that are remembered
_log = logging.getLogger(__name__)


def match_stream(
    stream: DataFrame,
    path: str,
    *,
    checkpoint: str,
    store: str | Store | None = None,
    sink: Sink | None = None,
    name: str = "tamis",
    trigger: dict[str, Any] | None = None,
    plan: str = "auto",
    k: int | None = None,
    carry: Carry = ENVELOPE,
    matches_per_event: int | None = None,
    on_error: str = REPORT,
    audit: float | None = None,
) -> StreamingQuery:
    """Match a streaming DataFrame of events against the index at ``path``, without end.

    ``store`` is the URL of a store: its changes are applied, matches go to its outbox, refused events to its
    quarantine. Alternatively, ``sink`` gets the rows of a batch and its number; it must accept repeated calls
    for the same batch. Rows have a column ``note``, which :func:`match_with_notes` explains. ``carry`` is as
    for :func:`match`; the outbox of a store has room for ``event_time`` and ``payload`` only.

    With ``on_error="report"`` a batch with refused events logs one line with their number. With ``"raise"``
    the first refused event ends the query. With ``"skip"`` they are neither kept nor reported. ``audit`` is a
    share of the events that the tree evaluator matches again; a difference ends the query.
    """
    if not isinstance(path, str):
        raise InputError(
            "match_stream takes the path of an index, which lives on; tamis.spark.build makes one"
        )
    if not stream.isStreaming:
        raise InputError("match_stream takes a streaming DataFrame; use match for one that ends")
    if (store is None) == (sink is None):
        raise InputError("say where matches go: store=… or sink=…, one of them")
    url = store.url if isinstance(store, Store) else store
    if url is not None:
        Store.shared(url)  # an unavailable store is reported now, not at the first event
    path = Location(path).uri
    current(Location(path))
    options = replace(options_of(k, "pairs", matches_per_event, on_error, audit), is_logged=url is None)
    canonical, carried = canonical_of(stream, checked_carry(carry))
    if url is not None and (unfit := [one for one in carried if one not in ENVELOPE]):
        raise InputError(
            f"the outbox of a store has no room for {unfit[0]!r}, only for {' and '.join(ENVELOPE)}; put it "
            "into the payload, or give sink=… instead of store=…",
            column=unfit[0],
        )
    ready(stream.sparkSession)
    batches = _Batches(path, options, plan, checkpoint, name, url, sink, carried)
    writer = canonical.writeStream.queryName(name).option("checkpointLocation", checkpoint)
    return writer.trigger(**(trigger or {"processingTime": "0 seconds"})).foreachBatch(batches).start()


@dataclass
class _Batches:
    """Handles each micro-batch, in the process in which Spark runs it."""

    path: str
    options: MatchOptions
    plan: str
    checkpoint: str
    name: str
    url: str | None
    sink: Sink | None
    carry: tuple[str, ...] = ()
    _query: str = field(default="", init=False)
    _removed_at: float = field(default=0.0, init=False)

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Match one micro-batch."""
        if self.url is None:
            self._match_into_sink(batch, number, current(Location(self.path)).number)
            return
        store = Store.shared(self.url)
        if store.is_finished(self.query, number):
            _log.info("%s: batch %d was done before", self.name, number)
            return
        version = store.begin_batch(self.query, number, self._up_to_date(store).number)
        self._match_into_store(store, batch, number, self._there(version))

    @property
    def query(self) -> str:
        """The name of this query with its checkpoint's id: the batches of a new checkpoint are new ones."""
        if not self._query:
            metadata = Location(self.checkpoint).read("metadata")
            self._query = f"{self.name}/{json.loads(metadata)['id']}"
        return self._query

    def _match_into_sink(self, batch: DataFrame, number: int, version: int) -> None:
        assert self.sink is not None
        self.sink(self._matched(batch, version), number)
        report(self.name, number, index_version=version)

    def _match_into_store(self, store: Store, batch: DataFrame, number: int, version: int) -> None:
        written = write_noted(self._matched(batch, version), store.url, self.query, number)
        store.finish_batch(self.query, number, written.matches)
        report(self.name, number, index_version=version, **{name: getattr(written, name) for name in COUNTS})
        report(self.name, number, **{name: getattr(written.work, name) for name in WORK})
        if written.refused:
            _log.warning(
                "%s: batch %d: %d events were refused; they are in the quarantine of the store",
                self.name, number, written.refused,
            )  # fmt: skip
        self._remove_old(store, number)

    def _matched(self, batch: DataFrame, version: int) -> DataFrame:
        return Matcher(self.path, self.options, self.plan, version).run(batch, self.carry)

    def _up_to_date(self, store: Store) -> Manifest:
        """Return the index with every change that was in the store when the events were read."""
        place = Location(self.path)
        manifest = current(place)
        while changes := store.changes(manifest.applied, CHANGES):
            manifest, refused = apply_changes(place, changes)
            for subscription, bad in refused:
                _log.warning("%s: subscription %s is left out: %s", self.name, subscription, bad.message)
        return manifest

    def _there(self, version: int) -> int:
        """Return the pinned version, or the last one if it was collected while the query was down."""
        there = numbers(Location(self.path))
        if version in there:
            return version
        if not there:
            raise IndexNotFound(f"there is no index at {self.path} any more")
        _log.warning("%s: version %d of the index is gone; %d is used", self.name, version, there[-1])
        return there[-1]

    def _remove_old(self, store: Store, number: int) -> None:
        """Delete old versions and old batch records; Spark repeats at most the last batch."""
        if time.monotonic() - self._removed_at > REMOVE_EVERY:
            self._removed_at = time.monotonic()
            collect(Location(self.path))
            store.forget_batches(self.query, number - KEPT)
