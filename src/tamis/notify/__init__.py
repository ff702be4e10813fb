"""The notifier: turns rows of the outbox into deliveries and sends them until they arrive or are given up.

``Notifier(store, Settings(...))`` is all that is needed; :mod:`tamis.notify.transports` says how to add one.
"""

from __future__ import annotations

from tamis.extras import needs_extra

with needs_extra("tamis.notify", "service"):
    from tamis.notify.notifier import Notifier
    from tamis.notify.settings import Settings

__all__ = ["Notifier", "Settings"]
