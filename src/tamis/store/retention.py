"""Forgetting: what is done and old goes, piece by piece, and nothing that anybody still waits for.

Events go once they were matched, rows of the outbox once they were dispatched and no delivery of them is
open, changes once an old one of the same subscription has taken their place. The last change of every
subscription stays, also if that is its end: an index that was saved long ago can still follow.

Every change is looked at once, when it is old: it supersedes those of its subscription before it, which an
index finds. The place up to which this was done is kept, so a step costs the same whatever the log holds.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store import positions
from tamis.store.bulk import one_of
from tamis.store.deliveries import OVER
from tamis.store.events import next_known
from tamis.store.subscriptions import last_change
from tamis.store.tables import changes, deliveries, events, outbox, quarantine

PIECE = 10_000  # rows in a transaction: others want to write as well

_E, _O, _D, _C = events.c, outbox.c, deliveries.c, changes.c


class Forgotten(NamedTuple):
    """How many rows went."""

    events: int = 0
    outbox: int = 0
    deliveries: int = 0
    changes: int = 0
    quarantine: int = 0

    def plus(self, other: Forgotten) -> Forgotten:
        """Return both together."""
        return Forgotten(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Step(NamedTuple):
    """What one transaction forgot, and whether nothing is left that could go."""

    gone: Forgotten
    is_last: bool


def forget(connection: Connection, before: int) -> Step:
    """Return a piece of what is older than ``before``; repeat until it is the last."""
    done = positions.read(connection, positions.LIVE).value
    told = positions.read(connection, positions.NOTIFY).value
    opened = sa.exists().where(_D.outbox_id == _O.id, _D.state.not_in(OVER)).correlate(outbox)
    rows = sa.and_(_O.created_at < before, _O.id <= told, ~opened)
    ids = list(connection.execute(sa.select(_O.id).where(rows).order_by(_O.id).limit(PIECE)).scalars())
    superseded, looked_at = _forget_changes(connection, before, done)
    gone = Forgotten(
        events=_delete(connection, _E.id, sa.and_(_E.received_at < before, _E.id <= done)),
        deliveries=_delete_all(connection, deliveries, _D.outbox_id, ids),
        outbox=_delete_all(connection, outbox, _O.id, ids),
        changes=superseded,
        quarantine=_delete(connection, quarantine.c.id, quarantine.c.created_at < before),
    )
    tables = (gone.events, gone.outbox, gone.quarantine)  # a table that gave a whole piece may have more
    return Step(gone, max(*tables, looked_at) < PIECE)


def _forget_changes(connection: Connection, before: int, done: int) -> tuple[int, int]:
    """Look at the next old changes and delete those that they supersede; how many went, how many were seen.

    No event that waits may need one: only changes before the first such event are looked at.
    """
    first = next_known(connection, done)
    safe = last_change(connection) if first is None else first
    after = positions.lock(connection, positions.FORGET).value
    window = sa.select(_C.sequence, _C.at).where(_C.sequence > after, _C.sequence <= safe)
    rows = connection.execute(window.order_by(_C.sequence).limit(PIECE)).all()
    old = [row.sequence for row in itertools.takewhile(lambda row: row.at < before, rows)]
    if not old:
        return 0, 0
    gone = connection.execute(delete_superseded(after, old[-1])).rowcount
    positions.put(connection, positions.FORGET, old[-1])
    return gone, len(old)


def delete_superseded(after: int, until: int) -> sa.Delete:
    """Delete every change that one with a number from ``after`` (not included) to ``until`` supersedes."""
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
    among = one_of(key, values, connection.dialect.name == "sqlite")
    return connection.execute(sa.delete(table).where(among)).rowcount


def _delete(connection: Connection, key: sa.Column[Any], old: sa.ColumnElement[bool]) -> int:
    piece = sa.select(key).where(old).order_by(key).limit(PIECE).scalar_subquery()
    return connection.execute(sa.delete(key.table).where(key.in_(piece))).rowcount
