"""Collects digest parts, keeps them as long as the schedule demands, and writes each digest as an outbox row.

A micro-batch is one transaction, which also records that the batch is done: a replay changes nothing, and a
crash loses nothing.
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
from tamis.store.bulk import insert, one_of, table_of
from tamis.store.digest_plan import Clock, Digest, DigestPlan, Part, digest_text, name_of, plan_digests
from tamis.store.outbox import add_rows, begin_batch, finish_batch, is_finished
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


class DigestBatch(NamedTuple):
    """One micro-batch of a digest query."""

    query: str
    batch_id: int
    at: int  # the batch's time: a replay has the same one, a new checkpoint has another
    clock: Clock
    most_events: int = 100  # events that a digest lists
    at_once: bool = True  # whether to write matches of the schedule "at once"; otherwise another process does


class _Subscriber(NamedTuple):
    schedule: Schedule | None  # ``None``: the schedule was written by a later release
    version: int


def add_parts(connection: Connection, run: DigestBatch, fresh: Sequence[Part]) -> int:
    """Add parts and write the digests that are due; return their number, or 0 if the batch is done."""
    known = last_change(connection)  # before anything else is read: the next batch sees concurrent changes
    # Waits for a concurrent transaction with the same batch.
    begin_batch(connection, run.query, run.at, known)
    if is_finished(connection, run.query, run.at):
        return 0
    parts = [*fresh, *_parts_to_examine(connection, run, known)]
    plans = _plans(connection, run, parts)
    _keep(connection, run, [held for _, plan in plans for held in plan.waiting])
    _forget(connection, parts, plans)
    _count(connection, run, plans)
    rows = _write_digests(connection, run, plans)
    finish_batch(connection, run.query, run.at, rows)
    _forget_batches(connection, run)
    return rows


def _parts_to_examine(connection: Connection, run: DigestBatch, known: int) -> list[Part]:
    """Return stored parts that are due, and those whose subscription changed since the previous batch."""
    before = sa.and_(batches.c.query == run.query, batches.c.batch_id != run.at)
    since = connection.execute(sa.select(sa.func.max(batches.c.index_version)).where(before)).scalar()
    newer = changes.c.sequence > (known if since is None else since)
    changed = sa.select(changes.c.subscription_id).where(newer)
    query = sa.select(_P.subscription_id, _P.version, _P.start, _P.end, _P.count, _P.events, _P.id)
    mine = query.where(_P.query == run.query)
    either = sa.union(mine.where(_P.due <= run.clock.closed), mine.where(_P.subscription_id.in_(changed)))
    return [Part(*row) for row in connection.execute(either)]


def _plans(
    connection: Connection, run: DigestBatch, parts: Sequence[Part]
) -> list[tuple[_Subscriber, DigestPlan]]:
    """Return the plan for each subscription's parts; parts of removed subscriptions are dropped."""
    by_id: dict[str, list[Part]] = {}
    for part in parts:
        by_id.setdefault(part.subscription_id, []).append(part)
    subscribers = _subscribers(connection, list(by_id))
    if unknown := len(by_id) - len(subscribers):
        _log.warning(
            "%s: %d subscriptions are not in the store; their matches are dropped", run.query, unknown
        )
    sent = _sent(connection, run, list(by_id))
    return [
        (subscriber, _plan(run, by_id[identity], subscriber, sent.get(identity, {})))
        for identity, subscriber in subscribers.items()
    ]


def _plan(run: DigestBatch, parts: list[Part], subscriber: _Subscriber, sent: dict[int, int]) -> DigestPlan:
    if subscriber.schedule is None:  # kept: a later release may read the schedule, or its owner may change it
        return DigestPlan([], [(part, run.clock.closed + _HOUR) for part in parts], {})
    if isinstance(subscriber.schedule, AtOnce) and not run.at_once:
        return DigestPlan([], [], {})
    return plan_digests(parts, subscriber.schedule, run.clock, sent)


def _subscribers(connection: Connection, ids: list[str]) -> dict[str, _Subscriber]:
    s = subscriptions.c
    query = sa.select(s.id, s.schedule, s.version).where(one_of(connection, s.id, ids))
    return {
        row.id: _Subscriber(_schedule(row.id, row.schedule), row.version) for row in connection.execute(query)
    }


def _schedule(identity: str, text: str | None) -> Schedule | None:
    try:
        return parse_schedule(text)
    except ScheduleError as bad:
        _log.warning("the digests of %s are held back: %s", identity, bad.message)
        return None


def _sent(connection: Connection, run: DigestBatch, ids: list[str]) -> dict[str, dict[int, int]]:
    c = digests_sent.c
    among = one_of(connection, c.subscription_id, ids)
    found: dict[str, dict[int, int]] = {}
    for row in connection.execute(sa.select(digests_sent).where(c.query == run.query, among)):
        found.setdefault(row.subscription_id, {})[row.start] = row.sent
    return found


def _keep(connection: Connection, run: DigestBatch, waiting: Sequence[tuple[Part, int]]) -> None:
    """Store the parts that wait, and the time to examine them again."""
    fresh = [(*part[:6], due) for part, due in waiting if part.id is None]
    insert(connection, digest_parts, table_of(fresh, _PART), {"query": run.query}, "")
    old = [{"part": part.id, "later": due} for part, due in waiting if part.id is not None]
    if old:
        later = sa.update(digest_parts).where(_P.id == sa.bindparam("part"))
        connection.execute(later.values(due=sa.bindparam("later")), old)


def _forget(
    connection: Connection, parts: Sequence[Part], plans: Sequence[tuple[_Subscriber, DigestPlan]]
) -> None:
    """Delete stored parts that no longer wait: their digest is written, or their subscription is gone."""
    wait = {part.id for _, plan in plans for part, _ in plan.waiting}
    gone = [part.id for part in parts if part.id is not None and part.id not in wait]
    if gone:
        connection.execute(sa.delete(digest_parts).where(one_of(connection, _P.id, gone)))


def _count(connection: Connection, run: DigestBatch, plans: Sequence[tuple[_Subscriber, DigestPlan]]) -> None:
    """Count the digests of limited subscriptions; the counts of past periods are deleted."""
    c = digests_sent.c
    connection.execute(sa.delete(digests_sent).where(c.query == run.query, c.end <= run.clock.closed))
    rows = [
        (plan.digests[0].parts[0].subscription_id, start, end, sent)
        for _, plan in plans
        for (start, end), sent in plan.sent.items()
    ]
    newer = "ON CONFLICT (query, subscription_id, start) DO UPDATE SET sent = excluded.sent"
    insert(connection, digests_sent, table_of(rows, _SENT), {"query": run.query}, newer)


def _write_digests(
    connection: Connection, run: DigestBatch, plans: Sequence[tuple[_Subscriber, DigestPlan]]
) -> int:
    rows = [_row(digest, subscriber, run) for subscriber, plan in plans for digest in plan.digests]
    attempt = 1
    while rows:
        with connection.begin_nested() as point:
            taken = add_rows(connection, table_of(rows, _DIGEST), "digest", run.query, run.batch_id)
            if taken == len(rows):
                return taken
            point.rollback()
        attempt += 1
        rows = _renamed(connection, rows, attempt)
    return 0


def _row(digest: Digest, subscriber: _Subscriber, run: DigestBatch) -> tuple[Any, ...]:
    identity = digest.parts[0].subscription_id
    payload = digest_text(digest, run.most_events)
    return name_of(digest.named), identity, subscriber.version, digest.end, payload


def _renamed(connection: Connection, rows: list[tuple[Any, ...]], attempt: int) -> list[tuple[Any, ...]]:
    """Rename digests whose name exists already, from another query or checkpoint."""
    o = outbox.c
    named = one_of(connection, o.event_id, sorted({row[0] for row in rows}))
    of = one_of(connection, o.subscription_id, sorted({row[1] for row in rows}))
    query = sa.select(o.event_id, o.subscription_id, o.version).where(named, of)
    there = {tuple(row) for row in connection.execute(query)}
    return [(f"{row[0].partition('Z')[0]}Z/{attempt}", *row[1:]) if row[:3] in there else row for row in rows]


def _forget_batches(connection: Connection, run: DigestBatch) -> None:
    """Delete old batches: only the last one can be replayed; a day of them is kept for inspection."""
    old = batches.c.batch_id < run.at - _DAY
    connection.execute(sa.delete(batches).where(batches.c.query == run.query, old))
