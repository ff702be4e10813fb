"""The public face: writes, matching at once, and the matching of what is published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.engine import Connection

from tamis.index.audit import Audit
from tamis.index.index import Index
from tamis.live.committer import Committer, Together
from tamis.live.following import Following
from tamis.live.matcher import Matcher, Step
from tamis.live.overlay import Matched, MatchedPage
from tamis.live.rates import Rates
from tamis.store import Store, events, positions, subscriptions
from tamis.store.events import NewEvent, Published
from tamis.store.positions import LIVE
from tamis.values.event import Event

T = TypeVar("T")


class Live:
    """A store's subscriptions, matched as events are published. Safe to use from many threads."""

    def __init__(self, store: Store, following: Following) -> None:
        self.store = store
        self._following = following
        self._listeners: list[Callable[[Step], None]] = []
        self.rates = Rates()
        self._matcher = Matcher(store, following, self._told)
        self._committer = Committer(store, self._matcher.wake)

    @classmethod
    def open(
        cls,
        store: Store,
        folder: Path | None = None,
        engine: str = "hybrid",
        audit: Audit | None = None,
    ) -> Live:
        """Return the index as of the first event that waits: opened from ``folder``, or built from the log.

        ``audit`` decides a share of the published events again.
        """
        with store.database.reading() as connection:
            place = positions.read(connection, LIVE)
            last = subscriptions.last_change(connection)
            first = events.next_event_change(connection, place.value)
        return cls(store, Following(store, folder, engine, last if first is None else first, audit))

    def start(self) -> None:
        """Begin to write and to match."""
        self._committer.start()
        self._matcher.start()

    def stop(self) -> None:
        """Write what waits, finish the batch at hand, save the index."""
        self._committer.stop()
        self._matcher.stop()

    def __enter__(self) -> Live:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def index(self) -> Index:
        """The index, for questions about it; it may be a few changes behind."""
        return self._following.index

    @property
    def is_warm(self) -> bool:
        """Whether it matches at once: kernels are compiled at the first start on a machine."""
        return self._matcher.is_warm

    # -- writing -------------------------------------------------------------------------------------

    def commit(self, run: Callable[[Connection], T]) -> Future[T]:
        """Do ``run`` in a transaction, perhaps with others; the answer comes after its commit."""
        return self._committer.commit(run)

    def commit_together(self, together: Together, item: Any) -> Future[Any]:
        """Like :meth:`commit` for what is cheaper in bulk: ``together`` gets the items of all who wait."""
        return self._committer.commit_together(together, item)

    def publish(self, owner: str, rows: Sequence[NewEvent]) -> Future[list[Published]]:
        """Accept events; the answer comes after the commit."""
        return self._committer.commit_together(events.publish_all, (owner, rows))

    # -- matching ------------------------------------------------------------------------------------

    def match(self, event: Event | dict[str, Any], owner: str | None) -> list[Matched]:
        """What an event matches as things stand, without publishing it; of one owner's, or of all."""
        return self._following.match_now(event, owner, self.store.limits.matches_per_event)

    def match_page(
        self, event: Event | dict[str, Any], owner: str | None, after: str, items: int
    ) -> MatchedPage:
        """So many of the same in the order of their ids, after one of them; an empty text: the first."""
        most = self.store.limits.matches_per_event
        return self._following.page_now(event, owner, most, after, items)

    def top(self, event: Event | dict[str, Any], k: int, owner: str | None) -> list[tuple[str, float]]:
        """Return the ``k`` best of what an event matches, with their scores."""
        return self._following.top_now(event, k, owner)

    # -- watching ------------------------------------------------------------------------------------

    def on_step(self, listener: Callable[[Step], None]) -> None:
        """Call ``listener`` after each batch of events, in the matcher's thread."""
        self._listeners.append(listener)

    def on_matches(self, listener: Callable[[int], None]) -> None:
        """Call ``listener`` with the number of new rows whenever the outbox has grown."""
        self.on_step(lambda step: listener(step.matches) if step.matches else None)

    def _told(self, step: Step) -> None:
        self.rates.add(step.events, step.matches)
        for listener in self._listeners:
            listener(step)

    def lag(self) -> int:
        """Return how many events wait to be matched."""
        with self.store.database.reading() as connection:
            return events.last_event(connection) - positions.read(connection, LIVE).value

    def info(self) -> dict[str, Any]:
        """Figures about the index, how far it has come, and how much it does."""
        return {
            **self.index.info(),
            "position": self._following.position,
            "lag": self.lag(),
            "rates": self.rates.per_second(),
        }
