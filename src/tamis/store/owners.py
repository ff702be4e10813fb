"""Owners: what each may hold and ask for, and what it holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.limits import Limits
from tamis.store.moments import now
from tamis.store.tables import owners

_O = owners.c
_ADD = (
    "INSERT INTO owners (owner, created, subscriptions, predicates) "
    "VALUES (:owner, :created, :subscriptions, :predicates) ON CONFLICT (owner) DO UPDATE SET "
    "subscriptions = owners.subscriptions + excluded.subscriptions, "
    "predicates = owners.predicates + excluded.predicates"
)


class Quotas(NamedTuple):
    """What an owner may hold, and ask for in a second."""

    subscriptions: int
    predicates: int  # of all subscriptions together; a list counts each of its values
    requests: int  # a second
    events: int  # a second
    changes: int  # a second, by import
    streams: int  # open at once
    requests_at_once: int

    @classmethod
    def default(cls, limits: Limits) -> Quotas:
        """What every owner may, unless something else was said."""
        return cls(*(getattr(limits, f"owner_{name}") for name in cls._fields))


class Owner(NamedTuple):
    """An owner as the store knows it."""

    owner: str
    given: dict[str, int]  # quotas that differ from the defaults
    subscriptions: int = 0  # held now
    predicates: int = 0
    created: int | None = None

    def quotas(self, limits: Limits) -> Quotas:
        """What is in force for this owner."""
        return Quotas.default(limits)._replace(**self.given)


def account(connection: Connection, gone: Iterable[Any], come: Iterable[Any]) -> None:
    """Keep the sums of each owner: rows of the book that went, and rows that came."""
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for sign, rows in ((-1, gone), (1, come)):
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
    """Return one owner, if anything is known of it."""
    columns = (_O.owner, _O.quotas, _O.subscriptions, _O.predicates, _O.created)
    row = connection.execute(sa.select(*columns).where(_O.owner == owner)).first()
    return row and Owner(row[0], _given(row[1]), *row[2:])


def found(connection: Connection, owner: str) -> Owner:
    """Return one owner, whether anything is known of it or not."""
    return find(connection, owner) or Owner(owner, {})


def put(connection: Connection, owner: str, given: dict[str, int]) -> Owner:
    """Say what an owner may; quotas that are not named are the defaults again."""
    text = msgspec.json.encode(given, order="sorted").decode()
    statement = (
        "INSERT INTO owners (owner, created, quotas) VALUES (:owner, :created, :quotas) "
        "ON CONFLICT (owner) DO UPDATE SET quotas = excluded.quotas"
    )
    connection.execute(sa.text(statement), {"owner": owner, "created": now(), "quotas": text})
    return found(connection, owner)


def _given(text: str | None) -> dict[str, int]:
    return msgspec.json.decode(text, type=dict[str, int]) if text else {}
