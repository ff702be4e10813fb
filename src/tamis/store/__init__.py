"""The store: subscriptions, the log of their changes, and the outbox, in SQLite or PostgreSQL.

What runs on Spark and what serves requests meet here and nowhere else. ``Store.open(url)`` creates the
tables or brings them up to date; :mod:`tamis.store.database` is the only module that opens a database.
"""

from __future__ import annotations

from tamis.extras import needs_extra

with needs_extra("tamis.store", "store"):
    from tamis.store.store import Store
    from tamis.store.subscriptions import Held, Refused, Written

__all__ = ["Held", "Refused", "Store", "Written"]
