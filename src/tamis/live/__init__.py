"""The living index: it follows the store's change log and matches the events that are published there.

:class:`~tamis.live.live.Live` is what others hold. Every write of the service goes through its committer,
many to a transaction; its matcher takes published events in order and puts matches into the outbox.
"""

from __future__ import annotations

from tamis.live.live import Live
from tamis.live.overlay import Matched

__all__ = ["Live", "Matched"]
