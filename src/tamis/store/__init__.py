"""The store: subscriptions, the log of their changes, and the outbox, in SQLite or PostgreSQL.

What runs on Spark and what serves requests meet here and nowhere else. ``Store.open(url)`` creates the
tables or brings them up to date; :mod:`tamis.store.database` is the only module that opens a database.
"""

from __future__ import annotations

try:
    from tamis.store.book import Held, Refused, Written
    from tamis.store.store import Store
except ModuleNotFoundError as missing:
    if (missing.name or "tamis").startswith("tamis"):
        raise
    raise ModuleNotFoundError(
        f"tamis.store needs {missing.name}: pip install 'tamis[store]'", name=missing.name
    ) from None

__all__ = ["Held", "Refused", "Store", "Written"]
