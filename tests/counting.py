"""Count work in tests that must show that it stays small: lines of Python, statements of SQL."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import sqlalchemy as sa

from tamis.store import Store


def lines_run(work: Callable[[], Any]) -> int:
    """Return the number of lines of Python that ``work`` runs in this thread, in all modules."""
    count = 0

    def trace(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """Yield the statements that a store sends to its database within the block."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    sa.event.listen(store.database.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        sa.event.remove(store.database.engine, "before_cursor_execute", note)


@contextmanager
def sqlite_steps(connection: sa.Connection, every: int = 10) -> Iterator[list[int]]:
    """Yield a list with one entry per ``every`` steps of SQLite's machine on a connection in the block."""
    steps: list[int] = []
    raw = connection.connection.driver_connection
    assert raw is not None
    raw.set_progress_handler(lambda: steps.append(1), every)
    try:
        yield steps
    finally:
        raw.set_progress_handler(None, 0)
