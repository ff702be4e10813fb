"""Deliveries as owners see them: what became of each notification, dead letters, and another try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.contract.token import token_of
from tamis.store.bulk import one_of
from tamis.store.moments import now
from tamis.store.positions import NOTIFY
from tamis.store.tables import deliveries, outbox, positions

WAITING, CLAIMED, DELIVERED, DEAD, CANCELLED = "waiting", "claimed", "delivered", "dead", "cancelled"
OVER = (DELIVERED, DEAD, CANCELLED)

_D, _O = deliveries.c, outbox.c


class Notification(NamedTuple):
    """A row of the outbox, and its delivery; without one (``state`` is none) it is kept for whoever asks."""

    id: int  # of the row of the outbox: outside it is ``msg_<id>``
    subscription_id: str
    kind: str
    event_id: str
    version: int
    score: float | None
    event_time: int | None
    created_at: int
    state: str | None
    attempts: int | None
    due: int | None  # of one that waits: when it is tried next
    error: str | None
    finished_at: int | None
    settings: str | None
    query: str  # what found it


class Lag(NamedTuple):
    """How far deliveries are behind."""

    rows: int  # of the outbox that have not been looked at
    waiting: int  # deliveries that are due
    seconds: float  # since the first of them was due
    dead: int


def history(
    connection: Connection, subscription_id: str, before: int | None, most: int
) -> tuple[list[Notification], int | None]:
    """Return the notifications of a subscription, the latest first, and where the next page goes on."""
    mine = sa.and_(_O.token == token_of(subscription_id), _O.subscription_id == subscription_id)
    return _page(connection, mine, before, most)


def dead_letters(
    connection: Connection, owner: str | None, before: int | None, most: int
) -> tuple[list[Notification], int | None]:
    """Deliveries that were given up, of one owner or of all, the latest first."""
    mine = _D.state == DEAD if owner is None else sa.and_(_D.owner == owner, _D.state == DEAD)
    return _page(connection, mine, before, most)


def find(connection: Connection, outbox_id: int) -> Notification | None:
    """Return one notification."""
    found, _ = _page(connection, _O.id == outbox_id, None, 1)
    return found[0] if found else None


def _page(
    connection: Connection, which: sa.ColumnElement[bool], before: int | None, most: int
) -> tuple[list[Notification], int | None]:
    columns = [_D[name] if name in _OF_DELIVERY else _O[name] for name in Notification._fields]
    both = outbox.outerjoin(deliveries, _D.outbox_id == _O.id)
    query = sa.select(*columns).select_from(both).where(which).order_by(_O.id.desc()).limit(most + 1)
    rows = connection.execute(query if before is None else query.where(_O.id < before))
    found = [Notification(*row) for row in rows]
    return found[:most], found[most - 1].id if len(found) > most else None


_OF_DELIVERY = {"state", "attempts", "due", "error", "finished_at", "settings"}


def again(connection: Connection, outbox_ids: Sequence[int], owner: str | None, states: Sequence[str]) -> int:
    """Deliver once more what is in one of ``states`` and over; how many that are.

    The id stays, so a receiver that has it already may drop it. The settings are those of now.
    """
    wanted = [state for state in states if state in OVER]
    mine = [one_of(_D.outbox_id, list(outbox_ids), _is_sqlite(connection)), _D.state.in_(wanted)]
    if owner is not None:
        mine.append(_D.owner == owner)
    at = now()
    fresh = {"state": WAITING, "attempts": 0, "due": at, "created_at": at, "finished_at": None}
    return int(connection.execute(sa.update(deliveries).where(*mine).values(fresh)).rowcount)


def cancel(connection: Connection, subscription_id: str) -> int:
    """Give up what waits for a subscription that is removed; how many that are."""
    waits = sa.and_(_D.subscription_id == subscription_id, _D.state == WAITING)
    over = {"state": CANCELLED, "finished_at": now()}
    return int(connection.execute(sa.update(deliveries).where(waits).values(over)).rowcount)


def unfinished(connection: Connection, owner: str) -> dict[str, int]:
    """Return how many of an owner's deliveries wait, are being sent, or were given up."""
    states = (WAITING, CLAIMED, DEAD)
    query = sa.select(_D.state, sa.func.count()).where(_D.owner == owner, _D.state.in_(states))
    counted = dict(tuple(row) for row in connection.execute(query.group_by(_D.state)))
    return {state: counted.get(state, 0) for state in states}


def lag(connection: Connection, at: int) -> Lag:
    """Return how far behind, at this moment."""
    place = sa.select(positions.c.value).where(positions.c.name == NOTIFY).scalar_subquery()
    rows = sa.select(sa.func.coalesce(sa.func.max(_O.id), 0) - place)
    due = sa.and_(_D.state == WAITING, _D.due <= at)
    number, first = connection.execute(sa.select(sa.func.count(), sa.func.min(_D.due)).where(due)).one()
    dead = sa.select(sa.func.count()).where(_D.state == DEAD)
    behind = max(0, int(connection.execute(rows).scalar() or 0))
    seconds = (at - first) / 1e6 if first is not None else 0.0
    return Lag(behind, int(number), seconds, int(connection.execute(dead).scalar() or 0))


def _is_sqlite(connection: Connection) -> Any:
    return connection.dialect.name == "sqlite"
