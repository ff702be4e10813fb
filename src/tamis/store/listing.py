"""Pages: what a person or a program browses, a bounded piece at a time.

A page goes on after the last name or number of the one before, so it costs the same wherever it stands.
A filter looks at no more than ``SCANNED`` rows for a page: it may come back short, and says where to go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store.events import texts
from tamis.store.subscriptions import Held, select_held
from tamis.store.tables import outbox, quarantine, subscriptions

SCANNED = 20_000
MATCH = "match"

_S, _O, _Q = subscriptions.c, outbox.c, quarantine.c
Item = TypeVar("Item")
Place = TypeVar("Place", str, int)


class Page(NamedTuple, Generic[Item, Place]):
    """Some items, and where the next page begins; ``None`` after the last."""

    items: list[Item]
    next: Place | None


class Wanted(NamedTuple):
    """Which subscriptions to list."""

    owner: str | None  # None: everybody's
    status: str | None = None
    text: str | None = None  # in the name that the owner gave it or in the expression, in any case


class Told(NamedTuple):
    """A row of the outbox."""

    id: int
    kind: str
    event_id: str
    subscription_id: str
    version: int
    score: float | None
    event_time: int | None
    payload: str | None
    created_at: int
    query: str  # what found it


class Refusal(NamedTuple):
    """An event or subscription that was refused while nobody waited for an answer."""

    id: int
    query: str
    event_id: str | None
    subscription_id: str | None
    code: str
    message: str
    text: str | None
    created_at: int


def subscriptions_page(connection: Connection, wanted: Wanted, after: str, most: int) -> Page[Held, str]:
    """Subscriptions in the order of their ids."""
    rows = select_held().where(_S.id > after).order_by(_S.id)
    if wanted.owner is not None:
        rows = rows.where(_S.owner == wanted.owner, _begins(_S.id, f"{wanted.owner}/"))
    if wanted.status is None and wanted.text is None:
        return _page([Held(*row) for row in connection.execute(rows.limit(most + 1))], most)
    scanned = rows.limit(SCANNED).subquery()
    found = sa.select(scanned).where(_filter(scanned.c, wanted)).order_by(scanned.c.id).limit(most + 1)
    page = _page([Held(*row) for row in connection.execute(found)], most)
    if page.next is not None:
        return page
    last, count = connection.execute(sa.select(sa.func.max(scanned.c.id), sa.func.count())).one()
    return Page(page.items, last if count == SCANNED else None)


def subscriptions_total(connection: Connection, wanted: Wanted) -> int:
    """Return how many subscriptions a list without pages would have."""
    rows = sa.select(sa.func.count()).select_from(subscriptions)
    if wanted.owner is not None:
        rows = rows.where(_S.owner == wanted.owner, _begins(_S.id, f"{wanted.owner}/"))
    return int(connection.execute(rows.where(_filter(_S, wanted))).scalar_one())


def _page(items: list[Any], most: int) -> Page[Any, Any]:
    return Page(items[:most], items[most - 1].id if len(items) > most else None)


def _filter(columns: Any, wanted: Wanted) -> sa.ColumnElement[bool]:
    tests: list[sa.ColumnElement[bool]] = []
    if wanted.status is not None:
        tests.append(columns.status == wanted.status)
    if wanted.text is not None:
        both = (_own_name(columns), columns.expression)
        tests.append(sa.or_(*(column.icontains(wanted.text, autoescape=True) for column in both)))
    return sa.and_(sa.true(), *tests)


def _own_name(columns: Any) -> sa.ColumnElement[str]:
    """Return an id without the owner that it is stored under."""
    prefix = columns.owner + "/"
    begins = sa.func.substr(columns.id, 1, sa.func.length(prefix)) == prefix
    return sa.case((begins, sa.func.substr(columns.id, sa.func.length(prefix) + 1)), else_=columns.id)


def _begins(column: sa.ColumnElement[str], prefix: str) -> sa.ColumnElement[bool]:
    """Character by character, whatever a database's collation thinks of slashes."""
    return sa.func.substr(column, 1, len(prefix)) == prefix


def told_after(connection: Connection, after: int, most: int, owner: str | None = None) -> Page[Told, int]:
    """Return the outbox after a number, in order, for everybody or for one owner.

    ``next`` is the last number that was looked at; ``None`` if there is nothing after ``after`` yet.
    """
    scanned = sa.select(_O.id).where(_O.id > after).order_by(_O.id).limit(SCANNED if owner else most)
    last = connection.execute(sa.select(sa.func.max(scanned.subquery().c.id))).scalar()
    if last is None:
        return Page([], None)
    rows = (
        sa.select(*(_O[name] for name in Told._fields))
        .where(_O.id > after, _O.id <= last)
        .order_by(_O.id)
        .limit(most + 1)
    )
    if owner is not None:
        rows = rows.where(_begins(_O.subscription_id, f"{owner}/"))
    found = [Told(*row) for row in connection.execute(rows)]
    return Page(found[:most], found[most - 1].id if len(found) > most else last)


def with_texts(connection: Connection, rows: Sequence[Told]) -> list[Told]:
    """Return the same rows; where an event was published, with its text, which the outbox does not repeat."""
    wanted = {row.event_id for row in rows if row.payload is None and row.kind == MATCH}
    known = texts(connection, list(wanted)) if wanted else {}
    return [row._replace(payload=known.get(row.event_id)) if row.event_id in known else row for row in rows]


def last_told(connection: Connection) -> int:
    """Return the greatest number in the outbox; 0 if it is empty."""
    return connection.execute(sa.select(sa.func.max(_O.id))).scalar() or 0


def refusals_page(connection: Connection, before: int | None, most: int) -> Page[Refusal, int]:
    """What is in quarantine, the latest first."""
    query = sa.select(*(_Q[name] for name in Refusal._fields)).order_by(_Q.id.desc()).limit(most + 1)
    rows = connection.execute(query if before is None else query.where(_Q.id < before))
    return _page([Refusal(*row) for row in rows], most)
