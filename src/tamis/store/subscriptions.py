"""Stores subscriptions and the log of their changes.

Every write goes through :func:`write`. It locks the change counter, so that the numbers it takes become
visible in order. A subscription that does not change takes no number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.contract.change import Change
from tamis.contract.delivery import delivery_text, parse_delivery
from tamis.contract.schedule import parse_schedule
from tamis.contract.token import token_of
from tamis.errors import SubscriptionError, TamisError, UnknownSubscription
from tamis.expression.tree import size_of
from tamis.index.sources import subscription_from
from tamis.language import to_text
from tamis.limits import Limits
from tamis.store.bulk import advance_counter, insert, lock_counter, one_of
from tamis.store.deliveries import cancel
from tamis.store.owners import update_totals
from tamis.store.tables import CHANGE_ORDER, changes, counters, subscriptions
from tamis.store.timestamps import now
from tamis.values.analysis import NO_ANALYSERS, Analysers

ACTIVE, PAUSED = "active", "paused"
REFUSED_TEXT = 65_536  # characters of a refused subscription that are kept

_S = subscriptions.c
_REPLACE = (
    "ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, expression = excluded.expression, "
    "priority = excluded.priority, schedule = excluded.schedule, delivery = excluded.delivery, "
    "status = excluded.status, size = excluded.size, version = excluded.version, updated = excluded.updated"
)


class Entry(NamedTuple):
    """A checked subscription, ready to be written."""

    id: str
    owner: str | None
    expression: str
    priority: float
    schedule: str | None
    delivery: str | None = None  # JSON
    status: str = ACTIVE
    size: int = 1  # of the expression, in predicates

    @property
    def matched(self) -> str | None:
        """The expression to match events against, or ``None`` while it is paused."""
        return self.expression if self.status == ACTIVE else None


class StoredSubscription(NamedTuple):
    """A stored subscription."""

    id: str
    owner: str | None
    expression: str
    priority: float
    schedule: str | None
    delivery: str | None
    status: str
    size: int
    version: int
    created: int
    updated: int

    def as_entry(self) -> Entry:
        """Return the subscription as an entry to write."""
        return Entry(*(getattr(self, name) for name in Entry._fields))


class Refused(NamedTuple):
    """A refused subscription and the reason."""

    id: str
    code: str
    position: int | None
    message: str
    text: str


class Written(NamedTuple):
    """The outcome of writing many subscriptions."""

    changed: int = 0  # new or changed: each has a change in the log
    unchanged: int = 0  # identical to the stored one
    refused: tuple[Refused, ...] = ()
    last_change: int = 0  # the greatest version among the changed, or 0

    def plus(self, other: Written) -> Written:
        """Return the sum of both."""
        return Written(
            self.changed + other.changed,
            self.unchanged + other.unchanged,
            self.refused + other.refused,
            max(self.last_change, other.last_change),
        )


FIELDS = ("id", "expression", "priority", "version", "owner", "schedule", "delivery", "status")


def entry_from(
    row: Any, limits: Limits, ignore: Collection[str] = (), analysers: Analysers = NO_ANALYSERS
) -> Entry:
    """Return a checked subscription from any form that the library accepts.

    Mappings may have ``owner``, ``schedule``, ``delivery`` and ``status``, and the fields that ``ignore``
    names.
    """
    held = subscription_from(row, limits, FIELDS, ignore, analysers)
    more = row if isinstance(row, Mapping) else {}
    given = (
        row.get("expression")
        if isinstance(row, Mapping)
        else row[1]
        if isinstance(row, tuple | list)
        else None
    )
    expression = given if isinstance(given, str) else to_text(held.expression)
    owner = _optional_text(more.get("owner"), "owner", limits)
    schedule = _optional_text(more.get("schedule"), "schedule", limits)
    if schedule is not None:
        schedule = str(parse_schedule(schedule))
    for text in (held.id, expression):
        _check_storable(text)
    status = more.get("status") or ACTIVE
    if status not in (ACTIVE, PAUSED):
        raise SubscriptionError(f"a subscription is {ACTIVE} or {PAUSED}, not {str(status)[:80]!r}")
    delivery = _delivery_text(more.get("delivery"), limits)
    size = size_of(held.expression)
    return Entry(held.id, owner, expression, held.priority, schedule, delivery, status, size)


def refusal_of(row: Any, bad: TamisError) -> Refused:
    """Return a refused row as data."""
    one = row if isinstance(row, Mapping) else {}
    pair = row if isinstance(row, tuple | list) else ()
    identity = one.get("id") if one else (pair[0] if pair else getattr(row, "id", ""))
    text = one.get("expression") if one else (pair[1] if len(pair) > 1 else row)
    return Refused(
        str(identity or ""), bad.code, bad.details.get("position"), bad.message, str(text)[:REFUSED_TEXT]
    )


def write(connection: Connection, entries: Sequence[Entry]) -> Written:
    """Put subscriptions; if an id occurs twice, the last one counts."""
    last = lock_counter(connection, CHANGE_ORDER)
    wanted = {entry.id: entry for entry in entries}
    found = {held.id: held for held in find(connection, list(wanted))}
    fresh = [entry for entry in wanted.values() if _differs(entry, found.get(entry.id))]
    if fresh:
        _append(connection, fresh, last)
        advance_counter(connection, CHANGE_ORDER, len(fresh))
        update_totals(connection, (found[entry.id] for entry in fresh if entry.id in found), fresh)
    return Written(len(fresh), len(wanted) - len(fresh), (), last + len(fresh) if fresh else 0)


def version_of(connection: Connection, identity: str) -> int:
    """Return the version of an existing subscription."""
    return int(connection.execute(sa.select(_S.version).where(_S.id == identity)).scalar_one())


def remove(connection: Connection, identity: str) -> int:
    """Delete a subscription; return the number of the change."""
    sequence = lock_counter(connection, CHANGE_ORDER) + 1
    held = get(connection, identity)
    if held is None:
        raise UnknownSubscription(f"there is no subscription {identity[:80]!r}", subscription=identity)
    connection.execute(sa.delete(subscriptions).where(_S.id == identity))
    update_totals(connection, [held], [])
    row = {"subscription_id": identity, "token": token_of(identity), "expression": None, "priority": 0.0}
    connection.execute(sa.insert(changes), {"sequence": sequence, "at": now(), **row})
    advance_counter(connection, CHANGE_ORDER, 1)
    cancel(connection, identity)
    return sequence


def get(connection: Connection, identity: str) -> StoredSubscription | None:
    """Return one subscription, or ``None``."""
    return next(find(connection, [identity]), None)


def changes_after(connection: Connection, after: int, most: int) -> list[Change]:
    """Return the next changes, in order."""
    c = changes.c
    query = sa.select(c.sequence, c.subscription_id, c.expression, c.priority)
    rows = connection.execute(query.where(c.sequence > after).order_by(c.sequence).limit(most))
    return [Change(*row) for row in rows]


def subscriptions_at(connection: Connection, until: int) -> sa.CursorResult[Any]:
    """Return the subscriptions in force after change ``until`` as (sequence, id, expression, priority)."""
    c, last = changes.c, changes.alias("last")
    newest = sa.func.max(last.c.sequence).label("sequence")
    each = sa.select(newest).where(last.c.sequence <= until).group_by(last.c.subscription_id).subquery()
    query = sa.select(c.sequence, c.subscription_id, c.expression, c.priority)
    joined = query.join(each, each.c.sequence == c.sequence).where(c.expression.is_not(None))
    return connection.execute(joined.order_by(c.sequence))


def last_change(connection: Connection) -> int:
    """Return the number of the last change, or 0 if there is none."""
    return int(
        connection.execute(sa.select(counters.c.value).where(counters.c.name == CHANGE_ORDER)).scalar_one()
    )


def find(connection: Connection, ids: Sequence[str]) -> Iterator[StoredSubscription]:
    """Yield the existing subscriptions among ``ids``."""
    among = one_of(connection, _S.id, ids)
    return (StoredSubscription(*row) for row in connection.execute(select_stored().where(among)))


def select_stored() -> sa.Select[Any]:
    """Return a query for all fields of a stored subscription."""
    return sa.select(*(_S[name] for name in StoredSubscription._fields))


def _differs(entry: Entry, held: StoredSubscription | None) -> bool:
    return held is None or entry != held[: len(entry)]


def _append(connection: Connection, fresh: Sequence[Entry], last: int) -> None:
    """Write new versions to the log and to the table of subscriptions."""
    ids = pa.array([entry.id for entry in fresh], pa.string())
    token = pa.array([token_of(entry.id) for entry in fresh], pa.int64())
    expression = pa.array([entry.expression for entry in fresh], pa.string())
    priority = pa.array([entry.priority for entry in fresh], pa.float64())
    version = pa.array(range(last + 1, last + 1 + len(fresh)), pa.int64())
    moment = now()
    log = {
        "sequence": version,
        "subscription_id": ids,
        "token": token,
        "expression": pa.array([entry.matched for entry in fresh], pa.string()),
        "priority": priority,
    }
    insert(connection, changes, pa.table(log), {"at": moment}, "")
    book = {
        "id": ids,
        "token": token,
        "owner": pa.array([entry.owner for entry in fresh], pa.string()),
        "expression": expression,
        "priority": priority,
        "schedule": pa.array([entry.schedule for entry in fresh], pa.string()),
        "delivery": pa.array([entry.delivery for entry in fresh], pa.string()),
        "status": pa.array([entry.status for entry in fresh], pa.string()),
        "size": pa.array([entry.size for entry in fresh], pa.int64()),
        "version": version,
    }
    insert(connection, subscriptions, pa.table(book), {"created": moment, "updated": moment}, _REPLACE)


def _optional_text(value: Any, name: str, limits: Limits) -> str | None:
    if value is None:
        return None
    if (
        type(value) is not str
        or not value
        or len(value.encode(errors="replace")) > limits.subscription_id_bytes
    ):
        raise SubscriptionError(
            f"the {name} of a subscription is a text of 1 to {limits.subscription_id_bytes} bytes "
            f"(subscription_id_bytes), or nothing; not {str(value)[:80]!r}"
        )
    _check_storable(value)
    return value


def _delivery_text(delivery: Any, limits: Limits) -> str | None:
    return None if delivery is None else delivery_text(parse_delivery(delivery, limits))


def _check_storable(text: str) -> None:
    if "\0" in text:
        raise SubscriptionError("the character U+0000 cannot be stored; leave it out")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise SubscriptionError("a lone surrogate is no text; leave it out") from None
