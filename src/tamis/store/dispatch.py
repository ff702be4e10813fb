"""From the outbox to deliveries: who is told at once, and who gets a digest later.

One transaction reads the outbox from the place where the one before stopped, writes deliveries and parts of
digests, and puts down the place. Its row is locked meanwhile, so any number of notifiers may do this; a
crash loses nothing and repeats nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.contract.delivery import shown_delivery, stored_delivery
from tamis.contract.schedule import AtOnce, parse_schedule
from tamis.errors import DeliveryError, ScheduleError
from tamis.failpoint import failpoint
from tamis.store import positions
from tamis.store.bulk import insert, one_of
from tamis.store.deliveries import DEAD, OVER, WAITING, again
from tamis.store.digests import Run, take
from tamis.store.moments import iso
from tamis.store.parts import Clock, Part
from tamis.store.subscriptions import last_change
from tamis.store.tables import batches, deliveries, digest_parts, outbox, subscriptions

QUERY = "notify"  # the name of our digests among those of Spark queries
TICK = 1_000_000  # microseconds: how exactly periods are kept
READ = 1_000  # subscriptions whose settings are in memory at a time

_O, _S, _P, _B = outbox.c, subscriptions.c, digest_parts.c, batches.c
_TEXT = pa.string()
_ROW = {"outbox_id": pa.int64(), "subscription_id": _TEXT, "owner": _TEXT, "transport": _TEXT}
_ROW |= {"endpoint": _TEXT, "settings": _TEXT}
_log = logging.getLogger(__name__)


class Rules(NamedTuple):
    """How to dispatch."""

    holder: str
    rows: int = 10_000  # of the outbox in one transaction
    digests: bool = True  # make digests of what is scheduled; if not, someone else does
    digest_events: int = 100  # that a digest lists


class Dispatched(NamedTuple):
    """What one transaction came to."""

    read: int = 0
    deliveries: int = 0
    digests: int = 0
    dropped: int = 0  # rows whose subscription is gone


class _Row(NamedTuple):
    id: int
    kind: str
    event_id: str
    subscription_id: str
    version: int
    event_time: int | None
    created_at: int


class _Piece(NamedTuple):
    """A stretch of the outbox."""

    read: int  # rows
    until: int  # the number of the last
    last_at: int  # when that was written
    dropped: int  # rows whose subscription is gone


class _Receiver(NamedTuple):
    """What a subscription wants; without ``transport``, nothing is sent to it."""

    owner: str | None
    is_at_once: bool
    transport: str | None
    endpoint: str
    settings: str


def is_due(connection: Connection, at: int) -> bool:
    """Return whether there is anything to dispatch."""
    place = positions.read(connection, positions.NOTIFY).value
    if (connection.execute(sa.select(sa.func.max(_O.id))).scalar() or 0) > place:
        return True
    return _parts_are_due(connection, at)


def dispatch(connection: Connection, rules: Rules, at: int) -> Dispatched:
    """Take the next rows of the outbox, and what is due of digests."""
    place = positions.lock(connection, positions.NOTIFY).value
    piece = _piece(connection, place, rules.rows)
    rows = _rows(connection, place, piece.until) if piece.read else []
    receivers = _receivers(connection, sorted({row.subscription_id for row in rows}))
    now = [row for row in rows if _is_told_now(row, receivers)]
    _deliver(connection, now, receivers, _waiting(at))
    later = [row for row in rows if _is_told_later(row, receivers)] if rules.digests else []
    made = _digest(connection, rules, piece, later, at)
    failpoint("notify.before_move")
    if piece.read:
        positions.move(connection, positions.NOTIFY, piece.until, rules.holder, 0)
    return Dispatched(piece.read, len(now), made, piece.dropped)


def set_aside(connection: Connection, rules: Rules, at: int, why: str) -> int:
    """Step over the next row, which cannot be dispatched: its owner finds it among the dead letters."""
    place = positions.lock(connection, positions.NOTIFY).value
    piece = _piece(connection, place, 1)
    rows = _rows(connection, place, piece.until)
    receivers = _receivers(connection, [row.subscription_id for row in rows])
    dead = {"state": DEAD, "due": at, "created_at": at, "finished_at": at, "error": why}
    _deliver(connection, rows, receivers, dead)
    if piece.read:
        positions.move(connection, positions.NOTIFY, piece.until, rules.holder, 0)
    return piece.until if piece.read else 0


def replay(connection: Connection, subscription_id: str, outbox_ids: Sequence[int], at: int) -> int:
    """Deliver notifications of a subscription once more, or those that were only kept; how many that are."""
    query = sa.select(*(_O[name] for name in _Row._fields)).where(_O.subscription_id == subscription_id)
    among = one_of(_O.id, list(outbox_ids), connection.dialect.name == "sqlite")
    rows = [_Row(*row) for row in connection.execute(query.where(among))]
    receivers = _receivers(connection, [subscription_id])
    if not rows or subscription_id not in receivers or receivers[subscription_id].transport is None:
        return 0
    repeated = again(connection, [row.id for row in rows], None, OVER)
    return repeated + _deliver(connection, rows, receivers, _waiting(at))


def _piece(connection: Connection, place: int, most: int) -> _Piece:
    """Return how much of the outbox to take: few rows of a busy stream go to anybody, so they are only
    counted."""
    ids = sa.select(_O.id).where(_O.id > place).order_by(_O.id).limit(most).subquery()
    read, until = connection.execute(sa.select(sa.func.count(), sa.func.max(ids.c.id))).one()
    if not read:
        return _Piece(0, place, 0, 0)
    last = connection.execute(sa.select(_O.created_at).where(_O.id == until)).scalar_one()
    gone = sa.select(sa.func.count()).where(_O.id.between(place + 1, until), ~_subscriber())
    return _Piece(read, until, last, connection.execute(gone).scalar_one())


def _rows(connection: Connection, place: int, until: int) -> list[_Row]:
    """Return the rows of a piece whose subscription has a delivery."""
    query = sa.select(*(_O[name] for name in _Row._fields)).where(_O.id.between(place + 1, until))
    wanted = query.where(_subscriber(_S.delivery.is_not(None))).order_by(_O.id)
    return [_Row(*row) for row in connection.execute(wanted)]


def _subscriber(*more: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """That the subscription of a row is there. Correlated: SQLite then reads the outbox in order."""
    return sa.exists().where(_S.id == _O.subscription_id, *more).correlate(outbox)


def _receivers(connection: Connection, ids: Sequence[str]) -> dict[str, _Receiver]:
    """What the subscriptions want that are there."""
    found = {}
    for start in range(0, len(ids), READ):
        among = one_of(_S.id, list(ids[start : start + READ]), connection.dialect.name == "sqlite")
        query = sa.select(_S.id, _S.owner, _S.schedule, _S.delivery).where(among)
        for identity, owner, schedule, delivery in connection.execute(query):
            found[identity] = _receiver(identity, owner, schedule, delivery)
    return found


def _receiver(identity: str, owner: str | None, schedule: str | None, delivery: str | None) -> _Receiver:
    at_once = _is_at_once(schedule)
    if delivery is None:
        return _Receiver(owner, at_once, None, "", "")
    try:
        settings = stored_delivery(delivery)
    except DeliveryError as bad:  # it stands in the list of deliveries, and is tried: perhaps elsewhere
        _log.warning("the delivery of %s cannot be read: %s", identity, bad.message)
        return _Receiver(owner, at_once, "unknown", f"{owner or ''} unknown", "{}")
    shown = shown_delivery(settings)
    shown.pop("template", None)
    text = msgspec.json.encode(shown, order="sorted").decode()
    return _Receiver(owner, at_once, settings.transport, f"{owner or ''} {settings.receiver}", text)


def _is_at_once(schedule: str | None) -> bool:
    """Return a schedule that this release cannot read is a matter for digests, where it waits."""
    try:
        return isinstance(parse_schedule(schedule), AtOnce)
    except ScheduleError:
        return False


def _is_told_now(row: _Row, receivers: dict[str, _Receiver]) -> bool:
    receiver = receivers.get(row.subscription_id)
    return (
        receiver is not None
        and receiver.transport is not None
        and (receiver.is_at_once or row.kind == "digest")
    )


def _is_told_later(row: _Row, receivers: dict[str, _Receiver]) -> bool:
    receiver = receivers.get(row.subscription_id)
    return (
        receiver is not None
        and receiver.transport is not None
        and not receiver.is_at_once
        and row.kind != "digest"
    )


def _waiting(at: int) -> dict[str, Any]:
    return {"state": WAITING, "due": at, "created_at": at}


def _deliver(
    connection: Connection, rows: Sequence[_Row], receivers: dict[str, _Receiver], state: dict[str, Any]
) -> int:
    wanted = [(row, receivers[row.subscription_id]) for row in rows]
    columns = {
        "outbox_id": [row.id for row, _ in wanted],
        "subscription_id": [row.subscription_id for row, _ in wanted],
        **{name: [getattr(to, name) for _, to in wanted] for name in ("owner", "transport", "endpoint")},
        "settings": [to.settings for _, to in wanted],
    }
    table = pa.table({name: pa.array(columns[name], kind) for name, kind in _ROW.items()})
    return insert(connection, deliveries, table, state, "ON CONFLICT (outbox_id) DO NOTHING")


# -- digests ------------------------------------------------------------------------------------------


def _digest(connection: Connection, rules: Rules, piece: _Piece, later: list[_Row], at: int) -> int:
    """Parts of what came, and the digests whose period is over.

    Time has come as far as the last row that was read, or to this moment if none is left. What was
    written down late, after time had come that far, counts from there on: no digest is told twice.
    """
    is_drained = piece.read < rules.rows
    if not later and not (is_drained and _parts_are_due(connection, at)):
        return 0
    floor = _last_moment(connection, at)
    closed = max(at if is_drained else min(piece.last_at, at), floor + 1)
    moment = _free_moment(connection, closed)
    parts = list(_parts(later, floor, at, rules.digest_events))
    # At once is what was scheduled when it came and is not any more: nobody else tells it.
    run = Run(QUERY, moment, moment, Clock(closed, TICK), rules.digest_events, at_once=True)
    return take(connection, run, parts)


def _parts(rows: Sequence[_Row], floor: int, at: int, most: int) -> Iterator[Part]:
    """Rows grouped by subscription and tick."""
    groups: dict[tuple[str, int, int], list[_Row]] = {}
    for row in rows:
        start = min(max(row.created_at, floor), at) // TICK * TICK
        groups.setdefault((row.subscription_id, row.version, start), []).append(row)
    for (identity, version, start), group in groups.items():
        events = [_event(row) for row in group[:most]]
        text = msgspec.json.encode(events).decode()
        yield Part(identity, version, start, start + TICK, len(group), text)


def _event(row: _Row) -> dict[str, Any]:
    """Return an event in a digest: its text stays in one place, however many digests list it."""
    time = None if row.event_time is None else iso(row.event_time)
    return {"event_id": row.event_id} if time is None else {"event_time": time, "event_id": row.event_id}


def _last_moment(connection: Connection, at: int) -> int:
    """Return how far time had come; moments from before a clock was set back do not count."""
    mine = sa.and_(_B.query == QUERY, _B.batch_id <= at)
    return connection.execute(sa.select(sa.func.max(_B.batch_id)).where(mine)).scalar() or 0


def _free_moment(connection: Connection, moment: int) -> int:
    """Return a moment that names no batch yet: one that does would be taken for its replay."""
    taken = sa.select(_B.batch_id).where(_B.query == QUERY, _B.batch_id == sa.bindparam("moment"))
    while connection.execute(taken, {"moment": moment}).scalar() is not None:
        moment += 1
    return moment


def _parts_are_due(connection: Connection, at: int) -> bool:
    """Return whether a period is over, or a subscription changed for which something waits."""
    first = connection.execute(sa.select(sa.func.min(_P.due)).where(_P.query == QUERY)).scalar()
    if first is None:
        return False
    seen = sa.select(sa.func.max(_B.index_version)).where(_B.query == QUERY)
    return first <= at or last_change(connection) > (connection.execute(seen).scalar() or 0)
