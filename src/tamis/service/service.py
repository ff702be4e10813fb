"""The state behind the operations: store, live index, keys, rate limits, threads, and their lifetime."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

from sqlalchemy.engine import Connection

from tamis.contract.addresses import Network
from tamis.errors import ServiceBusy, TamisError
from tamis.live import Live
from tamis.service.access import Access
from tamis.service.concurrency import ConcurrencyLimiter
from tamis.service.delivery_checks import DeliveryChecker, Policy
from tamis.service.match_feed import MatchFeed
from tamis.service.metrics import Metrics
from tamis.service.rate_limits import TokenBuckets
from tamis.store import Store, idempotency, registry
from tamis.store.registry import Outcome, Put
from tamis.store.timestamps import now

THREADS = 8
THREADS_PER_OWNER = THREADS // 2  # per owner, so that one owner cannot occupy all threads
REQUEST_OWNER: ContextVar[str | None] = ContextVar("asking", default=None)  # the owner of the current request
HOUSEKEEPING = 600.0  # seconds

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Options of the service."""

    open_metrics: bool = False  # /metrics without a key
    allowed: tuple[Network, ...] = ()  # private networks that webhooks may call
    deliveries: Policy = "warn"  # for a delivery that cannot be sent here; "strict" refuses it


class Service:
    """One running service. Blocking calls run in its threads, never in the event loop."""

    def __init__(self, store: Store, live: Live, settings: Settings | None = None) -> None:
        self.store, self.live, self.settings = store, live, settings or Settings()
        self.limits = store.limits
        self.delivery_checker = DeliveryChecker(self.settings.deliveries, self.settings.allowed)
        self.access = Access(self.read, self.limits)
        self.requests, self.events, self.changes = TokenBuckets(), TokenBuckets(), TokenBuckets()
        self.metrics = Metrics(self)
        self.match_feed = MatchFeed(self.read, self.limits)
        self.is_stopping = False
        self.open_requests = ConcurrencyLimiter(
            "requests", "requests_at_once", "requests_at_once", self.limits.requests_at_once
        )
        self.open_streams = ConcurrencyLimiter(
            "streams", "streams", "streams_at_once", self.limits.streams_at_once
        )
        self._put_all = self._put  # the committer groups writes by this object, so it must stay the same
        self._threads = ThreadPoolExecutor(THREADS, "tamis-api")
        self._owner_threads: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(THREADS_PER_OWNER)
        )
        self._tasks: list[asyncio.Task[None]] = []

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the service's background tasks until the block ends."""
        loop = asyncio.get_running_loop()
        self.live.on_matches(lambda _: self._wake_match_feed(loop))
        self._tasks = [loop.create_task(self.match_feed.run()), loop.create_task(self._keep_house())]
        try:
            yield
        finally:
            self.stop()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._threads.shutdown()

    def _wake_match_feed(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self.match_feed.wake)

    def stop(self) -> None:
        """Refuse new long requests and end the streams; requests in progress are completed."""
        self.is_stopping = True
        self.match_feed.stop()

    # -- work ------------------------------------------------------------------------------------------

    async def in_thread(self, work: Callable[..., T], *args: Any) -> T:
        """Run a blocking or long call in a thread; each owner can use only half of the threads."""
        owner = REQUEST_OWNER.get()
        async with contextlib.nullcontext() if owner is None else self._owner_threads[owner]:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, functools.partial(work, *args))

    async def read(self, request: Callable[[Connection], T]) -> T:
        """Run a query on the store."""
        return await self.in_thread(self._read, request)

    def _read(self, request: Callable[[Connection], T]) -> T:
        with self.store.database.reading() as connection:
            return request(connection)

    async def commit(self, change: Callable[[Connection], T]) -> T:
        """Change the store; return after the commit."""
        return await self.wait_for(self.live.commit(change))

    async def put(self, write: Put) -> Outcome:
        """Create or change a subscription; concurrent calls share a transaction."""
        outcome: Outcome = await self.wait_for(self.live.commit_together(self._put_all, write))
        return outcome

    def _put(self, connection: Connection, writes: list[Put]) -> Sequence[Outcome | TamisError]:
        return registry.put(connection, writes, self.limits)

    async def wait_for(self, future: Future[T]) -> T:
        """Wait for a future of the committer; a cancelled caller does not interrupt the change."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = loop.create_future()
        future.add_done_callback(lambda done: _hand_over(done, waiter, loop))
        return await waiter

    async def long_work(self, work: Callable[..., T], *args: Any) -> T:
        """Run one step of a long request in a thread; raise ``ServiceBusy`` if the service is stopping."""
        self.refuse_if_stopping()
        return await self.in_thread(work, *args)

    def refuse_if_stopping(self) -> None:
        """Raise ``ServiceBusy`` if the service is stopping."""
        if self.is_stopping:
            raise ServiceBusy("the service is about to stop; ask again")

    def _forget_responses(self, connection: Connection) -> None:
        idempotency.forget(connection, now() - self.limits.answer_seconds * 1_000_000)

    async def _keep_house(self) -> None:
        """Delete expired idempotency records from time to time."""
        while True:
            try:
                await self.commit(self._forget_responses)
            except TamisError as bad:
                _log.warning("cannot delete expired idempotency records now: %s", bad.message)
            await asyncio.sleep(HOUSEKEEPING)


def _hand_over(done: Future[T], waiter: asyncio.Future[T], loop: asyncio.AbstractEventLoop) -> None:
    """Pass a result from the committer's thread to the event loop, faster than asyncio's own bridge."""

    def settle() -> None:
        if waiter.cancelled():
            return
        if (bad := done.exception()) is not None:
            waiter.set_exception(bad)
        else:
            waiter.set_result(done.result())

    if not loop.is_closed():
        loop.call_soon_threadsafe(settle)
