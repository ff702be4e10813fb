"""Stores accepted events, each once and in order, with the number of the last change before it.

A transaction that adds events shares the change counter until it commits, so no change can come between
reading the counter and the commit. A reader that sees change *n* also sees every event before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.contract.names import new_name, stored_name
from tamis.store.bulk import advance_counter, insert, lock_counter, one_of, share_counter
from tamis.store.tables import CHANGE_ORDER, EVENT_ORDER, counters, events
from tamis.store.timestamps import now

ACCEPTED, DUPLICATE, CONFLICT = "accepted", "duplicate", "conflict"
_E = events.c


class NewEvent(NamedTuple):
    """An event that its owner publishes."""

    id: str | None  # the owner's id for it; ``None``: one is generated
    time: int | None  # microseconds
    text: str  # JSON: its attributes


class Published(NamedTuple):
    """The outcome of publishing: accepted, a duplicate of an earlier event, or in conflict with it."""

    id: str
    status: str


class StoredEvent(NamedTuple):
    """A stored event that waits to be matched."""

    id: int
    event_id: str
    known: int
    event_time: int | None
    text: str
    received_at: int


def publish_all(
    connection: Connection, requests: Sequence[tuple[str, Sequence[NewEvent]]]
) -> list[list[Published]]:
    """Accept the events of several requests, in order.

    An event with a known id and the same text is a duplicate and is not matched again.
    """
    known = share_counter(connection, CHANGE_ORDER)
    last = lock_counter(connection, EVENT_ORDER)
    ids = [stored_name(owner, row.id) for owner, rows in requests for row in rows if row.id is not None]
    there = _texts(connection, ids) if ids else {}  # a generated id cannot exist yet
    fresh: list[tuple[str, str, int | None, str]] = []
    results = []
    for owner, rows in requests:
        results.append([_take(owner, row, there, fresh) for row in rows])
    _append(connection, fresh, last, known)
    return results


def waiting(connection: Connection, after: int, most: int) -> list[StoredEvent]:
    """Return the next events, in order."""
    query = sa.select(*(_E[name] for name in StoredEvent._fields)).where(_E.id > after)
    return [StoredEvent(*row) for row in connection.execute(query.order_by(_E.id).limit(most))]


def next_event_change(connection: Connection, after: int) -> int | None:
    """Return the last change before the first waiting event, or ``None`` if no event waits."""
    query = sa.select(_E.known).where(_E.id > after).order_by(_E.id).limit(1)
    return connection.execute(query).scalar()


def last_event(connection: Connection) -> int:
    """Return the number of the last event, or 0 if there is none."""
    query = sa.select(counters.c.value).where(counters.c.name == EVENT_ORDER)
    return int(connection.execute(query).scalar_one())


def texts(connection: Connection, event_ids: Sequence[str]) -> dict[str, str]:
    """Return the attributes of events as JSON by stored id, without those that were not published here."""
    return {key: text for key, (text, _) in _texts(connection, event_ids).items()}


def _texts(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[str, int | None]]:
    among = one_of(connection, _E.event_id, list(ids))
    rows = connection.execute(sa.select(_E.event_id, _E.text, _E.event_time).where(among))
    return {row.event_id: (row.text, row.event_time) for row in rows}


def _take(
    owner: str,
    row: NewEvent,
    there: dict[str, tuple[str, int | None]],
    fresh: list[tuple[str, str, int | None, str]],
) -> Published:
    name = new_name() if row.id is None else row.id
    key, value = stored_name(owner, name), (row.text, row.time)
    if key in there:
        return Published(name, DUPLICATE if there[key] == value else CONFLICT)
    there[key] = value
    fresh.append((key, owner, row.time, row.text))
    return Published(name, ACCEPTED)


def _append(
    connection: Connection, fresh: list[tuple[str, str, int | None, str]], last: int, known: int
) -> None:
    if not fresh:
        return
    ids, owners, times, bodies = zip(*fresh, strict=True)
    columns = {
        "id": pa.array(range(last + 1, last + 1 + len(fresh)), pa.int64()),
        "event_id": pa.array(ids, pa.string()),
        "owner": pa.array(owners, pa.string()),
        "event_time": pa.array(times, pa.int64()),
        "text": pa.array(bodies, pa.string()),
    }
    insert(connection, events, pa.table(columns), {"known": known, "received_at": now()}, "")
    advance_counter(connection, EVENT_ORDER, len(fresh))
