"""The public class of the live index: writing, matching on request, and matching of published events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.engine import Connection

from tamis.head.structures import DEFAULT
from tamis.index.audit import Audit
from tamis.index.index import Index
from tamis.live.committer import Committer, Together
from tamis.live.index_follower import IndexFollower
from tamis.live.matcher import Matcher, Step
from tamis.live.pending_changes import Matched, MatchedPage
from tamis.live.rates import Rates
from tamis.store import Store, events, positions, subscriptions
from tamis.store.events import NewEvent, Published
from tamis.store.positions import LIVE
from tamis.values.event import Event

T = TypeVar("T")


class Live:
    """A store's subscriptions, matched against events as they are published. Threads may share it."""

    def __init__(self, store: Store, follower: IndexFollower) -> None:
        self.store = store
        self._follower = follower
        self._listeners: list[Callable[[Step], None]] = []
        self.rates = Rates()
        self._matcher = Matcher(store, follower, self._notify)
        self._committer = Committer(store, self._matcher.wake)

    @classmethod
    def open(
        cls,
        store: Store,
        folder: Path | None = None,
        engine: str = "hybrid",
        head: str = DEFAULT,
        audit: Audit | None = None,
    ) -> Live:
        """Open the index at the change of the first waiting event, from ``folder`` or built from the log.

        ``audit`` matches a share of the published events again.
        """
        with store.database.reading() as connection:
            place = positions.read(connection, LIVE)
            last = subscriptions.last_change(connection)
            first = events.next_event_change(connection, place.value)
        return cls(store, IndexFollower(store, folder, engine, last if first is None else first, audit, head))

    def start(self) -> None:
        """Start writing and matching."""
        self._committer.start()
        self._matcher.start()

    def stop(self) -> None:
        """Write all pending jobs, finish the current batch, and save the index."""
        self._committer.stop()
        self._matcher.stop()

    def __enter__(self) -> Live:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def index(self) -> Index:
        """The index for inspection; it may be a few changes behind."""
        return self._follower.index

    @property
    def is_warm(self) -> bool:
        """Whether matching is fast already: kernels are compiled at the first start on a machine."""
        return self._matcher.is_warm

    # -- writing -------------------------------------------------------------------------------------

    def commit(self, run: Callable[[Connection], T]) -> Future[T]:
        """Run ``run`` in a transaction that may be shared; the future completes after the commit."""
        return self._committer.commit(run)

    def commit_together(self, together: Together, item: Any) -> Future[Any]:
        """Like :meth:`commit`, for writes that are cheaper in bulk: ``together`` gets all pending items."""
        return self._committer.commit_together(together, item)

    def publish(self, owner: str, rows: Sequence[NewEvent]) -> Future[list[Published]]:
        """Accept events; the future completes after the commit."""
        return self._committer.commit_together(events.publish_all, (owner, rows))

    # -- matching ------------------------------------------------------------------------------------

    def match(self, event: Event | dict[str, Any], owner: str | None) -> list[Matched]:
        """Return the current matches of an unpublished event, among one owner's subscriptions or all."""
        return self._follower.match_now(event, owner, self.store.limits.matches_per_event)

    def match_page(
        self, event: Event | dict[str, Any], owner: str | None, after: str, items: int
    ) -> MatchedPage:
        """Return a page of the current matches in the order of their ids, after an id or from the start."""
        most = self.store.limits.matches_per_event
        return self._follower.page_now(event, owner, most, after, items)

    def top(self, event: Event | dict[str, Any], k: int, owner: str | None) -> list[tuple[str, float]]:
        """Return the ``k`` best current matches of an event, with their scores."""
        return self._follower.top_now(event, k, owner)

    # -- observing -----------------------------------------------------------------------------------

    def on_step(self, listener: Callable[[Step], None]) -> None:
        """Call ``listener`` after each batch of events, in the matcher's thread."""
        self._listeners.append(listener)

    def on_matches(self, listener: Callable[[int], None]) -> None:
        """Call ``listener`` with the number of new rows whenever the outbox has grown."""
        self.on_step(lambda step: listener(step.matches) if step.matches else None)

    def _notify(self, step: Step) -> None:
        self.rates.add(step.events, step.matches)
        for listener in self._listeners:
            listener(step)

    def lag(self) -> int:
        """Return the number of events that wait to be matched."""
        with self.store.database.reading() as connection:
            return events.last_event(connection) - positions.read(connection, LIVE).value

    def info(self) -> dict[str, Any]:
        """Return figures about the index, its position, its lag and its rates."""
        return {
            **self.index.info(),
            "position": self._follower.position,
            "lag": self.lag(),
            "rates": self.rates.per_second(),
        }
