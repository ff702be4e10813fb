"""The notifier: turns outbox rows into deliveries, and retries each until it succeeds or is given up.

Create it with ``Notifier(store, Settings(...))``; :mod:`tamis.notify.transports` explains how to add a
transport.
"""

from __future__ import annotations

from tamis.extras import needs_extra

with needs_extra("tamis.notify", "service"):
    from tamis.notify.notifier import Notifier
    from tamis.notify.settings import Settings

__all__ = ["Notifier", "Settings"]
