"""Stores how far each reader of a numbered table has come, and which reader holds the lease.

A reader locks the row of its position and moves it in the transaction that writes the results. If two readers
both believe that they hold the lease, they do the work twice but write it once.
"""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store.tables import positions
from tamis.store.timestamps import now

LIVE, NOTIFY, FORGET = "live", "notify", "forget"
_P = positions.c


class Position(NamedTuple):
    """The position of a reader."""

    value: int
    holder: str | None
    until: int  # end of the holder's lease, unless it is renewed


def read(connection: Connection, name: str) -> Position:
    """Return the position."""
    query = sa.select(_P.value, _P.holder, _P.until).where(_P.name == name)
    return Position(*connection.execute(query).one())


def lock(connection: Connection, name: str) -> Position:
    """Return the position and lock it until this transaction ends."""
    query = sa.select(_P.value, _P.holder, _P.until).where(_P.name == name).with_for_update()
    return Position(*connection.execute(query).one())


def move(connection: Connection, name: str, value: int, holder: str, lease: int) -> None:
    """Set a locked position; the holder's lease lasts for ``lease`` microseconds from now."""
    at = sa.update(positions).where(_P.name == name)
    connection.execute(at.values(value=value, holder=holder, until=now() + lease))


def set_value(connection: Connection, name: str, value: int) -> None:
    """Set a position that has no lease."""
    connection.execute(sa.update(positions).where(_P.name == name).values(value=value))


def release(connection: Connection, name: str, holder: str) -> None:
    """End a lease, so that another reader need not wait."""
    mine = sa.update(positions).where(_P.name == name, _P.holder == holder)
    connection.execute(mine.values(until=0))
