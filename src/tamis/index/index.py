"""The index: the main object of the library, which holds subscriptions and matches events."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Self, overload
from weakref import WeakKeyDictionary

import pyarrow as pa

from tamis.columns.tables import is_table
from tamis.contract.change import Change
from tamis.contract.on_error import REPORT, OnError, check_on_error
from tamis.engines.engines import engine_class, takes_cnf
from tamis.errors import EventLimit, InputError, TamisError, UnknownSubscription
from tamis.expression.tree import Expr, Subscription
from tamis.head.structures import DEFAULT, unknown_head
from tamis.head.structures import NAMES as HEADS
from tamis.index import arguments, info, storage
from tamis.index.audit import Audit
from tamis.index.batches import PIECE_BYTES, SCHEMA, MatchBatch, Run, divided, match_piece, pieces
from tamis.index.card import BATCH as CARD_BATCH
from tamis.index.card import CPU, STREAMS, Card, card_of
from tamis.index.card import PIECE_BYTES as CARD_PIECE_BYTES
from tamis.index.changes import apply_changes
from tamis.index.explain import Explanation, explain
from tamis.index.highlighted import highlights_of
from tamis.index.match import LazyEvent, match_event
from tamis.index.pairs import PairBatch, match_pairs
from tamis.index.refused_events import reported
from tamis.index.refused_subscriptions import warn_refused
from tamis.index.results import Matches, MatchTable
from tamis.index.samples import KeptSample
from tamis.index.scores import Combine, Scores, Subject
from tamis.index.snapshot import Snapshot
from tamis.index.sources import Progress, id_text, read_book
from tamis.index.threads import matched
from tamis.index.top import TopK, TopMatches
from tamis.index.top_table import TopOfTable, joined
from tamis.index.unseen import AttributeWatch, watched
from tamis.index.work import WorkReport
from tamis.index.writer import Writer
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.segment import Segment
from tamis.segment.sealed import index_key
from tamis.values.analysis import clean_analysers
from tamis.values.event import Event, EventLike, decode_event, event_from

BATCH = 4096
_ONE_EVENT = WorkReport(1)


class Index:
    """A set of subscriptions that events are matched against.

    Any number of threads may match while one thread changes the set. Every match that begins after a change
    sees it.
    """

    def __init__(
        self, writer: Writer, refused: list[Any] | None = None, notes: dict[str, Any] | None = None
    ) -> None:
        self._writer = writer
        self.notes = notes or {}  # saved with the index
        self.limits = writer.limits
        self.refused: list[tuple[str, Any]] = refused or []
        self._static: WeakKeyDictionary[Segment, Scores] = WeakKeyDictionary()

    @classmethod
    def build(
        cls,
        source: Any = (),
        *,
        engine: str = "hybrid",
        parameters: dict[str, Any] | None = None,
        head: str = DEFAULT,
        analysers: Mapping[str, Any] | None = None,
        sample: Any = None,
        limits: Limits = DEFAULT_LIMITS,
        on_error: OnError = "raise",
        ignore: str | Collection[str] = (),
        progress: Progress | None = None,
    ) -> Self:
        """Index the subscriptions of ``source``.

        ``source`` is a dictionary of id to expression, an iterable of (id, expression) pairs or
        :class:`Subscription` objects, an Arrow table, or a path to .jsonl, .parquet or .csv. Ids are strings.
        Bad subscriptions raise one error that names all of them. With ``on_error="skip"`` they are left out
        and listed in ``refused``; ``"report"`` also gives one :class:`~tamis.errors.RefusedWarning`.
        ``ignore`` names fields or columns to ignore. ``sample`` is a list or table of typical events, which
        improves the choice of access conditions. ``head`` names the structure that new subscriptions go into
        until a merge: "pstree", "bestar" or "opindex". ``analysers`` declares how the texts of attributes
        become terms: ``{"title": "english"}``.
        """
        check_on_error(on_error)
        engine_class(arguments.text("engine", engine))
        if arguments.text("head", head) not in HEADS:
            raise unknown_head(head)
        arguments.bounds(limits)
        arguments.function("progress", progress)
        declared = {} if analysers is None else clean_analysers(analysers)
        book = read_book(source, limits, on_error != "raise", progress, ignore, takes_cnf(engine), declared)
        if on_error == "report":
            warn_refused(book.refused)
        writer = Writer(engine, arguments.mapping("parameters", parameters), limits, sample, head, declared)
        writer.load(book)
        return cls(writer, book.refused)

    # -- matching ---------------------------------------------------------------------------------

    def match(self, event: EventLike, *, highlight: bool = False) -> Matches:
        """Return the ids of all subscriptions that ``event`` satisfies.

        With ``highlight``, ``highlights`` of the result has the words because of which each of them matches.
        """
        snapshot = self._writer.current
        holder = LazyEvent(event, self.limits)
        work: WorkReport | None = None
        ids: list[str] = []
        owners: list[tuple[Any, int]] = []
        for part in snapshot.parts:
            ordinals, report = match_event(part, snapshot.sequence, event, holder)
            work = report if work is None else work.plus(report)._replace(events=1)
            ids += part.segment.ids_at(ordinals)
            if highlight:
                owners += [(part.segment, number) for number in ordinals]
        if work is None:
            holder(0)  # an empty index still refuses bad events
        if len(ids) > self.limits.matches_per_event:
            raise EventLimit(
                f"the event matches {len(ids)} subscriptions, more than matches_per_event = "
                f"{self.limits.matches_per_event}; raise the limit, or stream the matches with match_batches",
                limit="matches_per_event",
            )
        self._writer.recent.one(event)
        marks = highlights_of(ids, owners, holder(0), self.limits) if highlight else None
        return Matches(ids, work or _ONE_EVENT, marks)

    def match_json(self, line: bytes | str, *, highlight: bool = False) -> Matches:
        """Return what :meth:`match` returns for the JSON object in ``line``.

        A line that is no JSON object, or names an attribute twice, raises :class:`EventSyntax`.
        """
        if not isinstance(line, bytes | str):
            raise InputError(
                f"match_json takes a line of JSON, not {type(line).__name__}; match takes objects"
            )
        return self.match(decode_event(line, self.limits), highlight=highlight)

    def match_batches(
        self,
        events: Any,
        *,
        threads: int | None = None,
        batch_size: int | None = None,
        versions: bool = False,
        on_error: OnError = "report",
        audit: float | Audit | None = None,
        watch: AttributeWatch | None = None,
        device: str = CPU,
    ) -> Iterator[MatchBatch]:
        """Match a stream of events batch by batch, in order, on several cores.

        ``events`` is a table (Arrow, pandas, Polars or any object with the Arrow PyCapsule interface), an
        iterable of dictionaries or JSON lines, or a path to .jsonl or .parquet. Each batch is matched against
        the subscriptions in force when its matching begins. With ``versions`` the tables have a third column:
        the version of the subscription that was matched.

        ``refused`` of a batch lists its refused events. ``on_error="report"`` states their number in one
        warning at the end, ``"raise"`` raises the first, ``"skip"`` gives no warning. ``audit`` is a share of
        the events that the tree evaluator decides again: a difference raises
        :class:`~tamis.errors.AuditFailed`. ``watch`` collects, over several calls, which attributes events
        have.

        ``device`` names what matches: "cpu", a graphics card ("cuda", or "cuda:1" for the second), or "auto",
        which takes the card for batches that pay. A card takes larger batches and few threads.
        """
        check_on_error(on_error)
        for name, value in (("batch_size", batch_size), ("threads", threads)):
            if value is not None:
                arguments.whole(name, value)
        card = card_of(device)
        watch = AttributeWatch() if watch is None else watch
        source = watched(self._pieces(events, batch_size, card), watch)
        run = Run(self.limits, self._writer.recent, versions, _audit_of(audit), card)
        found = matched(source, lambda: self._writer.current, _workers(threads, card), run, match_piece)
        return reported(self._advised(found, watch), on_error)

    def _pieces(self, events: Any, size: int | None, card: Card | None) -> Iterator[Any]:
        """Yield the events in batches, larger ones for a card."""
        if card is None:
            return divided(pieces(events, size or BATCH, self.limits), PIECE_BYTES)
        return divided(pieces(events, size or CARD_BATCH, self.limits), CARD_PIECE_BYTES)

    def match_pairs(
        self,
        events: Any,
        *,
        threads: int | None = None,
        batch_size: int | None = None,
        on_error: OnError = "report",
        device: str = CPU,
    ) -> Iterator[PairBatch]:
        """Match a stream of events batch by batch, as :meth:`match_batches` does, to numbers instead of ids.

        To write the ids of millions of matches takes longer than to find them on a card.
        """
        check_on_error(on_error)
        for name, value in (("batch_size", batch_size), ("threads", threads)):
            if value is not None:
                arguments.whole(name, value)
        card = card_of(device)
        run = Run(self.limits, self._writer.recent, card=card)
        source = self._pieces(events, batch_size, card)
        found = matched(source, lambda: self._writer.current, _workers(threads, card), run, match_pairs)
        return reported(found, on_error)

    @staticmethod
    def _advised(batches: Iterator[MatchBatch], watch: AttributeWatch) -> Iterator[MatchBatch]:
        """Yield the batches; put the advice into the work report of the one that completes enough events."""
        for batch in batches:
            if watch.saw(batch.events, batch.seen):
                batch = batch._replace(work=batch.work._replace(advice=watch.advice()))
            yield batch

    def match_many(
        self,
        events: Any,
        *,
        threads: int | None = None,
        batch_size: int | None = None,
        on_error: OnError = "report",
        audit: float | Audit | None = None,
        device: str = CPU,
    ) -> MatchTable:
        """Return all matches of ``events`` as one Arrow table (event, subscription).

        ``event`` is the row number of the event. Refused events match nothing; ``refused`` of the result
        lists them. ``on_error``, ``audit`` and ``device`` are those of :meth:`match_batches`, which streams
        results of any size.
        """
        watch = AttributeWatch()
        tables, refused, work = [SCHEMA.empty_table()], [], WorkReport()
        batches = self.match_batches(
            events,
            threads=threads,
            batch_size=batch_size,
            on_error=on_error,
            audit=audit,
            watch=watch,
            device=device,
        )
        for batch in batches:
            tables.append(batch.table)
            refused += batch.refused
            work = work.plus(batch.work)
        table = pa.concat_tables(tables)
        return MatchTable(table, refused, work._replace(advice=watch.advice()), watch.events)

    @overload
    def top_k(
        self,
        event: EventLike,
        k: int = 10,
        *,
        combine: Combine = sum,
        bounded: bool | None = None,
        prefix: str = "",
    ) -> TopMatches: ...

    @overload
    def top_k(
        self,
        event: Any,
        k: int = 10,
        *,
        combine: Combine = sum,
        bounded: bool | None = None,
        prefix: str = "",
        device: str = CPU,
    ) -> TopMatches | MatchTable: ...

    def top_k(
        self,
        event: Any,
        k: int = 10,
        *,
        combine: Combine = sum,
        bounded: bool | None = None,
        prefix: str = "",
        device: str = CPU,
    ) -> TopMatches | MatchTable:
        """Return the ``k`` best matches as (id, score), best first, ties by id.

        For a table of events return a table (event, subscription, score). ``device`` is then that of
        :meth:`match_batches`; a single event is always matched on the processor.

        ``combine`` joins the scores of a conjunction's predicates; any monotone function is allowed. If it
        never exceeds the sum of the positive scores, pass ``bounded=True``: some engines then skip
        subscriptions that cannot be among the best. ``sum``, ``max`` and ``min`` are known to be bounded.
        With a ``prefix`` only subscriptions whose ids begin with it are looked at.
        """
        arguments.whole("k", k)
        arguments.text("prefix", prefix)
        sure = combine in arguments.KNOWN if bounded is None else bounded
        joint = arguments.combining(combine)
        if is_table(event):
            card = card_of(device)
            search = TopOfTable(k, joint, sure, prefix, self._scores)
            run = Run(self.limits, self._writer.recent, card=card)
            source, workers = self._pieces(event, None, card), _workers(None, card)
            found = matched(source, lambda: self._writer.current, workers, run, search.match)
            return joined(reported(found, REPORT))
        holder = LazyEvent(event, self.limits)
        weights = holder(0).weights if isinstance(event, Event) else {}
        subject = Subject(event, holder, weights)
        return TopK(self._writer.current, subject, k, joint, sure, prefix).run(self._scores)

    def _scores(self, segment: Segment) -> Scores:
        known = self._static.get(segment)
        if known is None:
            known = self._static[segment] = Scores(segment)
        return known

    def explain(self, subscription: str, event: EventLike) -> Explanation:
        """Return why ``subscription`` does or does not match ``event``, predicate by predicate."""
        return explain(self.expression(subscription), event_from(event, self.limits))

    def typical_events(self) -> Any:
        """Return a list or table of recently matched events, or the sample of :meth:`build`."""
        return self._writer.typical()

    @property
    def analysers(self) -> dict[str, str]:
        """The names of the analysers that are declared for attributes."""
        return dict(self._writer.analysers)

    # -- the subscriptions --------------------------------------------------------------------------

    def __repr__(self) -> str:
        return info.line(self.info())

    def _repr_html_(self) -> str:
        return info.tables(self.info())

    def __len__(self) -> int:
        return self._writer.current.count

    def __iter__(self) -> Iterator[str]:
        """Yield the ids in order of registration, as they are at this moment; later changes are not seen."""
        return self._writer.current.ids()

    def __contains__(self, subscription: object) -> bool:
        return self._writer.current.find(id_text(subscription)) is not None

    def subscription(self, subscription: str) -> Subscription:
        """Return the subscription with this id."""
        snapshot = self._writer.current
        return snapshot.get(_place(snapshot, subscription))

    def versions(self, subscriptions: Iterable[str]) -> list[int]:
        """Return the versions of subscriptions in the index; 0 for one that was added without a version."""
        snapshot = self._writer.current
        names = arguments.several("subscriptions", subscriptions)
        return [snapshot.version(_place(snapshot, name)) for name in names]

    def expression(self, subscription: str) -> Expr:
        """Return the expression of a subscription."""
        return self.subscription(subscription).expression

    def add(
        self,
        subscription: Any,
        expression: Any = None,
        *,
        priority: float = 0.0,
        ignore: str | Collection[str] = (),
    ) -> None:
        """Add one subscription (id, expression), or all subscriptions of a source that :meth:`build` takes.

        The subscriptions of a source, and a :class:`Subscription`, carry their own priorities.
        """
        if expression is not None:
            self._writer.add_one((subscription, expression, priority))
            return
        if priority != 0.0:
            raise InputError("priority goes with an id and an expression; those of a source have their own")
        if isinstance(subscription, Subscription):
            self._writer.add_one(subscription)
        else:
            book = read_book(
                subscription, self.limits, skip_bad=False, ignore=ignore, analysers=self._writer.analysers
            )
            self._writer.add_book(book)

    def update(self, subscription: str, expression: Any, *, priority: float | None = None) -> None:
        """Replace the expression of a subscription in one step; the priority stays unless one is passed."""
        if priority is None:
            snapshot = self._writer.current
            priority = snapshot.priority(_place(snapshot, subscription))
        self._writer.update((subscription, expression, priority))

    def remove(self, subscription: str) -> None:
        """Remove a subscription; no match that begins later sees it."""
        self._writer.remove(id_text(subscription))

    def apply(self, changes: Iterable[Change]) -> list[tuple[str, TamisError]]:
        """Apply the changes of a store's log in one step; return the refused subscriptions."""
        return apply_changes(self._writer, changes)

    def merge_in_background(self) -> None:
        """Run large merges in a thread of their own from now on, so that changes do not wait for them."""
        self._writer.in_background = True

    def merge(self) -> None:
        """Merge all subscriptions into one segment; matches stay the same and get faster."""
        self._writer.merge_all()

    # -- keeping it -----------------------------------------------------------------------------------

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        notes: dict[str, Any] | None = None,
        key: str | bytes | None = None,
    ) -> None:
        """Write the index to a folder; an index saved there before is replaced atomically.

        ``notes``, plain JSON, are saved with the index. :meth:`open` gives them back in ``notes``. With a
        ``key``, or one in ``TAMIS_INDEX_KEY``, the index is signed.
        """
        self._writer.save(arguments.path(path), arguments.plain_json("notes", notes), index_key(key))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        limits: Limits | None = None,
        head: str = DEFAULT,
        verify: bool = False,
        key: str | bytes | None = None,
    ) -> Self:
        """Open a saved index, or all shards of an index that Spark built, by memory-mapping.

        The index keeps the engine parameters and the sample that it was built with, and also its limits
        unless ``limits`` is passed. ``head`` is that of :meth:`build`. ``verify`` reads every byte even if it
        was verified before. With a ``key``, or one in ``TAMIS_INDEX_KEY``, an index that is not signed by it
        is refused.
        """
        if arguments.text("head", head) not in HEADS:
            raise unknown_head(head)
        found = storage.load(arguments.path(path), limits, verify, index_key(key))
        settings = found.manifest.settings
        sample = KeptSample.of_lines(found.sample, found.limits)
        analysers = clean_analysers(settings.analysers)
        writer = Writer(settings.engine, dict(settings.parameters), found.limits, sample, head, analysers)
        writer.restore(found.snapshot, found.places, found.manifest.applied)
        return cls(writer, notes=found.manifest.notes)

    def check(self, *, checksums: bool = True) -> None:
        """Check the invariants of all segments; raise :class:`IndexCorrupt` if one is broken.

        Every byte of a segment that is mapped from a file is compared with its checksum, unless ``checksums``
        is false.
        """
        for layer in self._writer.current.layers:
            layer.segment.check(checksums)

    def info(self) -> dict[str, Any]:
        """Return figures about the index and its segments."""
        return info.figures(self._writer)


def _workers(threads: int | None, card: Card | None) -> int | None:
    return threads or STREAMS if card is not None else threads


def _audit_of(audit: float | Audit | None) -> Audit | None:
    return audit if audit is None or isinstance(audit, Audit) else Audit(audit)


def _place(snapshot: Snapshot, subscription: str) -> tuple[int, int]:
    place = snapshot.find(id_text(subscription))
    if place is None:
        raise UnknownSubscription(
            f"no subscription has the id {subscription[:80]!r}", subscription=subscription
        )
    return place
