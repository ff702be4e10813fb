"""What the operations work on: the store, the living index, keys, rates, threads; and its life."""

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
from tamis.service.deliverable import Deliverable, Policy
from tamis.service.metrics import Metrics
from tamis.service.rates import Buckets
from tamis.service.tail import Tail
from tamis.store import Store, answers, registry
from tamis.store.moments import now
from tamis.store.registry import Outcome, Put

THREADS = 8
SHARE = THREADS // 2  # of one owner: what somebody asks for must not keep everybody waiting
ASKING: ContextVar[str | None] = ContextVar("asking", default=None)  # the owner whose request is at hand
HOUSEKEEPING = 600.0  # seconds

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the service is run."""

    open_metrics: bool = False  # /metrics without a key
    allowed: tuple[Network, ...] = ()  # what webhooks may call although it is not public
    deliveries: Policy = "warn"  # about a delivery that cannot be sent here; strict: refuse it


class Service:
    """One running service. What blocks runs in its threads, never in the loop."""

    def __init__(self, store: Store, live: Live, settings: Settings | None = None) -> None:
        self.store, self.live, self.settings = store, live, settings or Settings()
        self.limits = store.limits
        self.deliverable = Deliverable(self.settings.deliveries, self.settings.allowed)
        self.access = Access(self.read, self.limits)
        self.requests, self.events, self.changes = Buckets(), Buckets(), Buckets()
        self.metrics = Metrics(self)
        self.tail = Tail(self.read, self.limits)
        self.is_stopping = False
        self.open_requests = ConcurrencyLimiter(
            "requests", "requests_at_once", "requests_at_once", self.limits.requests_at_once
        )
        self.open_streams = ConcurrencyLimiter(
            "streams", "streams", "streams_at_once", self.limits.streams_at_once
        )
        self._put_all = self._put  # one object: the committer puts together what is done by the same
        self._threads = ThreadPoolExecutor(THREADS, "tamis-api")
        self._shares: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(SHARE))
        self._tasks: list[asyncio.Task[None]] = []

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The service's own tasks, from start to end."""
        loop = asyncio.get_running_loop()
        self.live.on_matches(lambda _: self._wake_tail(loop))
        self._tasks = [loop.create_task(self.tail.run()), loop.create_task(self._keep_house())]
        try:
            yield
        finally:
            self.stop()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._threads.shutdown()

    def _wake_tail(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self.tail.wake)

    def stop(self) -> None:
        """Say no to what comes, and end the streams; what was begun goes on to its end."""
        self.is_stopping = True
        self.tail.stop()

    # -- work ------------------------------------------------------------------------------------------

    async def in_thread(self, work: Callable[..., T], *args: Any) -> T:
        """Do what blocks or takes long, beside the loop; of one owner only so much at a time."""
        owner = ASKING.get()
        async with contextlib.nullcontext() if owner is None else self._shares[owner]:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, functools.partial(work, *args))

    async def read(self, question: Callable[[Connection], T]) -> T:
        """Ask the store."""
        return await self.in_thread(self._read, question)

    def _read(self, question: Callable[[Connection], T]) -> T:
        with self.store.database.reading() as connection:
            return question(connection)

    async def commit(self, change: Callable[[Connection], T]) -> T:
        """Change the store; the answer comes after the commit."""
        return await self.done(self.live.commit(change))

    async def put(self, write: Put) -> Outcome:
        """Make or alter a subscription, together with all who want the same at this moment."""
        outcome: Outcome = await self.done(self.live.commit_together(self._put_all, write))
        return outcome

    def _put(self, connection: Connection, writes: list[Put]) -> Sequence[Outcome | TamisError]:
        return registry.put(connection, writes, self.limits)

    async def done(self, future: Future[T]) -> T:
        """What the committer makes of it. Whoever asked may go: the change is made or not, as a whole."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = loop.create_future()
        future.add_done_callback(lambda done: _hand_over(done, waiter, loop))
        return await waiter

    async def work(self, work: Callable[..., T], *args: Any) -> T:
        """Return a part of something long; not when the service stops."""
        self.refuse_if_stopping()
        return await self.in_thread(work, *args)

    def refuse_if_stopping(self) -> None:
        """Refuse work that would go on for long."""
        if self.is_stopping:
            raise ServiceBusy("the service is about to stop; ask again")

    def _forget_answers(self, connection: Connection) -> None:
        answers.forget(connection, now() - self.limits.answer_seconds * 1_000_000)

    async def _keep_house(self) -> None:
        """Drop answers that nobody will ask for again."""
        while True:
            try:
                await self.commit(self._forget_answers)
            except TamisError as bad:
                _log.warning("old answers stay for now: %s", bad.message)
            await asyncio.sleep(HOUSEKEEPING)


def _hand_over(done: Future[T], waiter: asyncio.Future[T], loop: asyncio.AbstractEventLoop) -> None:
    """From the committer's thread to the loop's: asyncio's own bridge costs several times as much."""

    def settle() -> None:
        if waiter.cancelled():
            return
        if (bad := done.exception()) is not None:
            waiter.set_exception(bad)
        else:
            waiter.set_result(done.result())

    if not loop.is_closed():
        loop.call_soon_threadsafe(settle)
