"""The live index: it follows the store's change log and matches published events.

:class:`~tamis.live.live.Live` is the public class. Every write of the service goes through its committer,
which groups many into a transaction. Its matcher takes published events in order and puts matches into the
outbox.
"""

from __future__ import annotations

from tamis.live.live import Live
from tamis.live.pending_changes import Matched

__all__ = ["Live", "Matched"]
