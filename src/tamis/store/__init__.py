"""The store: subscriptions, the log of their changes, and the outbox, in SQLite or PostgreSQL.

The Spark pipeline and the service exchange data only through the store. ``Store.open(url)`` creates the
tables or migrates them; :mod:`tamis.store.database` is the only module that opens a database.
"""

from __future__ import annotations

from tamis.extras import needs_extra

with needs_extra("tamis.store", "store"):
    from tamis.store.store import Store
    from tamis.store.subscriptions import Refused, StoredSubscription, Written

__all__ = ["Refused", "Store", "StoredSubscription", "Written"]
