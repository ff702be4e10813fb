"""Match events against the snapshot in force: one, many, a stream, the best, and the reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload
from weakref import WeakKeyDictionary

import pyarrow as pa

from tamis.columns.tables import is_table
from tamis.contract.on_error import REPORT, OnError, check_on_error
from tamis.errors import EventLimit, InputError
from tamis.expression.tree import Expr
from tamis.index import arguments
from tamis.index.audit import Audit
from tamis.index.batches import PIECE_BYTES, SCHEMA, MatchBatch, Run, divided, match_piece, pieces
from tamis.index.card import BATCH as CARD_BATCH
from tamis.index.card import CPU, STREAMS, card_of
from tamis.index.card import PIECE_BYTES as CARD_PIECE_BYTES
from tamis.index.explain import Explanation, explain
from tamis.index.highlighted import highlights_of
from tamis.index.match import LazyEvent, match_event
from tamis.index.pairs import PairBatch, match_pairs
from tamis.index.refused_events import reported
from tamis.index.results import Matches, MatchTable
from tamis.index.scores import Combine, Scores, Subject
from tamis.index.threads import matched
from tamis.index.top import TopK, TopMatches
from tamis.index.top_table import TopOfTable, joined
from tamis.index.unseen import AttributeWatch, watched
from tamis.index.work import WorkReport
from tamis.index.writer import Writer
from tamis.limits import Limits
from tamis.segment import Segment
from tamis.values.event import Event, EventLike, decode_event, event_from

BATCH = 4096
_ONE_EVENT = WorkReport(1)


T = TypeVar("T")


class _How(NamedTuple):
    """How a stream of events is matched."""

    device: str
    threads: int | None = None
    batch_size: int | None = None
    versions: bool = False
    audit: Audit | None = None
    watch: AttributeWatch | None = None


class Matching:
    """The methods of an index that match; its other methods change the subscriptions."""

    _writer: Writer
    _static: WeakKeyDictionary[Segment, Scores]
    limits: Limits

    if TYPE_CHECKING:

        def expression(self, subscription: str) -> Expr:
            """Return the expression of a subscription."""

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
        watch = AttributeWatch() if watch is None else watch
        how = _How(device, threads, batch_size, versions, _audit_of(audit), watch)
        return reported(self._advised(self._matched(events, how, match_piece), watch), on_error)

    def _matched(self, events: Any, how: _How, match: Callable[..., T]) -> Iterator[T]:
        """Yield what ``match`` returns for each batch of events; batches for a card are larger."""
        for name, value in (("batch_size", how.batch_size), ("threads", how.threads)):
            if value is not None:
                arguments.whole(name, value)
        card = card_of(how.device, self._writer.current)
        size, most = (BATCH, PIECE_BYTES) if card is None else (CARD_BATCH, CARD_PIECE_BYTES)
        threads = how.threads if card is None else how.threads or STREAMS
        source = divided(pieces(events, how.batch_size or size, self.limits), most)
        if how.watch is not None:
            source = watched(source, how.watch)
        run = Run(self.limits, self._writer.recent, how.versions, how.audit, card)
        return matched(source, lambda: self._writer.current, threads, run, match)

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
        return reported(self._matched(events, _How(device, threads, batch_size), match_pairs), on_error)

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
            search = TopOfTable(k, joint, sure, prefix, self._scores)
            return joined(reported(self._matched(event, _How(device), search.match), REPORT))
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


def _audit_of(audit: float | Audit | None) -> Audit | None:
    return audit if audit is None or isinstance(audit, Audit) else Audit(audit)
