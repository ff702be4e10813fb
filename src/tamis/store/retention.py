"""Forgetting: what is done and old goes, piece by piece, and nothing that anybody still waits for.

Events go once they were matched, rows of the outbox once they were dispatched and no delivery of them is
open, changes once a later one of the same subscription has taken their place. The last change of every
subscription stays, also if that is its end: an index that was saved long ago can still follow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store import positions
from tamis.store.book import last_change
from tamis.store.bulk import one_of
from tamis.store.deliveries import OVER
from tamis.store.events import next_known
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
        """Both together."""
        return Forgotten(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def is_all(self) -> bool:
        """Whether nothing is left that could go: no table gave a whole piece."""
        return max(self) < PIECE


def forget(connection: Connection, before: int) -> Forgotten:
    """A piece of what is older than ``before``; repeat until it ``is_all``."""
    done = positions.read(connection, positions.LIVE).value
    told = positions.read(connection, positions.NOTIFY).value
    opened = sa.exists().where(_D.outbox_id == _O.id, _D.state.not_in(OVER)).correlate(outbox)
    rows = sa.and_(_O.created_at < before, _O.id <= told, ~opened)
    ids = list(connection.execute(sa.select(_O.id).where(rows).order_by(_O.id).limit(PIECE)).scalars())
    return Forgotten(
        events=_delete(connection, _E.id, sa.and_(_E.received_at < before, _E.id <= done)),
        deliveries=_delete_all(connection, deliveries, _D.outbox_id, ids),
        outbox=_delete_all(connection, outbox, _O.id, ids),
        changes=_delete(connection, _C.sequence, sa.and_(_C.at < before, _superseded(connection, done))),
        quarantine=_delete(connection, quarantine.c.id, quarantine.c.created_at < before),
    )


def _superseded(connection: Connection, done: int) -> sa.ColumnElement[bool]:
    """Changes before which every event was matched, and which are not the last of their subscription."""
    first = next_known(connection, done)
    safe = last_change(connection) if first is None else first
    each = sa.select(sa.func.max(_C.sequence)).where(_C.sequence <= safe).group_by(_C.subscription_id)
    return sa.and_(_C.sequence <= safe, _C.sequence.not_in(each.scalar_subquery()))


def _delete_all(connection: Connection, table: sa.Table, key: sa.Column[Any], values: list[int]) -> int:
    among = one_of(key, values, connection.dialect.name == "sqlite")
    return connection.execute(sa.delete(table).where(among)).rowcount


def _delete(connection: Connection, key: sa.Column[Any], old: sa.ColumnElement[bool]) -> int:
    piece = sa.select(key).where(old).order_by(key).limit(PIECE).scalar_subquery()
    return connection.execute(sa.delete(key.table).where(key.in_(piece))).rowcount
