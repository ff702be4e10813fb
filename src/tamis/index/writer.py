"""Change the set of subscriptions and publish snapshots, one change at a time.

New subscriptions wait in ``fresh`` (matched by their trees) until there are enough for a segment. Segments
are merged so that each is several times larger than the next: their number grows with the logarithm of the
number of subscriptions, and each subscription is rewritten as often.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tamis.columns import Columns, RowWriter, concat
from tamis.columns.literals import StringColumn, string_column
from tamis.columns.rows import ClauseRows, ClauseWriter, runs
from tamis.engines.engines import takes_cnf, trains
from tamis.errors import DuplicateSubscription, UnknownSubscription
from tamis.expression.tree import Subscription
from tamis.index import background, storage
from tamis.index.batches import locate, pieces
from tamis.index.manifest import Entry
from tamis.index.recent import Recent
from tamis.index.refused_events import warn_of_sample
from tamis.index.samples import MOST, KeptSample
from tamis.index.snapshot import Layer, Snapshot
from tamis.index.sources import Book, particulars_of, subscription_from
from tamis.limits import Limits
from tamis.segment import Particulars, Segment, build_segment
from tamis.segment.build import Sampler
from tamis.space.encode import Encoder
from tamis.space.located import Located
from tamis.space.space import Space

FRESH = 32  # subscriptions matched by their trees before they become a segment
FEW_EVENTS = 1_000  # of a sample that the smallest segment is laid out for; a change need not read all
EVENTS_EACH = 20  # for every subscription of a larger segment
GROWTH = 4  # a segment is at least this many times larger than the next newer one


class Writer:
    """The owner of the current snapshot. Every public method takes the lock."""

    def __init__(self, engine: str, parameters: dict[str, Any], limits: Limits, sample: Any) -> None:
        self.engine, self.parameters, self.limits = engine, parameters, limits
        self.sample = sample if isinstance(sample, KeptSample) else KeptSample(sample, limits)
        self._sample_was_read = False
        self.applied = 0  # the last change of a store's log, if a manifest says so
        self.recent = Recent()
        self._lock = threading.RLock()
        self._places: storage.Places = WeakKeyDictionary()
        self.current = Snapshot(0, (), ())
        self.in_background = False  # whether large merges run in a thread of their own
        self._merging: background.Merge | None = None

    # -- building ------------------------------------------------------------------------------------

    def load(self, book: Book) -> None:
        """Start from a whole book."""
        if book.ids.count:
            clauses = book.clauses if book.cnf == takes_cnf(self.engine) else None
            segment = self._segment(book.ids, book.columns, book.particulars, MOST, clauses)
            self.current = Snapshot(0, (Layer(segment),), ())

    def restore(self, snapshot: Snapshot, places: storage.Places, applied: int = 0) -> None:
        """Start from an index on disk."""
        self.current, self._places, self.applied = snapshot, places, applied

    def _segment(
        self,
        ids: StringColumn,
        columns: Columns,
        particulars: Particulars,
        events: int | None = None,
        clauses: ClauseRows | None = None,
    ) -> Segment:
        """Return a segment laid out for ``events`` events of the sample; by default fewer if it is small."""
        most = events or min(MOST, max(FEW_EVENTS, EVENTS_EACH * ids.count))
        return build_segment(
            ids,
            columns,
            particulars,
            clauses=clauses,
            engine=self.engine,
            parameters=self.parameters,
            sample=self._sampler(most),
            limits=self.limits,
        )

    def _sampler(self, most: int) -> Sampler | None:
        """Return a function that locates recent events, or the user's sample; ``None`` if there are none.

        An engine that trains always gets the user's sample if there is one.
        """
        recent = None if self.sample.count and trains(self.engine) else self.recent.sample()
        events = self.sample.events if recent is None else recent
        if events is None:
            return None
        piece: Any = next(pieces(events, most, self.limits), [])

        def located(space: Space) -> Located:
            found, refused = locate(Encoder(space, self.limits), piece)
            if not self._sample_was_read:
                warn_of_sample(refused, found.count)
            self._sample_was_read = True
            return found

        return located

    def typical(self) -> Any:
        """Return events for estimates: the events used for layouts, or else the few recent ones."""
        recent, sample = self.recent.sample(), self.sample.events
        return recent if recent is not None else sample if sample is not None else self.recent.few()

    # -- changing ------------------------------------------------------------------------------------

    def add_one(self, row: Any) -> None:
        """Add a subscription that does not exist yet."""
        held = subscription_from(row, self.limits)
        with self._lock:
            self._refuse_known(held.id)
            self._publish(self.current.layers, (*self.current.fresh, held))
            self._settle()

    def add_book(self, book: Book) -> None:
        """Add many subscriptions at once, or none if one of them exists."""
        with self._lock:
            for name in book.ids.to_list():
                self._refuse_known(name)
            if not book.ids.count:
                return
            layer = Layer(self._segment(book.ids, book.columns, book.particulars))
            self._publish((*self.current.layers, layer), self.current.fresh)
            self._settle()

    def apply(self, book: Book, gone: Iterable[str]) -> None:
        """Put all of ``book``, new or not, and remove ``gone``, known or not, in one step."""
        with self._lock:
            layers, fresh = self._without_all([*book.ids.to_list(), *gone])
            if book.ids.count:
                layers = (*layers, Layer(self._segment(book.ids, book.columns, book.particulars)))
            self._publish(layers, fresh)
            self._settle()

    def update(self, row: Any) -> None:
        """Replace a subscription; readers see the old one or the new one, never neither."""
        held = subscription_from(row, self.limits)
        with self._lock:
            layers, fresh = self._without(held.id)
            self._publish(layers, (*fresh, held))
            self._settle()

    def remove(self, subscription: str) -> None:
        """Remove a subscription."""
        with self._lock:
            self._publish(*self._without(subscription))
            self._settle()

    def _refuse_known(self, name: str) -> None:
        if self.current.find(name) is not None:
            raise DuplicateSubscription(
                f"a subscription with the id {name[:80]!r} exists; use update to replace it",
                subscription=name,
            )

    def _without(self, name: str) -> tuple[tuple[Layer, ...], tuple[Subscription, ...]]:
        """Return the layers and fresh subscriptions of the next snapshot, without ``name``."""
        snapshot = self.current
        place = snapshot.find(name)
        if place is None:
            raise UnknownSubscription(f"no subscription has the id {name[:80]!r}", subscription=name)
        at, ordinal = place
        if at < 0:
            return snapshot.layers, snapshot.fresh[:ordinal] + snapshot.fresh[ordinal + 1 :]
        layer = snapshot.layers[at]
        changed = layer.ending(np.array([ordinal]), snapshot.sequence + 1)
        return (*snapshot.layers[:at], changed, *snapshot.layers[at + 1 :]), snapshot.fresh

    def _without_all(self, names: list[str]) -> tuple[tuple[Layer, ...], tuple[Subscription, ...]]:
        """Like :meth:`_without`, for many ids at once, some of which may be unknown."""
        snapshot, layers, left = self.current, [], set(names)
        fresh = tuple(held for held in snapshot.fresh if held.id not in left)
        for layer in snapshot.layers:
            found = np.array([layer.segment.find(name) for name in names], np.int64)
            found = np.unique(found[found >= 0])
            found = found[layer.alive(found, snapshot.sequence)]
            layers.append(layer.ending(found, snapshot.sequence + 1) if len(found) else layer)
        return tuple(layers), fresh

    def _publish(self, layers: tuple[Layer, ...], fresh: tuple[Subscription, ...]) -> None:
        self.current = Snapshot(self.current.sequence + 1, layers, fresh)

    # -- merging -------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Turn enough fresh subscriptions into a segment, then restore the sizes' order."""
        if len(self.current.fresh) >= FRESH:
            self._flush()
        while (first := self._first_unsettled()) is not None:
            kept, loose = self.current.layers[:first], self.current.layers[first:]
            if self.in_background and background.is_large(loose):
                if self._merging is None:
                    self._merging = background.Merge(loose, self.current.sequence)
                    background.start(self._merge_aside)
                return
            merged = self._merge(loose)
            self._publish((*kept, merged) if merged.segment.count else kept, self.current.fresh)

    def _merge_aside(self) -> None:
        """Merge without the lock, then replace the merged layers by the result."""
        merge = self._merging
        assert merge is not None
        try:
            merged = self._merge(merge.layers, merge.sequence)
        except BaseException:
            self._merging = None
            raise
        with self._lock:
            self._merging = None
            at = merge.place_in(self.current)
            if at is None:  # everything was merged or loaded in the meantime
                return
            before, after = self.current.layers[:at], self.current.layers[at + len(merge.layers) :]
            layer = merge.result_in(self.current, at, merged.segment)
            self._publish(
                (*before, layer, *after) if layer.in_force else (*before, *after), self.current.fresh
            )
            self._settle()

    def _first_unsettled(self) -> int | None:
        """Return the oldest layer that is mostly removed or not several times larger than the next.

        Layers that are being merged, and older ones, are left alone until the merge is done.
        """
        counts = [layer.in_force for layer in self.current.layers]
        busy = self._merging.place_in(self.current) if self._merging else None
        settled = 0 if busy is None or self._merging is None else busy + len(self._merging.layers)
        for at, layer in enumerate(self.current.layers):
            if at < settled:
                continue
            following = counts[at + 1] if at + 1 < len(counts) else 0
            if 2 * counts[at] < layer.segment.count or counts[at] < GROWTH * following:
                return at
        return None

    def _flush(self) -> None:
        fresh = self.current.fresh
        if not fresh:
            return
        rows = RowWriter()
        nested = ClauseWriter(rows.names, self.limits, takes_cnf(self.engine))
        for at, held in enumerate(fresh):
            if rows.add(held.expression):
                nested.add(at, held.expression)
        columns = rows.freeze()
        ids = string_column([held.id for held in fresh])
        particulars = particulars_of([(held.priority, held.version) for held in fresh])
        layer = Layer(self._segment(ids, columns, particulars, clauses=nested.freeze(columns)))
        self._publish((*self.current.layers, layer), ())

    def _merge(self, layers: Sequence[Layer], sequence: int | None = None) -> Layer:
        """Return one segment with the subscriptions in force in ``layers``, now or at ``sequence``."""
        at = self.current.sequence if sequence is None else sequence
        chosen = [(layer.segment, layer.living(at)) for layer in layers]
        columns = concat([(segment.columns, living) for segment, living in chosen])
        ids = _join_ids([(segment.ids, living) for segment, living in chosen])
        parts = [segment.particulars(living) for segment, living in chosen]
        particulars = Particulars(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        return Layer(self._segment(ids, columns, particulars))

    def merge_all(self) -> None:
        """Merge all subscriptions into one segment."""
        with self._lock:
            self._flush()
            layers = self.current.layers
            if len(layers) > 1 or any(layer.died is not None for layer in layers):
                merged = self._merge(layers)
                self._publish((merged,) if merged.segment.count else (), ())

    def write_layers(self, path: Path, key: bytes | None) -> list[Entry]:
        """Write the layers that ``path`` does not hold, without a manifest; return their manifest entries."""
        with self._lock:
            self._flush()
            return storage.write_layers(self.current, path, self._places, key)

    def save(self, path: Path, notes: dict[str, Any], key: bytes | None) -> None:
        """Write everything to ``path``."""
        with self._lock:
            self._flush()
            settings = storage.settings_of(self.engine, self.parameters, self.limits)
            kept = storage.Particulars(settings, self.sample.lines, notes, self.applied)
            storage.save(self.current, path, kept, self._places, key)


def _join_ids(parts: list[tuple[StringColumn, npt.NDArray[np.int64]]]) -> StringColumn:
    data, lengths = [np.zeros(0, np.uint8)], [np.zeros(1, np.int64)]
    for ids, chosen in parts:
        places, count = runs(ids.start, chosen)
        data.append(ids.data[places])
        lengths.append(count)
    return StringColumn(np.cumsum(np.concatenate(lengths)), np.concatenate(data))
