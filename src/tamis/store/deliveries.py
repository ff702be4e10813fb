"""Lists notifications with the state of their delivery, and delivers them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.contract.token import token_of
from tamis.store.bulk import one_of
from tamis.store.pages import Page, page_of
from tamis.store.positions import NOTIFY
from tamis.store.tables import deliveries, outbox, positions
from tamis.store.timestamps import now

WAITING, CLAIMED, DELIVERED, DEAD, CANCELLED = "waiting", "claimed", "delivered", "dead", "cancelled"
FINISHED = (DELIVERED, DEAD, CANCELLED)

_D, _O = deliveries.c, outbox.c


class Notification(NamedTuple):
    """A row of the outbox and its delivery; without a delivery (``state`` is ``None``) it is only kept."""

    id: int  # of the outbox row; receivers see ``msg_<id>``
    subscription_id: str
    kind: str
    event_id: str
    version: int
    score: float | None
    event_time: int | None
    created_at: int
    state: str | None
    attempts: int | None
    due: int | None  # time of the next attempt, for a waiting delivery
    error: str | None
    finished_at: int | None
    settings: str | None
    query: str  # the query that found the match


class Lag(NamedTuple):
    """The backlog of deliveries."""

    rows: int  # rows of the outbox that have not been dispatched
    waiting: int  # deliveries that are due
    seconds: float  # since the first of them was due
    dead: int


def history(
    connection: Connection, subscription_id: str, before: int | None, most: int
) -> Page[Notification, int]:
    """Return the notifications of a subscription, the latest first, and the start of the next page."""
    mine = sa.and_(_O.token == token_of(subscription_id), _O.subscription_id == subscription_id)
    return _page(connection, mine, before, most)


def dead_letters(
    connection: Connection, owner: str | None, before: int | None, most: int
) -> Page[Notification, int]:
    """Return the dead letters of one owner or all, the latest first, and the start of the next page."""
    mine = _D.state == DEAD if owner is None else sa.and_(_D.owner == owner, _D.state == DEAD)
    return _page(connection, mine, before, most)


def find(connection: Connection, outbox_id: int) -> Notification | None:
    """Return one notification, or ``None``."""
    found = _page(connection, _O.id == outbox_id, None, 1).items
    return found[0] if found else None


def _page(
    connection: Connection, which: sa.ColumnElement[bool], before: int | None, most: int
) -> Page[Notification, int]:
    columns = [_D[name] if name in _OF_DELIVERY else _O[name] for name in Notification._fields]
    both = outbox.outerjoin(deliveries, _D.outbox_id == _O.id)
    query = sa.select(*columns).select_from(both).where(which).order_by(_O.id.desc()).limit(most + 1)
    rows = connection.execute(query if before is None else query.where(_O.id < before))
    return page_of([Notification(*row) for row in rows], most)


_OF_DELIVERY = {"state", "attempts", "due", "error", "finished_at", "settings"}


def redeliver(
    connection: Connection, outbox_ids: Sequence[int], owner: str | None, states: Sequence[str]
) -> int:
    """Deliver finished notifications again if their state is one of ``states``; return their number.

    The message id stays, so a receiver can drop a duplicate. The delivery uses the current settings.
    """
    wanted = [state for state in states if state in FINISHED]
    mine = [one_of(connection, _D.outbox_id, list(outbox_ids)), _D.state.in_(wanted)]
    if owner is not None:
        mine.append(_D.owner == owner)
    at = now()
    fresh = {"state": WAITING, "attempts": 0, "due": at, "created_at": at, "finished_at": None}
    return int(connection.execute(sa.update(deliveries).where(*mine).values(fresh)).rowcount)


def cancel(connection: Connection, subscription_id: str) -> int:
    """Cancel the waiting deliveries of a removed subscription; return their number."""
    waits = sa.and_(_D.subscription_id == subscription_id, _D.state == WAITING)
    over = {"state": CANCELLED, "finished_at": now()}
    return int(connection.execute(sa.update(deliveries).where(waits).values(over)).rowcount)


def unfinished(connection: Connection, owner: str) -> dict[str, int]:
    """Return the number of an owner's deliveries that are waiting, claimed and dead."""
    states = (WAITING, CLAIMED, DEAD)
    query = sa.select(_D.state, sa.func.count()).where(_D.owner == owner, _D.state.in_(states))
    counted = dict(tuple(row) for row in connection.execute(query.group_by(_D.state)))
    return {state: counted.get(state, 0) for state in states}


def lag(connection: Connection, at: int) -> Lag:
    """Return the backlog at this time."""
    place = sa.select(positions.c.value).where(positions.c.name == NOTIFY).scalar_subquery()
    rows = sa.select(sa.func.coalesce(sa.func.max(_O.id), 0) - place)
    due = sa.and_(_D.state == WAITING, _D.due <= at)
    number, first = connection.execute(sa.select(sa.func.count(), sa.func.min(_D.due)).where(due)).one()
    dead = sa.select(sa.func.count()).where(_D.state == DEAD)
    behind = max(0, int(connection.execute(rows).scalar() or 0))
    seconds = (at - first) / 1e6 if first is not None else 0.0
    return Lag(behind, int(number), seconds, int(connection.execute(dead).scalar() or 0))
