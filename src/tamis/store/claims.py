"""Claims deliveries for a notifier, and records their results.

A claim is a lease. The notifier must finish a delivery or return it before the lease ends; afterwards the
claims of a crashed notifier are released. Rows that another notifier is claiming are skipped without waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store.bulk import one_of
from tamis.store.deliveries import CANCELLED, CLAIMED, DEAD, WAITING
from tamis.store.tables import deliveries, events, outbox, subscriptions

ENDPOINTS = 1_000  # endpoints examined by one claim
RELEASED = 1_000  # claims released in one transaction
GIVEN_UP = 10_000

_D, _O, _S, _E = deliveries.c, outbox.c, subscriptions.c, events.c

# The endpoints after a given one, each with its first due delivery: one index lookup per endpoint, for any
# number of deliveries that wait there.
_NEXT = sa.text(
    """
    WITH RECURSIVE e (endpoint) AS (
        SELECT min(endpoint) FROM deliveries WHERE state = 'waiting' AND endpoint > :after
        UNION ALL
        SELECT (
            SELECT min(d.endpoint) FROM deliveries d WHERE d.state = 'waiting' AND d.endpoint > e.endpoint
        ) FROM e WHERE e.endpoint IS NOT NULL
    )
    SELECT endpoint, (
        SELECT min(d.due) FROM deliveries d WHERE d.state = 'waiting' AND d.endpoint = e.endpoint
    ) FROM e WHERE endpoint IS NOT NULL LIMIT :most
    """
)


class Claimed(NamedTuple):
    """A delivery to send now, with its content."""

    id: int
    transport: str
    endpoint: str
    until: int  # end of the lease
    attempts: int  # including this one
    ordered_at: int
    owner: str | None
    subscription_id: str
    expression: str
    delivery: str  # JSON: the current settings of the subscription
    outbox_id: int
    kind: str
    event_id: str
    version: int
    score: float | None
    event_time: int | None
    payload: str | None
    published: str | None  # the text of the event, if it was published through the service
    matched_at: int


class Result(NamedTuple):
    """The result of a claimed delivery."""

    id: int
    state: str
    due: int  # time of the next attempt, or of the end
    error: str | None = None
    was_tried: bool = True  # otherwise the attempt does not count


class ClaimRequest(NamedTuple):
    """The lease holder, and the number and endpoints of the deliveries it can send."""

    holder: str
    until: int  # end of the lease
    most: int
    room: Callable[[str], int]  # number of deliveries that an endpoint can take now
    after: str = ""  # the endpoint served last, so that all endpoints get their turn


def next_due(connection: Connection) -> int | None:
    """Return the time at which the first waiting delivery is due, or ``None``."""
    return connection.execute(sa.select(sa.func.min(_D.due)).where(_D.state == WAITING)).scalar()


def claim(connection: Connection, request: ClaimRequest, at: int) -> tuple[list[Claimed], str]:
    """Return deliveries to send, a few for each endpoint in turn, and the endpoint to continue after."""
    taken: list[int] = []
    served = ""
    waiting = connection.execute(_NEXT, {"after": request.after, "most": ENDPOINTS}).all()
    for endpoint, first in waiting:
        if len(taken) >= request.most:
            break
        served = endpoint
        room = min(request.room(endpoint), request.most - len(taken)) if first <= at else 0
        if room > 0:
            taken += _lock_due(connection, endpoint, at, room)
    else:
        served = served if len(waiting) == ENDPOINTS else ""  # after the last endpoint, begin again
    return _take(connection, taken, request, at), served


def _lock_due(connection: Connection, endpoint: str, at: int, most: int) -> list[int]:
    due = sa.select(_D.id).where(_D.state == WAITING, _D.endpoint == endpoint, _D.due <= at)
    rows = connection.execute(due.order_by(_D.due, _D.id).limit(most).with_for_update(skip_locked=True))
    return [row.id for row in rows]


def _take(connection: Connection, ids: list[int], request: ClaimRequest, at: int) -> list[Claimed]:
    """Claim locked rows; cancel those whose subscription no longer has a delivery."""
    if not ids:
        return []
    found = _contents(connection, ids, request.until)
    gone = sorted(set(ids) - {one.id for one in found})
    mine = {"state": CLAIMED, "due": request.until, "claimed_by": request.holder, "attempts": _D.attempts + 1}
    _update(connection, [one.id for one in found], mine)
    _update(connection, gone, {"state": CANCELLED, "finished_at": at})
    return found


def _contents(connection: Connection, ids: list[int], until: int) -> list[Claimed]:
    named = {
        "until": sa.literal(until),
        "attempts": _D.attempts + 1,
        "ordered_at": _D.created_at,
        "outbox_id": _D.outbox_id,
        "published": _E.text,
        "matched_at": _O.created_at,
    }
    columns = [named[name] if name in named else _column(name) for name in Claimed._fields]
    joined = (
        deliveries.join(outbox, _O.id == _D.outbox_id)
        .join(subscriptions, _S.id == _D.subscription_id)
        .outerjoin(events, _E.event_id == _O.event_id)
    )
    query = sa.select(*columns).select_from(joined).where(_among(connection, ids), _S.delivery.is_not(None))
    return [Claimed(*row) for row in connection.execute(query.order_by(_D.due, _D.id))]


def _column(name: str) -> sa.ColumnElement[Any]:
    return next(table.c[name] for table in (deliveries, subscriptions, outbox) if name in table.c)


def record(connection: Connection, holder: str, results: Sequence[Result], at: int) -> int:
    """Record the results of claims that the holder still has; return their number."""
    rows = [
        {
            "delivery": result.id,
            "new": result.state,
            "next": result.due,
            "said": result.error,
            "over": None if result.state == WAITING else at,
            "less": 0 if result.was_tried else 1,
        }
        for result in sorted(results)
    ]
    if not rows:
        return 0
    mine = sa.and_(_D.id == sa.bindparam("delivery"), _D.claimed_by == holder, _D.state == CLAIMED)
    done = (
        sa.update(deliveries)
        .where(mine)
        .values(
            state=sa.bindparam("new"),
            due=sa.bindparam("next"),
            error=sa.bindparam("said"),
            finished_at=sa.bindparam("over"),
            attempts=_D.attempts - sa.bindparam("less"),
            claimed_by=None,
        )
    )
    return int(connection.execute(done, rows).rowcount)


def holders(connection: Connection) -> dict[str, int]:
    """Return the holders of claims, and the time at which the first lease of each ends."""
    claimed = sa.select(_D.claimed_by, sa.func.min(_D.due)).where(_D.state == CLAIMED)
    return {str(name): end for name, end in connection.execute(claimed.group_by(_D.claimed_by))}


def release(connection: Connection, dead: Sequence[str], most_attempts: int, at: int) -> int:
    """Release claims with an expired lease or dead holder; after too many attempts they are dead letters."""
    lost = sa.or_(_D.due < at, one_of(connection, _D.claimed_by, list(dead)))
    expired = sa.select(_D.id, _D.attempts).where(_D.state == CLAIMED, lost).limit(RELEASED)
    rows = connection.execute(expired.with_for_update(skip_locked=True)).all()
    spent = [row.id for row in rows if row.attempts >= most_attempts]
    _update(connection, [row.id for row in rows if row.attempts < most_attempts], _FREE | {"due": at})
    over = {"state": DEAD, "finished_at": at, "claimed_by": None, "error": "the notifier ended while sending"}
    _update(connection, spent, over)
    return len(rows)


_FREE = {"state": WAITING, "claimed_by": None}


def give_up(connection: Connection, endpoint: str, before: int, error: str, at: int) -> int:
    """Give up deliveries that have waited since ``before`` for an endpoint that does not answer."""
    old = sa.select(_D.id).where(_D.state == WAITING, _D.endpoint == endpoint, _D.created_at < before)
    ids = [row.id for row in connection.execute(old.limit(GIVEN_UP).with_for_update(skip_locked=True))]
    _update(connection, ids, {"state": DEAD, "finished_at": at, "error": error})
    return len(ids)


def _update(connection: Connection, ids: list[int], values: dict[str, Any]) -> None:
    if ids:
        connection.execute(sa.update(deliveries).where(_among(connection, ids)).values(values))


def _among(connection: Connection, ids: list[int]) -> sa.ColumnElement[bool]:
    return one_of(connection, _D.id, ids)


def event_texts(
    connection: Connection, subscription_id: str, event_ids: Sequence[str], most_bytes: int
) -> dict[str, tuple[str, bool]]:
    """Return the events of a digest as JSON, with whether the service published them; as many as fit."""
    found: dict[str, tuple[str, bool]] = {}
    left = most_bytes
    for event_id in event_ids:
        text, is_ours = _event_text(connection, subscription_id, event_id)
        left -= len(text.encode()) if text is not None else 0
        if left < 0:
            break
        if text is not None:
            found[event_id] = text, is_ours
    return found


def _event_text(connection: Connection, subscription_id: str, event_id: str) -> tuple[str | None, bool]:
    ours = connection.execute(sa.select(_E.text).where(_E.event_id == event_id)).scalar()
    if ours is not None:
        return ours, True
    match = sa.and_(_O.event_id == event_id, _O.subscription_id == subscription_id)
    return connection.execute(sa.select(_O.payload).where(match).order_by(_O.id).limit(1)).scalar(), False
