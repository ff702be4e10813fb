"""Match pieces of a stream of events in several threads, and yield the results in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from tamis.index.batches import Run, enumerate_rows
from tamis.index.snapshot import Snapshot

Batch = TypeVar("Batch")
Match = Callable[[Snapshot, Any, int, Run], Batch]


def matched(
    source: Iterator[Any], current: Callable[[], Snapshot], threads: int | None, run: Run, match: Match[Batch]
) -> Iterator[Batch]:
    """Yield what ``match`` finds in each piece, against the snapshot that is current when it begins."""
    workers = threads or os.cpu_count() or 1
    if workers == 1:
        for first, piece in enumerate_rows(source):
            yield match(current(), piece, first, run)
        return
    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[Batch]] = deque()
    try:
        for first, piece in enumerate_rows(source):
            waiting.append(pool.submit(match, current(), piece, first, run))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # The garbage collector may close an abandoned iterator in a thread of this very pool, which
        # cannot wait for itself. Nobody reads what is still queued.
        pool.shutdown(wait=False, cancel_futures=True)
