"""Lists subscriptions, outbox rows and the quarantine in pages.

A page continues after the last name or number of the previous one, so every page costs the same. A filter
examines at most ``SCANNED`` rows for a page: the page may be short, but its ``next`` continues the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store.events import texts
from tamis.store.pages import Page, page_of
from tamis.store.subscriptions import StoredSubscription, select_stored
from tamis.store.tables import outbox, quarantine, subscriptions

SCANNED = 20_000
MATCH = "match"

_S, _O, _Q = subscriptions.c, outbox.c, quarantine.c


class SubscriptionFilter(NamedTuple):
    """A filter for subscriptions."""

    owner: str | None  # None: all owners
    status: str | None = None
    text: str | None = None  # part of the owner's id or of the expression, ignoring case


class OutboxRow(NamedTuple):
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
    query: str  # the query that found the match


class Refusal(NamedTuple):
    """A quarantined event or subscription."""

    id: int
    query: str
    event_id: str | None
    subscription_id: str | None
    code: str
    message: str
    text: str | None
    created_at: int


def subscriptions_page(
    connection: Connection, filters: SubscriptionFilter, after: str, most: int
) -> Page[StoredSubscription, str]:
    """Return a page of subscriptions in the order of their ids."""
    rows = select_stored().where(_S.id > after).order_by(_S.id)
    if filters.owner is not None:
        rows = rows.where(_S.owner == filters.owner, _begins(_S.id, f"{filters.owner}/"))
    if filters.status is None and filters.text is None:
        return page_of([StoredSubscription(*row) for row in connection.execute(rows.limit(most + 1))], most)
    scanned = rows.limit(SCANNED).subquery()
    found = sa.select(scanned).where(_filter(scanned.c, filters)).order_by(scanned.c.id).limit(most + 1)
    page = page_of([StoredSubscription(*row) for row in connection.execute(found)], most)
    if page.next is not None:
        return page
    last, count = connection.execute(sa.select(sa.func.max(scanned.c.id), sa.func.count())).one()
    return Page(page.items, last if count == SCANNED else None)


def subscriptions_total(connection: Connection, filters: SubscriptionFilter) -> int:
    """Return the number of subscriptions that fit the filter."""
    rows = sa.select(sa.func.count()).select_from(subscriptions)
    if filters.owner is not None:
        rows = rows.where(_S.owner == filters.owner, _begins(_S.id, f"{filters.owner}/"))
    return int(connection.execute(rows.where(_filter(_S, filters))).scalar_one())


def _filter(columns: Any, filters: SubscriptionFilter) -> sa.ColumnElement[bool]:
    tests: list[sa.ColumnElement[bool]] = []
    if filters.status is not None:
        tests.append(columns.status == filters.status)
    if filters.text is not None:
        both = (_own_name(columns), columns.expression)
        tests.append(sa.or_(*(column.icontains(filters.text, autoescape=True) for column in both)))
    return sa.and_(sa.true(), *tests)


def _own_name(columns: Any) -> sa.ColumnElement[str]:
    """Return an id without its owner's prefix."""
    prefix = columns.owner + "/"
    begins = sa.func.substr(columns.id, 1, sa.func.length(prefix)) == prefix
    return sa.case((begins, sa.func.substr(columns.id, sa.func.length(prefix) + 1)), else_=columns.id)


def _begins(column: sa.ColumnElement[str], prefix: str) -> sa.ColumnElement[bool]:
    """Return whether a text begins with a prefix, character by character, independent of the collation."""
    return sa.func.substr(column, 1, len(prefix)) == prefix


def rows_after(
    connection: Connection, after: int, most: int, owner: str | None = None
) -> Page[OutboxRow, int]:
    """Return the outbox rows after a number, in order, for one owner or for all.

    ``next`` is the last number examined; ``None`` if there are no rows after ``after`` yet.
    """
    scanned = sa.select(_O.id).where(_O.id > after).order_by(_O.id).limit(SCANNED if owner else most)
    last = connection.execute(sa.select(sa.func.max(scanned.subquery().c.id))).scalar()
    if last is None:
        return Page([], None)
    rows = (
        sa.select(*(_O[name] for name in OutboxRow._fields))
        .where(_O.id > after, _O.id <= last)
        .order_by(_O.id)
        .limit(most + 1)
    )
    if owner is not None:
        rows = rows.where(_begins(_O.subscription_id, f"{owner}/"))
    found = [OutboxRow(*row) for row in connection.execute(rows)]
    return Page(found[:most], found[most - 1].id if len(found) > most else last)


def with_event_texts(connection: Connection, rows: Sequence[OutboxRow]) -> list[OutboxRow]:
    """Return the rows with the texts of published events, which the outbox does not repeat."""
    wanted = {row.event_id for row in rows if row.payload is None and row.kind == MATCH}
    known = texts(connection, list(wanted)) if wanted else {}
    return [row._replace(payload=known.get(row.event_id)) if row.event_id in known else row for row in rows]


def last_number(connection: Connection) -> int:
    """Return the greatest number in the outbox, or 0 if it is empty."""
    return connection.execute(sa.select(sa.func.max(_O.id))).scalar() or 0


def refusals_page(connection: Connection, before: int | None, most: int) -> Page[Refusal, int]:
    """Return a page of the quarantine, the latest first."""
    query = sa.select(*(_Q[name] for name in Refusal._fields)).order_by(_Q.id.desc()).limit(most + 1)
    rows = connection.execute(query if before is None else query.where(_Q.id < before))
    return page_of([Refusal(*row) for row in rows], most)
