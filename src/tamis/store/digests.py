"""Digests: parts come in, wait as their subscription's schedule says, and leave as one row of the outbox.

Everything that a micro-batch does here is one transaction with the note that the batch is done: a replay
changes nothing, and a crash loses nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.contract.schedule import AtOnce, Schedule, parse_schedule
from tamis.errors import ScheduleError
from tamis.store.bulk import insert, one_of
from tamis.store.outbox import add_rows, begin_batch, finish_batch, is_finished
from tamis.store.parts import Clock, Part, Told, Verdict, decide, digest_text, name_of
from tamis.store.subscriptions import last_change
from tamis.store.tables import (
    batches,
    changes,
    digest_parts,
    digests_sent,
    outbox,
    subscriptions,
)

_log = logging.getLogger(__name__)
_P = digest_parts.c
_TEXT, _NUMBER = pa.string(), pa.int64()
_KEY = {"subscription_id": _TEXT, "version": _NUMBER}
_DIGEST = {"event_id": _TEXT, **_KEY, "event_time": _NUMBER, "payload": _TEXT}
_SENT = {"subscription_id": _TEXT, "start": _NUMBER, "end": _NUMBER, "sent": _NUMBER}
_PART = {**_KEY, "start": _NUMBER, "end": _NUMBER, "count": _NUMBER, "events": _TEXT, "due": _NUMBER}
_HOUR = 3_600_000_000
_DAY = 24 * _HOUR


class Run(NamedTuple):
    """One micro-batch of a digest query."""

    query: str
    batch_id: int
    at: int  # the batch's moment: a replay has the same, a new checkpoint has not
    clock: Clock
    most_events: int = 100  # that a digest lists
    at_once: bool = True  # whether to tell what is wanted at once; if not, someone else does


class _Subscriber(NamedTuple):
    schedule: Schedule | None  # ``None``: written by a later release
    version: int


def take(connection: Connection, run: Run, fresh: Sequence[Part]) -> int:
    """Take in parts and tell what is due; the number of digests, none if this batch was taken before."""
    known = last_change(connection)  # before anything is read: what changes meanwhile is seen the next time
    begin_batch(connection, run.query, run.at, known)  # waits for whoever is at the same batch
    if is_finished(connection, run.query, run.at):
        return 0
    parts = [*fresh, *_to_look_at(connection, run, known)]
    verdicts = _verdicts(connection, run, parts)
    _keep(connection, run, [held for _, verdict in verdicts for held in verdict.waiting])
    _forget(connection, parts, verdicts)
    _count(connection, run, verdicts)
    rows = _tell(connection, run, verdicts)
    finish_batch(connection, run.query, run.at, rows)
    _forget_batches(connection, run)
    return rows


def _to_look_at(connection: Connection, run: Run, known: int) -> list[Part]:
    """Kept parts that are due, and all whose subscription has changed since the batch before."""
    before = sa.and_(batches.c.query == run.query, batches.c.batch_id != run.at)
    since = connection.execute(sa.select(sa.func.max(batches.c.index_version)).where(before)).scalar()
    newer = changes.c.sequence > (known if since is None else since)
    changed = sa.select(changes.c.subscription_id).where(newer)
    query = sa.select(_P.subscription_id, _P.version, _P.start, _P.end, _P.count, _P.events, _P.id)
    mine = query.where(_P.query == run.query)
    either = sa.union(mine.where(_P.due <= run.clock.closed), mine.where(_P.subscription_id.in_(changed)))
    return [Part(*row) for row in connection.execute(either)]


def _verdicts(connection: Connection, run: Run, parts: Sequence[Part]) -> list[tuple[_Subscriber, Verdict]]:
    """What becomes of each part; those of subscriptions that are gone have no place."""
    by_id: dict[str, list[Part]] = {}
    for part in parts:
        by_id.setdefault(part.subscription_id, []).append(part)
    subscribers = _subscribers(connection, list(by_id))
    if strangers := len(by_id) - len(subscribers):
        _log.warning(
            "%s: %d subscriptions are not in the store; their matches are dropped", run.query, strangers
        )
    sent = _sent(connection, run, list(by_id))
    return [
        (subscriber, _verdict(run, by_id[identity], subscriber, sent.get(identity, {})))
        for identity, subscriber in subscribers.items()
    ]


def _verdict(run: Run, parts: list[Part], subscriber: _Subscriber, sent: dict[int, int]) -> Verdict:
    if subscriber.schedule is None:  # nothing is lost: perhaps a later release will know it, or it is changed
        return Verdict([], [(part, run.clock.closed + _HOUR) for part in parts], {})
    if isinstance(subscriber.schedule, AtOnce) and not run.at_once:
        return Verdict([], [], {})
    return decide(parts, subscriber.schedule, run.clock, sent)


def _subscribers(connection: Connection, ids: list[str]) -> dict[str, _Subscriber]:
    s = subscriptions.c
    query = sa.select(s.id, s.schedule, s.version).where(one_of(s.id, ids, _is_sqlite(connection)))
    return {
        row.id: _Subscriber(_schedule(row.id, row.schedule), row.version) for row in connection.execute(query)
    }


def _schedule(identity: str, text: str | None) -> Schedule | None:
    try:
        return parse_schedule(text)
    except ScheduleError as bad:
        _log.warning("the digests of %s wait: %s", identity, bad.message)
        return None


def _sent(connection: Connection, run: Run, ids: list[str]) -> dict[str, dict[int, int]]:
    c = digests_sent.c
    among = one_of(c.subscription_id, ids, _is_sqlite(connection))
    found: dict[str, dict[int, int]] = {}
    for row in connection.execute(sa.select(digests_sent).where(c.query == run.query, among)):
        found.setdefault(row.subscription_id, {})[row.start] = row.sent
    return found


def _keep(connection: Connection, run: Run, waiting: Sequence[tuple[Part, int]]) -> None:
    """Write down what waits, and when to look at it next."""
    fresh = [(*part[:6], due) for part, due in waiting if part.id is None]
    insert(connection, digest_parts, _table(fresh, _PART), {"query": run.query}, "")
    old = [{"part": part.id, "later": due} for part, due in waiting if part.id is not None]
    if old:
        later = sa.update(digest_parts).where(_P.id == sa.bindparam("part"))
        connection.execute(later.values(due=sa.bindparam("later")), old)


def _forget(
    connection: Connection, parts: Sequence[Part], verdicts: Sequence[tuple[_Subscriber, Verdict]]
) -> None:
    """Kept parts that do not wait any more were told, or their subscription is gone."""
    wait = {part.id for _, verdict in verdicts for part, _ in verdict.waiting}
    gone = [part.id for part in parts if part.id is not None and part.id not in wait]
    if gone:
        connection.execute(sa.delete(digest_parts).where(one_of(_P.id, gone, _is_sqlite(connection))))


def _count(connection: Connection, run: Run, verdicts: Sequence[tuple[_Subscriber, Verdict]]) -> None:
    """Note how often limited subscriptions were told something; periods that are over need no note."""
    c = digests_sent.c
    connection.execute(sa.delete(digests_sent).where(c.query == run.query, c.end <= run.clock.closed))
    rows = [
        (verdict.told[0].parts[0].subscription_id, start, end, sent)
        for _, verdict in verdicts
        for (start, end), sent in verdict.sent.items()
    ]
    newer = "ON CONFLICT (query, subscription_id, start) DO UPDATE SET sent = excluded.sent"
    insert(connection, digests_sent, _table(rows, _SENT), {"query": run.query}, newer)


def _tell(connection: Connection, run: Run, verdicts: Sequence[tuple[_Subscriber, Verdict]]) -> int:
    rows = [_row(told, subscriber, run) for subscriber, verdict in verdicts for told in verdict.told]
    attempt = 1
    while rows:
        with connection.begin_nested() as point:
            taken = add_rows(connection, _table(rows, _DIGEST), "digest", run.query, run.batch_id)
            if taken == len(rows):
                return taken
            point.rollback()
        attempt += 1
        rows = _renamed(connection, rows, attempt)
    return 0


def _row(told: Told, subscriber: _Subscriber, run: Run) -> tuple[Any, ...]:
    identity = told.parts[0].subscription_id
    payload = digest_text(told, run.most_events)
    return name_of(told.named), identity, subscriber.version, told.end, payload


def _renamed(connection: Connection, rows: list[tuple[Any, ...]], attempt: int) -> list[tuple[Any, ...]]:
    """Return a digest of this name was told before (another query, another checkpoint): this one is told as
    well."""
    sqlite, o = _is_sqlite(connection), outbox.c
    named = one_of(o.event_id, sorted({row[0] for row in rows}), sqlite)
    of = one_of(o.subscription_id, sorted({row[1] for row in rows}), sqlite)
    query = sa.select(o.event_id, o.subscription_id, o.version).where(named, of)
    there = {tuple(row) for row in connection.execute(query)}
    return [(f"{row[0].partition('Z')[0]}Z/{attempt}", *row[1:]) if row[:3] in there else row for row in rows]


def _forget_batches(connection: Connection, run: Run) -> None:
    """Only the last batch can come again; a day's worth is kept for people to look at."""
    old = batches.c.batch_id < run.at - _DAY
    connection.execute(sa.delete(batches).where(batches.c.query == run.query, old))


def _table(rows: Sequence[tuple[Any, ...]], types: dict[str, pa.DataType]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in types)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types.values(), strict=True)]
    return pa.table(arrays, list(types))


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"
