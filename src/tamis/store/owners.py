"""Owners with their quotas and their use of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.limits import Limits
from tamis.store.tables import owners
from tamis.store.timestamps import now

_O = owners.c
_ADD = (
    "INSERT INTO owners (owner, created, subscriptions, predicates) "
    "VALUES (:owner, :created, :subscriptions, :predicates) ON CONFLICT (owner) DO UPDATE SET "
    "subscriptions = owners.subscriptions + excluded.subscriptions, "
    "predicates = owners.predicates + excluded.predicates"
)


class Quotas(NamedTuple):
    """The amounts that an owner may lock_counter, and its rates per second."""

    subscriptions: int
    predicates: int  # of all subscriptions together; a list counts each of its values
    requests: int  # per second
    events: int  # per second
    changes: int  # per second, by import
    streams: int  # open at once
    requests_at_once: int

    @classmethod
    def default(cls, limits: Limits) -> Quotas:
        """Return the default quotas of every owner."""
        return cls(*(getattr(limits, f"owner_{name}") for name in cls._fields))


class Owner(NamedTuple):
    """A stored owner."""

    owner: str
    given: dict[str, int]  # quotas that differ from the defaults
    subscriptions: int = 0  # currently stored
    predicates: int = 0
    created: int | None = None

    def quotas(self, limits: Limits) -> Quotas:
        """Return the quotas in force for this owner."""
        return Quotas.default(limits)._replace(**self.given)


def update_totals(connection: Connection, removed: Iterable[Any], added: Iterable[Any]) -> None:
    """Update the totals of each owner by the removed and the added rows."""
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for sign, rows in ((-1, removed), (1, added)):
        for row in rows:
            if row.owner is not None:
                sums[row.owner][0] += sign
                sums[row.owner][1] += sign * row.size
    changed = [
        {"owner": owner, "created": now(), "subscriptions": number, "predicates": size}
        for owner, (number, size) in sums.items()
        if number or size
    ]
    if changed:
        connection.execute(sa.text(_ADD), changed)


def find(connection: Connection, owner: str) -> Owner | None:
    """Return an owner, or ``None`` if it is unknown."""
    columns = (_O.owner, _O.quotas, _O.subscriptions, _O.predicates, _O.created)
    row = connection.execute(sa.select(*columns).where(_O.owner == owner)).first()
    return row and Owner(row[0], _given(row[1]), *row[2:])


def find_or_default(connection: Connection, owner: str) -> Owner:
    """Return an owner; an unknown one has the default quotas and holds nothing."""
    return find(connection, owner) or Owner(owner, {})


def put(connection: Connection, owner: str, given: dict[str, int]) -> Owner:
    """Set the quotas of an owner; quotas that are not named get their default."""
    text = msgspec.json.encode(given, order="sorted").decode()
    statement = (
        "INSERT INTO owners (owner, created, quotas) VALUES (:owner, :created, :quotas) "
        "ON CONFLICT (owner) DO UPDATE SET quotas = excluded.quotas"
    )
    connection.execute(sa.text(statement), {"owner": owner, "created": now(), "quotas": text})
    return find_or_default(connection, owner)


def _given(text: str | None) -> dict[str, int]:
    return msgspec.json.decode(text, type=dict[str, int]) if text else {}
