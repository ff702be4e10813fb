"""How far a reader of a numbered table has come, and who reads on: any number may stand by.

The row of a position is locked by whoever moves it, together with what came of reading that far. So two
readers that both believe in their turn do the same work twice, but write it once.
"""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store.moments import now
from tamis.store.tables import positions

LIVE, NOTIFY, FORGET = "live", "notify", "forget"
_P = positions.c


class Position(NamedTuple):
    """A reader's place."""

    value: int
    holder: str | None
    until: int  # the holder's turn ends then, unless it goes on


def read(connection: Connection, name: str) -> Position:
    """Return the place as it is."""
    query = sa.select(_P.value, _P.holder, _P.until).where(_P.name == name)
    return Position(*connection.execute(query).one())


def lock(connection: Connection, name: str) -> Position:
    """Return the place, which nobody else moves before this transaction ends."""
    query = sa.select(_P.value, _P.holder, _P.until).where(_P.name == name).with_for_update()
    return Position(*connection.execute(query).one())


def move(connection: Connection, name: str, value: int, holder: str, turn: int) -> None:
    """Put down a place that was locked; the turn of ``holder`` lasts so many microseconds from now."""
    at = sa.update(positions).where(_P.name == name)
    connection.execute(at.values(value=value, holder=holder, until=now() + turn))


def put(connection: Connection, name: str, value: int) -> None:
    """Put down a place that nobody holds for a turn."""
    connection.execute(sa.update(positions).where(_P.name == name).values(value=value))


def leave(connection: Connection, name: str, holder: str) -> None:
    """End a turn, so that another need not wait."""
    mine = sa.update(positions).where(_P.name == name, _P.holder == holder)
    connection.execute(mine.values(until=0))
