"""The notifier: turns rows of the outbox into deliveries and sends them until they arrive or are given up.

``Notifier(store, Settings(...))`` is all that is needed; :mod:`tamis.notify.transports` says how to add one.
"""

from __future__ import annotations

try:
    from tamis.notify.notifier import Notifier
    from tamis.notify.settings import Settings
except ModuleNotFoundError as missing:
    if (missing.name or "tamis").startswith("tamis"):
        raise
    raise ModuleNotFoundError(
        f"tamis.notify needs {missing.name}: pip install 'tamis[service]'", name=missing.name
    ) from None

__all__ = ["Notifier", "Settings"]
