"""Run large merges in a thread of their own while subscriptions change.

A merge reads layers as they are at one moment. A subscription that is removed from them before the merge ends
is removed from its result as well, in the same step that puts the result in their place.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tamis.head import HeadView
from tamis.index.snapshot import Layer, Snapshot
from tamis.segment import Segment

SMALL = 20_000  # subscriptions that are merged at once, in the calling thread

_log = logging.getLogger(__name__)


class Merge(NamedTuple):
    """Layers, or one sealed head, that are being merged, as they were when the merge began."""

    parts: tuple[Layer | HeadView, ...]
    sequence: int

    def place_in(self, snapshot: Snapshot) -> int | None:
        """Return the position of the parts in a later snapshot; ``None`` if they are no longer there."""
        held = [_identity(part) for part in snapshot.sealed]
        mine = [_identity(part) for part in self.parts]
        at = next((at for at, one in enumerate(held) if one is mine[0]), None)
        if at is None or len(held) < at + len(mine):
            return None
        return at if all(one is two for one, two in zip(mine, held[at:], strict=False)) else None

    def result_in(self, snapshot: Snapshot, at: int, merged: Segment) -> Layer:
        """Return the merged layer without the subscriptions removed since the merge began."""
        then = [part.living(self.sequence) for part in self.parts]
        now = [
            part.alive(living, snapshot.sequence)
            for part, living in zip(snapshot.sealed[at : at + len(then)], then, strict=True)
        ]
        gone = np.flatnonzero(~np.concatenate(now))
        layer = Layer(merged)
        return layer.ending(gone, snapshot.sequence + 1) if len(gone) else layer


def _identity(part: Layer | HeadView) -> object:
    """Return the object that stays the same in all snapshots that hold a part."""
    return part.head if isinstance(part, HeadView) else part.segment


def is_large(parts: tuple[Layer | HeadView, ...]) -> bool:
    """Return whether merging these parts takes long enough to be noticed."""
    return sum(part.in_force for part in parts) > SMALL


def start(work: Callable[[], None]) -> None:
    """Run a merge in a thread. If it fails, only its work is lost: the next change tries again."""

    def run() -> None:
        try:
            work()
        except Exception:
            _log.exception("a merge failed; the index goes on as it is")

    threading.Thread(target=run, name="tamis-merge", daemon=True).start()
