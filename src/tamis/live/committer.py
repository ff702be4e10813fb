"""Group commit: combines many small writes in one transaction and one disk flush.

A job that fails is rolled back alone, to its savepoint. Results are returned only after the commit; if the
commit fails, nothing was on_commit and every job gets the error.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from tamis.errors import StoreUnavailable, TamisError
from tamis.failpoint import failpoint
from tamis.store import Store
from tamis.store.bulk import lock_counter
from tamis.store.tables import CHANGE_ORDER, EVENT_ORDER

T = TypeVar("T")
Together = Callable[[Connection, list[Any]], Sequence[Any]]

JOBS_PER_COMMIT = 512  # jobs in a transaction
_log = logging.getLogger(__name__)


class _Job(NamedTuple):
    future: Future[Any]
    run: Callable[[Connection], Any] | None
    together: Together | None = None  # instead of ``run``: handles all such jobs of a transaction at once
    item: Any = None


class Committer:
    """A thread that writes; any thread may submit jobs."""

    def __init__(self, store: Store, on_commit: Callable[[], None]) -> None:
        self._store = store
        self._on_commit = on_commit  # called after each commit
        self._waiting: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="tamis-committer", daemon=True)
        self._stopped = False

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Write all pending jobs, then stop; later jobs are refused."""
        self._stopped = True
        self._waiting.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def commit(self, run: Callable[[Connection], T]) -> Future[T]:
        """Run ``run`` in a transaction; the future completes after the commit."""
        return self._submit(_Job(Future(), run))

    def commit_together(self, together: Together, item: Any) -> Future[Any]:
        """Like :meth:`commit`, for writes that are cheaper in bulk: ``together`` gets all pending items."""
        return self._submit(_Job(Future(), None, together, item))

    def _submit(self, job: _Job) -> Future[Any]:
        if self._stopped:
            job.future.set_exception(StoreUnavailable("the service is stopping; try again"))
        else:
            self._waiting.put(job)
        return job.future

    def _run(self) -> None:
        while (job := self._waiting.get()) is not None:
            jobs = [job]
            while len(jobs) < JOBS_PER_COMMIT:
                try:
                    more = self._waiting.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    self._waiting.put(None)
                    break
                jobs.append(more)
            self._commit([job for job in jobs if job.future.set_running_or_notify_cancel()])

    def _commit(self, jobs: list[_Job]) -> None:
        done: list[tuple[_Job, Any]] = []
        try:
            with self._store.database.writing() as connection:
                # Always in this order: two services that lock both counters cannot deadlock.
                lock_counter(connection, CHANGE_ORDER)
                lock_counter(connection, EVENT_ORDER)
                for group in _grouped(jobs):
                    done += self._done(connection, group)
                failpoint("live.before_commit")
            failpoint("live.after_commit")
        except Exception as bad:
            if not isinstance(bad, TamisError):
                _log.exception("a transaction failed")
            for job in jobs:
                job.future.set_exception(bad)
            return
        for job, result in done:
            if isinstance(result, Exception):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)
        self._on_commit()

    def _done(self, connection: Connection, group: list[_Job]) -> list[tuple[_Job, Any]]:
        try:
            with connection.begin_nested():
                return list(zip(group, _results(connection, group), strict=True))
        except SQLAlchemyError as bad:
            if len(group) == 1:
                return [(group[0], self._store.database.failure(bad))]
        except Exception as bad:
            if len(group) == 1:
                return [(group[0], bad)]
        # One of them is at fault: run each separately.
        return [pair for job in group for pair in self._done(connection, [job])]


def _grouped(jobs: list[_Job]) -> list[list[_Job]]:
    """Return groups of adjacent jobs that can run together; the order of all jobs stays."""
    groups: list[list[_Job]] = []
    for job in jobs:
        if groups and job.together is not None and groups[-1][-1].together is job.together:
            groups[-1].append(job)
        else:
            groups.append([job])
    return groups


def _results(connection: Connection, group: list[_Job]) -> Sequence[Any]:
    first = group[0]
    if first.together is not None:
        return first.together(connection, [job.item for job in group])
    assert first.run is not None
    return [first.run(connection)]
