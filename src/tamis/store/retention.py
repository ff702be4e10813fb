"""Deletes old rows step by step, and keeps every row that is still needed.

Events are deleted after they were matched; outbox rows after they were dispatched and have no open delivery;
changes after a later old change of the same subscription has replaced them. The last change of every
subscription stays, even if it is a removal: an index that was saved long ago can still follow.

Every change is examined once, when it is old: it supersedes the earlier changes of its subscription, which an
index finds. The position of this scan is stored, so a step costs the same for any size of the log.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store import positions
from tamis.store.bulk import one_of
from tamis.store.deliveries import FINISHED
from tamis.store.events import next_event_change
from tamis.store.subscriptions import last_change
from tamis.store.tables import changes, deliveries, events, outbox, quarantine

STEP_ROWS = 10_000  # rows in a transaction, so that other writers get their turn

_E, _O, _D, _C = events.c, outbox.c, deliveries.c, changes.c


class Forgotten(NamedTuple):
    """The number of deleted rows in each table."""

    events: int = 0
    outbox: int = 0
    deliveries: int = 0
    changes: int = 0
    quarantine: int = 0

    def plus(self, other: Forgotten) -> Forgotten:
        """Return the sum of both."""
        return Forgotten(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Step(NamedTuple):
    """The rows that one transaction deleted, and whether nothing is left to delete."""

    gone: Forgotten
    is_last: bool


def forget(connection: Connection, before: int) -> Step:
    """Delete a part of the rows older than ``before``; repeat until the step is the last."""
    done = positions.read(connection, positions.LIVE).value
    dispatched = positions.read(connection, positions.NOTIFY).value
    opened = sa.exists().where(_D.outbox_id == _O.id, _D.state.not_in(FINISHED)).correlate(outbox)
    rows = sa.and_(_O.created_at < before, _O.id <= dispatched, ~opened)
    ids = list(connection.execute(sa.select(_O.id).where(rows).order_by(_O.id).limit(STEP_ROWS)).scalars())
    superseded, looked_at = _forget_changes(connection, before, done)
    gone = Forgotten(
        events=_delete(connection, _E.id, sa.and_(_E.received_at < before, _E.id <= done)),
        deliveries=_delete_all(connection, deliveries, _D.outbox_id, ids),
        outbox=_delete_all(connection, outbox, _O.id, ids),
        changes=superseded,
        quarantine=_delete(connection, quarantine.c.id, quarantine.c.created_at < before),
    )
    tables = (gone.events, gone.outbox, gone.quarantine)  # a table with a full step may have more
    return Step(gone, max(*tables, looked_at) < STEP_ROWS)


def _forget_changes(connection: Connection, before: int, done: int) -> tuple[int, int]:
    """Delete the changes that the next old ones supersede; return the numbers deleted and examined.

    Only changes before the first waiting event are examined, because the event may need the others.
    """
    first = next_event_change(connection, done)
    safe = last_change(connection) if first is None else first
    after = positions.lock(connection, positions.FORGET).value
    window = sa.select(_C.sequence, _C.at).where(_C.sequence > after, _C.sequence <= safe)
    rows = connection.execute(window.order_by(_C.sequence).limit(STEP_ROWS)).all()
    old = [row.sequence for row in itertools.takewhile(lambda row: row.at < before, rows)]
    if not old:
        return 0, 0
    gone = connection.execute(delete_superseded(after, old[-1])).rowcount
    positions.set_value(connection, positions.FORGET, old[-1])
    return gone, len(old)


def delete_superseded(after: int, until: int) -> sa.Delete:
    """Return a statement that deletes the changes superseded by those after ``after`` up to ``until``."""
    later = changes.alias("later")
    newest = sa.func.max(later.c.sequence).label("newest")
    each = (
        sa.select(later.c.subscription_id, newest)
        .where(later.c.sequence > after, later.c.sequence <= until)
        .group_by(later.c.subscription_id)
        .subquery("each")
    )
    earlier = changes.alias("earlier")
    of_same = sa.and_(earlier.c.subscription_id == each.c.subscription_id, earlier.c.sequence < each.c.newest)
    found = sa.select(earlier.c.sequence).select_from(sa.join(each, earlier, of_same))
    return sa.delete(changes).where(_C.sequence.in_(found))


def _delete_all(connection: Connection, table: sa.Table, key: sa.Column[Any], values: list[int]) -> int:
    among = one_of(connection, key, values)
    return connection.execute(sa.delete(table).where(among)).rowcount


def _delete(connection: Connection, key: sa.Column[Any], old: sa.ColumnElement[bool]) -> int:
    step_rows = sa.select(key).where(old).order_by(key).limit(STEP_ROWS).scalar_subquery()
    return connection.execute(sa.delete(key.table).where(key.in_(step_rows))).rowcount
