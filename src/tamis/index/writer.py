"""Change the set of subscriptions and publish snapshots, one change at a time.

New subscriptions go into the head until there are enough for a segment. Segments are merged so that each is
several times larger than the next: their number grows with the logarithm of the number of subscriptions, and
each subscription is rewritten as often.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tamis.columns import Columns, concat
from tamis.columns.literals import StringColumn
from tamis.columns.rows import ClauseRows, runs, tree_at
from tamis.engines.engines import takes_cnf, trains
from tamis.errors import DuplicateSubscription, UnknownSubscription
from tamis.expression.tree import Subscription
from tamis.head import Head, HeadView
from tamis.head.structures import DEFAULT
from tamis.index import background, storage
from tamis.index.batches import pieces
from tamis.index.manifest import Entry
from tamis.index.match import locate
from tamis.index.recent import Recent
from tamis.index.refused_events import warn_of_sample
from tamis.index.samples import MOST, KeptSample
from tamis.index.snapshot import Layer, Snapshot
from tamis.index.sources import Book, subscription_from
from tamis.limits import Limits
from tamis.segment import Particulars, Segment, build_segment
from tamis.segment.build import Sampler
from tamis.space.encode import Encoder
from tamis.space.located import Located
from tamis.space.space import Space
from tamis.values.analysis import NO_ANALYSERS, Analysers, shown

LEAST_HEAD = 1_024  # subscriptions before the head is sealed because most of them were removed
WEIGH_EVERY = 64  # additions after which the memory of the head is looked at
TESTS = 32  # distinct predicates that the head tries on every string, because keys cannot express them
SHAPES = 256  # distinct shapes in the head, whose table is made anew after a change
BOOK = 256  # subscriptions of a source that go into the head; more become a segment at once
FEW_EVENTS = 1_000  # of a sample that the smallest segment is laid out for; a change need not read all
EVENTS_EACH = 20  # for every subscription of a larger segment
GROWTH = 4  # a segment is at least this many times larger than the next newer one


class Writer:
    """The owner of the current snapshot. Every public method takes the lock."""

    def __init__(
        self,
        engine: str,
        parameters: dict[str, Any],
        limits: Limits,
        sample: Any,
        head: str = DEFAULT,
        analysers: Analysers = NO_ANALYSERS,
    ) -> None:
        self.engine, self.parameters, self.limits, self.head = engine, parameters, limits, head
        self.analysers = analysers
        self.sample = sample if isinstance(sample, KeptSample) else KeptSample(sample, limits)
        self._sample_was_read = False
        self.applied = 0  # the last change of a store's log, if a manifest says so
        self.recent = Recent()
        self._lock = threading.RLock()
        self._places: storage.Places = WeakKeyDictionary()
        self._heads: list[Head] = []  # all but the last are sealed
        self._weigh_at = WEIGH_EVERY
        self.current = Snapshot(0, (), ())
        self.in_background = False  # whether large merges run in a thread of their own
        self._merging: background.Merge | None = None
        self.sealed_for: Counter[str] = Counter()  # how often a head was full, by reason
        self._in_order: tuple[Layer, ...] | None = None  # the last layers that needed no merge

    # -- building ------------------------------------------------------------------------------------

    def load(self, book: Book) -> None:
        """Start from a whole book."""
        if book.ids.count:
            clauses = book.clauses if book.cnf == takes_cnf(self.engine) else None
            segment = self._segment(book.ids, book.columns, book.particulars, MOST, clauses)
            self.current = self.current._replace(layers=(Layer(segment),))

    def restore(self, snapshot: Snapshot, places: storage.Places, applied: int = 0) -> None:
        """Start from the layers of an index; the heads of another writer become one more layer."""
        self._places, self.applied = places, applied
        self.current = snapshot._replace(heads=())
        if snapshot.heads:
            merged = self._merge(snapshot.heads, snapshot.sequence)
            if merged.in_force:
                self.current = self.current._replace(layers=(*snapshot.layers, merged))

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
        held = subscription_from(row, self.limits, analysers=self.analysers)
        with self._lock:
            self._refuse_known(held.id)
            self._growing().add(held)
            self._publish()
            self._settle()

    def add_book(self, book: Book) -> None:
        """Add many subscriptions at once, or none if one of them exists."""
        with self._lock:
            for name in book.ids.to_list():
                self._refuse_known(name)
            if not book.ids.count:
                return
            self.apply(book, ())

    def apply(self, news: Book | Sequence[Subscription], gone: Iterable[str]) -> None:
        """Put all subscriptions of ``news``, new or not, and remove ``gone``, known or not, in one step."""
        names = news.ids.to_list() if isinstance(news, Book) else [held.id for held in news]
        with self._lock:
            layers = self._without_all([*names, *gone])
            if not isinstance(news, Book) and news:
                self._growing().add(*news)
            elif isinstance(news, Book) and 0 < len(names) <= BOOK:
                self._growing().add(*_subscriptions_of(news))
            elif isinstance(news, Book) and names:
                layers = (*layers, Layer(self._segment(news.ids, news.columns, news.particulars)))
            self._publish(layers)
            self._settle()

    def update(self, row: Any) -> None:
        """Replace a subscription; readers see the old one or the new one, never neither."""
        held = subscription_from(row, self.limits, analysers=self.analysers)
        with self._lock:
            layers = self._without(held.id)
            self._growing().add(held)
            self._publish(layers)
            self._settle()

    def remove(self, subscription: str) -> None:
        """Remove a subscription."""
        with self._lock:
            self._publish(self._without(subscription))
            self._settle()

    def _refuse_known(self, name: str) -> None:
        if self.current.find(name) is not None:
            raise DuplicateSubscription(
                f"a subscription with the id {name[:80]!r} exists; use update to replace it",
                subscription=name,
            )

    def _without(self, name: str) -> tuple[Layer, ...]:
        """End ``name`` with the next snapshot; return the layers of that snapshot."""
        snapshot = self.current
        place = snapshot.find(name)
        if place is None:
            raise UnknownSubscription(f"no subscription has the id {name[:80]!r}", subscription=name)
        at, ordinal = place
        if at < 0:
            snapshot.heads[at].head.remove([ordinal], snapshot.sequence + 1)
            return snapshot.layers
        layer = snapshot.layers[at]
        changed = layer.ending(np.array([ordinal]), snapshot.sequence + 1)
        return (*snapshot.layers[:at], changed, *snapshot.layers[at + 1 :])

    def _without_all(self, names: list[str]) -> tuple[Layer, ...]:
        """Like :meth:`_without`, for many ids at once, some of which may be unknown."""
        snapshot, layers = self.current, []
        following = snapshot.sequence + 1
        for view in snapshot.heads:
            slots = {view.find(name, snapshot.sequence) for name in names} - {-1}
            view.head.remove(list(slots), following)
        for layer in snapshot.layers:
            found = layer.segment.find_all(names)
            found = np.unique(found[found >= 0])
            found = found[layer.alive(found, snapshot.sequence)]
            layers.append(layer.ending(found, following) if len(found) else layer)
        return tuple(layers)

    def _growing(self) -> Head:
        """Return the head that takes new subscriptions."""
        if not self._heads or self._heads[-1].is_sealed:
            self._heads.append(Head(self.limits, self.head))
            self._weigh_at = WEIGH_EVERY
        return self._heads[-1]

    def _publish(self, layers: tuple[Layer, ...] | None = None) -> None:
        """Publish the next snapshot: other layers, and all changes of the heads."""
        before = self.current
        views = tuple([head.view() for head in self._heads])
        self.current = Snapshot(before.sequence + 1, before.layers if layers is None else layers, views)

    # -- merging -------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Seal a full head, and merge parts until their sizes are in order."""
        reason = self._fullness()
        if reason is not None:
            self.sealed_for[reason] += 1
            self._seal()
        elif self.current.layers is self._in_order:  # as after most additions
            return
        while (run := self._first_unsettled()) is not None:
            first, last = run
            loose = self.current.sealed[first:last]
            if self.in_background and background.is_large(loose):
                if self._merging is None:
                    self._merging = background.Merge(loose, self.current.sequence)
                    background.start(self._merge_aside)
                return
            self._replace(first, last, self._merge(loose))
        self._in_order = self.current.layers

    def _replace(self, first: int, last: int, merged: Layer) -> None:
        """Publish a merged layer instead of the sealed parts first:last."""
        layers = self.current.layers
        del self._heads[max(first - len(layers), 0) : max(last - len(layers), 0)]
        self._publish((*layers[:first], *((merged,) if merged.in_force else ()), *layers[last:]))

    def _fullness(self) -> str | None:
        """Return why the growing head must become a segment; ``None`` if it may grow."""
        if not self._heads or self._heads[-1].is_sealed:
            return None
        view, limits = self.current.heads[-1], self.limits
        head = view.head
        if view.slots >= limits.head_subscriptions:
            return "head_subscriptions"
        if view.slots >= self._weigh_at:
            self._weigh_at = view.slots + WEIGH_EVERY
            if head.nbytes >= limits.head_bytes:
                return "head_bytes"
        if head.attributes.tests > TESTS or head.attributes.shapes > SHAPES:
            return "patterns and shapes"
        is_idle = view.slots >= LEAST_HEAD and 2 * view.in_force < view.slots
        return "removals" if is_idle else None

    def _merge_aside(self) -> None:
        """Merge without the lock, then replace the merged parts by the result."""
        merge = self._merging
        assert merge is not None
        try:
            merged = self._merge(merge.parts, merge.sequence)
        except BaseException:
            self._merging = self._in_order = None  # the next change tries again
            raise
        with self._lock:
            self._merging = None
            at = merge.place_in(self.current)
            if at is None:  # everything was merged or loaded in the meantime
                return
            layer = merge.result_in(self.current, at, merged.segment)
            self._replace(at, at + len(merge.parts), layer)
            self._settle()

    def _first_unsettled(self) -> tuple[int, int] | None:
        """Return the run of sealed parts to merge next: the oldest sealed head, or layers out of order.

        Layers are in order if each is several times larger than the next, and not mostly removed. Parts that
        are being merged, and older ones, are left alone until the merge is done.
        """
        snapshot = self.current
        busy = self._merging.place_in(snapshot) if self._merging else None
        settled = 0 if busy is None or self._merging is None else busy + len(self._merging.parts)
        layers = len(snapshot.layers)
        if len(snapshot.sealed) > layers:  # a head must become a layer before newer ones do
            return (layers, layers + 1) if settled <= layers else None
        counts = [layer.in_force for layer in snapshot.layers]
        for at in range(settled, layers):
            following = counts[at + 1] if at + 1 < layers else 0
            if 2 * counts[at] < snapshot.layers[at].segment.count or counts[at] < GROWTH * following:
                return at, layers
        return None

    def _seal(self) -> None:
        """Let the head that grows take no more subscriptions."""
        if self._heads:
            self._heads[-1].is_sealed = True

    def _flush(self) -> None:
        """Move the subscriptions of all heads into a segment."""
        self._seal()
        layers, sealed = len(self.current.layers), len(self.current.sealed)
        if sealed > layers:
            self._replace(layers, sealed, self._merge(self.current.sealed[layers:]))

    def _merge(self, parts: Sequence[Layer | HeadView], sequence: int | None = None) -> Layer:
        """Return one segment with the subscriptions in force in ``parts``, now or at ``sequence``."""
        at = self.current.sequence if sequence is None else sequence
        chosen = [(part.segment, part.living(at)) for part in parts]
        columns = concat([(segment.columns, living) for segment, living in chosen])
        ids = _join_ids([(segment.ids, living) for segment, living in chosen])
        particulars = [segment.particulars(living) for segment, living in chosen]
        joined = Particulars(*(np.concatenate(column) for column in zip(*particulars, strict=True)))
        return Layer(self._segment(ids, columns, joined))

    def merge_all(self) -> None:
        """Merge all subscriptions into one segment."""
        with self._lock:
            self._seal()
            parts = self.current.sealed
            if (
                len(parts) > 1
                or any(part.in_force < part.segment.count for part in parts)
                or (len(parts) > len(self.current.layers))
            ):
                self._replace(0, len(parts), self._merge(parts))

    def write_layers(self, path: Path, key: bytes | None) -> list[Entry]:
        """Write the layers that ``path`` does not hold, without a manifest; return their manifest entries."""
        with self._lock:
            self._flush()
            return storage.write_layers(self.current, path, self._places, key)

    def save(self, path: Path, notes: dict[str, Any], key: bytes | None) -> None:
        """Write everything to ``path``."""
        with self._lock:
            self._flush()
            analysers = {attribute: shown(name) for attribute, name in self.analysers.items()}
            settings = storage.settings_of(self.engine, self.parameters, self.limits, analysers)
            kept = storage.Particulars(settings, self.sample.lines, notes, self.applied)
            storage.save(self.current, path, kept, self._places, key)


def _subscriptions_of(book: Book) -> list[Subscription]:
    """Return the subscriptions of a book as objects."""
    rows = zip(book.ids.to_list(), *(column.tolist() for column in book.particulars), strict=True)
    return [
        Subscription(name, tree_at(book.columns, at), priority, version)
        for at, (name, priority, version) in enumerate(rows)
    ]


def _join_ids(parts: list[tuple[StringColumn, npt.NDArray[np.int64]]]) -> StringColumn:
    data, lengths = [np.zeros(0, np.uint8)], [np.zeros(1, np.int64)]
    for ids, chosen in parts:
        places, count = runs(ids.start, chosen)
        data.append(ids.data[places])
        lengths.append(count)
    return StringColumn(np.cumsum(np.concatenate(lengths)), np.concatenate(data))
