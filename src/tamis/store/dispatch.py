"""Turns outbox rows into deliveries, or into digest parts for subscriptions with a schedule.

One transaction reads the outbox from the previous position, writes deliveries and digest parts, and stores
the new position. It locks the position's row, so any number of notifiers can do this; a crash loses nothing
and repeats nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.contract.delivery import masked_delivery, stored_delivery
from tamis.contract.schedule import AtOnce, parse_schedule
from tamis.errors import DeliveryError, ScheduleError
from tamis.failpoint import failpoint
from tamis.store import positions
from tamis.store.bulk import insert, one_of
from tamis.store.deliveries import DEAD, FINISHED, WAITING, redeliver
from tamis.store.digest_plan import Clock, Part
from tamis.store.digests import DigestBatch, add_parts
from tamis.store.subscriptions import last_change
from tamis.store.tables import batches, deliveries, digest_parts, outbox, subscriptions
from tamis.store.timestamps import iso

QUERY = "notify"  # the name of the notifier's digests among those of Spark queries
TICK = 1_000_000  # microseconds; the precision of periods
RECEIVERS_AT_ONCE = 1_000  # subscriptions whose settings are in memory at a time

_O, _S, _P, _B = outbox.c, subscriptions.c, digest_parts.c, batches.c
_TEXT = pa.string()
_ROW = {"outbox_id": pa.int64(), "subscription_id": _TEXT, "owner": _TEXT, "transport": _TEXT}
_ROW |= {"endpoint": _TEXT, "settings": _TEXT}
_log = logging.getLogger(__name__)


class DispatchOptions(NamedTuple):
    """Options of a dispatch."""

    holder: str
    rows: int = 10_000  # outbox rows in one transaction
    digests: bool = True  # write digests for schedules; otherwise another process does
    digest_events: int = 100  # events that a digest lists


class DispatchResult(NamedTuple):
    """The result of one transaction."""

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


class _Section(NamedTuple):
    """A range of the outbox."""

    read: int  # number of rows
    until: int  # number of the last row
    last_at: int  # time at which the last row was written
    dropped: int  # rows whose subscription is gone


class _Receiver(NamedTuple):
    """The delivery settings of a subscription; without ``transport``, nothing is sent."""

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


def dispatch(connection: Connection, options: DispatchOptions, at: int) -> DispatchResult:
    """Dispatch the next rows of the outbox, and write the digests that are due."""
    place = positions.lock(connection, positions.NOTIFY).value
    section = _next_section(connection, place, options.rows)
    rows = _rows(connection, place, section.until) if section.read else []
    receivers = _receivers(connection, sorted({row.subscription_id for row in rows}))
    now = [row for row in rows if _is_delivered_now(row, receivers)]
    _deliver(connection, now, receivers, _waiting(at))
    later = [row for row in rows if _is_for_digest(row, receivers)] if options.digests else []
    made = _digest(connection, options, section, later, at)
    failpoint("notify.before_move")
    if section.read:
        positions.move(connection, positions.NOTIFY, section.until, options.holder, 0)
    return DispatchResult(section.read, len(now), made, section.dropped)


def skip_to_dead_letters(connection: Connection, options: DispatchOptions, at: int, why: str) -> int:
    """Skip the next row, which cannot be dispatched; its owner finds it among the dead letters."""
    place = positions.lock(connection, positions.NOTIFY).value
    section = _next_section(connection, place, 1)
    rows = _rows(connection, place, section.until)
    receivers = _receivers(connection, [row.subscription_id for row in rows])
    dead = {"state": DEAD, "due": at, "created_at": at, "finished_at": at, "error": why}
    _deliver(connection, rows, receivers, dead)
    if section.read:
        positions.move(connection, positions.NOTIFY, section.until, options.holder, 0)
    return section.until if section.read else 0


def replay(connection: Connection, subscription_id: str, outbox_ids: Sequence[int], at: int) -> int:
    """Deliver notifications of a subscription again, including those only kept; return their number."""
    query = sa.select(*(_O[name] for name in _Row._fields)).where(_O.subscription_id == subscription_id)
    among = one_of(connection, _O.id, list(outbox_ids))
    rows = [_Row(*row) for row in connection.execute(query.where(among))]
    receivers = _receivers(connection, [subscription_id])
    if not rows or subscription_id not in receivers or receivers[subscription_id].transport is None:
        return 0
    repeated = redeliver(connection, [row.id for row in rows], None, FINISHED)
    return repeated + _deliver(connection, rows, receivers, _waiting(at))


def _next_section(connection: Connection, place: int, most: int) -> _Section:
    """Return the next range of the outbox; rows without a receiver, the majority, are only counted."""
    ids = sa.select(_O.id).where(_O.id > place).order_by(_O.id).limit(most).subquery()
    read, until = connection.execute(sa.select(sa.func.count(), sa.func.max(ids.c.id))).one()
    if not read:
        return _Section(0, place, 0, 0)
    last = connection.execute(sa.select(_O.created_at).where(_O.id == until)).scalar_one()
    gone = sa.select(sa.func.count()).where(_O.id.between(place + 1, until), ~_subscriber())
    return _Section(read, until, last, connection.execute(gone).scalar_one())


def _rows(connection: Connection, place: int, until: int) -> list[_Row]:
    """Return the rows of a range whose subscription has a delivery."""
    query = sa.select(*(_O[name] for name in _Row._fields)).where(_O.id.between(place + 1, until))
    wanted = query.where(_subscriber(_S.delivery.is_not(None))).order_by(_O.id)
    return [_Row(*row) for row in connection.execute(wanted)]


def _subscriber(*more: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Return the condition that a row's subscription exists; correlated, so SQLite reads rows in order."""
    return sa.exists().where(_S.id == _O.subscription_id, *more).correlate(outbox)


def _receivers(connection: Connection, ids: Sequence[str]) -> dict[str, _Receiver]:
    """Return the delivery settings of the existing subscriptions."""
    found = {}
    for start in range(0, len(ids), RECEIVERS_AT_ONCE):
        among = one_of(connection, _S.id, list(ids[start : start + RECEIVERS_AT_ONCE]))
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
    except DeliveryError as bad:  # it is listed and attempted, since another notifier may be able to send it
        _log.warning("the delivery of %s cannot be read: %s", identity, bad.message)
        return _Receiver(owner, at_once, "unknown", f"{owner or ''} unknown", "{}")
    shown = masked_delivery(settings)
    shown.pop("template", None)
    text = msgspec.json.encode(shown, order="sorted").decode()
    return _Receiver(owner, at_once, settings.transport, f"{owner or ''} {settings.receiver}", text)


def _is_at_once(schedule: str | None) -> bool:
    """Return whether a schedule is "at once"; digests hold back a schedule that this release cannot read."""
    try:
        return isinstance(parse_schedule(schedule), AtOnce)
    except ScheduleError:
        return False


def _is_delivered_now(row: _Row, receivers: dict[str, _Receiver]) -> bool:
    receiver = receivers.get(row.subscription_id)
    return (
        receiver is not None
        and receiver.transport is not None
        and (receiver.is_at_once or row.kind == "digest")
    )


def _is_for_digest(row: _Row, receivers: dict[str, _Receiver]) -> bool:
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


def _digest(
    connection: Connection, options: DispatchOptions, section: _Section, later: list[_Row], at: int
) -> int:
    """Add digest parts for new rows, and write the digests whose period is over.

    Digest time advances to the last row read, or to now if no row is left. A row written late counts from the
    digest time on, so that no digest is sent twice.
    """
    is_drained = section.read < options.rows
    if not later and not (is_drained and _parts_are_due(connection, at)):
        return 0
    floor = _last_moment(connection, at)
    closed = max(at if is_drained else min(section.last_at, at), floor + 1)
    moment = _free_moment(connection, closed)
    parts = list(_parts(later, floor, at, options.digest_events))
    # "At once" covers rows whose subscription had a schedule when they came, and has none now.
    run = DigestBatch(QUERY, moment, moment, Clock(closed, TICK), options.digest_events, at_once=True)
    return add_parts(connection, run, parts)


def _parts(rows: Sequence[_Row], floor: int, at: int, most: int) -> Iterator[Part]:
    """Yield the rows as parts, grouped by subscription and tick."""
    groups: dict[tuple[str, int, int], list[_Row]] = {}
    for row in rows:
        start = min(max(row.created_at, floor), at) // TICK * TICK
        groups.setdefault((row.subscription_id, row.version, start), []).append(row)
    for (identity, version, start), group in groups.items():
        events = [_event(row) for row in group[:most]]
        text = msgspec.json.encode(events).decode()
        yield Part(identity, version, start, start + TICK, len(group), text)


def _event(row: _Row) -> dict[str, Any]:
    """Return an event of a digest by reference: its text is stored only once."""
    time = None if row.event_time is None else iso(row.event_time)
    return {"event_id": row.event_id} if time is None else {"event_time": time, "event_id": row.event_id}


def _last_moment(connection: Connection, at: int) -> int:
    """Return the last digest time; ignore times in the future, from before the clock was set back."""
    mine = sa.and_(_B.query == QUERY, _B.batch_id <= at)
    return connection.execute(sa.select(sa.func.max(_B.batch_id)).where(mine)).scalar() or 0


def _free_moment(connection: Connection, moment: int) -> int:
    """Return a time that names no batch yet: an existing one would be taken for its replay."""
    taken = sa.select(_B.batch_id).where(_B.query == QUERY, _B.batch_id == sa.bindparam("moment"))
    while connection.execute(taken, {"moment": moment}).scalar() is not None:
        moment += 1
    return moment


def _parts_are_due(connection: Connection, at: int) -> bool:
    """Return whether a period is over, or a subscription with waiting parts has changed."""
    first = connection.execute(sa.select(sa.func.min(_P.due)).where(_P.query == QUERY)).scalar()
    if first is None:
        return False
    seen = sa.select(sa.func.max(_B.index_version)).where(_B.query == QUERY)
    return first <= at or last_change(connection) > (connection.execute(seen).scalar() or 0)
