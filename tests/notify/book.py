"""Create stores with subscriptions and matches, and read the state of their deliveries."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from tamis.store import Store, outbox
from tamis.store.tables import deliveries
from tamis.store.tables import outbox as outbox_table

LOG = {"transport": "log"}
SECOND = 1_000_000
MINUTE = 60 * SECOND


def subscribe(store: Store, name: str, delivery: dict[str, Any] | None = None, **more: Any) -> int:
    """Store a subscription ``owner/name``."""
    owner = name.partition("/")[0]
    return store.put(name, "a = 1", owner=owner, delivery=delivery or LOG, **more)


def tell(
    store: Store, *pairs: tuple[str, str], at: int | None = None, payload: str | None = '{"a":1}'
) -> None:
    """Write matches of (event, subscription) to the outbox; ``at`` is their time."""
    columns: dict[str, Any] = {
        "event_id": [event for event, _ in pairs],
        "subscription_id": [name for _, name in pairs],
        "version": pa.array([1] * len(pairs), pa.int64()),
        "payload": pa.array([payload] * len(pairs), pa.string()),
    }
    with store.database.writing() as connection:
        before = connection.execute(sa.select(sa.func.max(outbox_table.c.id))).scalar() or 0
        outbox.add_matches(connection, pa.table(columns), "test", 0)
        if at is not None:
            fresh = sa.update(outbox_table).where(outbox_table.c.id > before)
            connection.execute(fresh.values(created_at=at))


def rows(store: Store, table: sa.Table = deliveries) -> list[Any]:
    """Return all rows in order."""
    with store.database.reading() as connection:
        return list(connection.execute(sa.select(table).order_by(*table.primary_key)))


def states(store: Store) -> dict[str, int]:
    """Return the number of deliveries by state."""
    found: dict[str, int] = {}
    for row in rows(store):
        found[row.state] = found.get(row.state, 0) + 1
    return found
