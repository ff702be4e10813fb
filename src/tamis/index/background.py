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

from tamis.index.snapshot import Layer, Snapshot
from tamis.segment import Segment

SMALL = 20_000  # subscriptions that are merged at once, in the calling thread

_log = logging.getLogger(__name__)


class Merge(NamedTuple):
    """Layers that are being merged, as they were when the merge began."""

    layers: tuple[Layer, ...]
    sequence: int

    def place_in(self, snapshot: Snapshot) -> int | None:
        """Return the position of the layers in a later snapshot; ``None`` if they are no longer there."""
        segments = [layer.segment for layer in snapshot.layers]
        first = self.layers[0].segment
        at = next((at for at, segment in enumerate(segments) if segment is first), None)
        if at is None or len(segments) < at + len(self.layers):
            return None
        mine = zip(self.layers, segments[at : at + len(self.layers)], strict=True)
        return at if all(layer.segment is segment for layer, segment in mine) else None

    def result_in(self, snapshot: Snapshot, at: int, merged: Segment) -> Layer:
        """Return the merged layer without the subscriptions removed since the merge began."""
        then = [layer.living(self.sequence) for layer in self.layers]
        now = [
            layer.alive(living, snapshot.sequence)
            for layer, living in zip(snapshot.layers[at : at + len(then)], then, strict=True)
        ]
        gone = np.flatnonzero(~np.concatenate(now))
        layer = Layer(merged)
        return layer.ending(gone, snapshot.sequence + 1) if len(gone) else layer


def is_large(layers: tuple[Layer, ...]) -> bool:
    """Return whether merging these layers takes long enough to be noticed."""
    return sum(layer.in_force for layer in layers) > SMALL


def start(work: Callable[[], None]) -> None:
    """Run a merge in a thread. If it fails, only its work is lost: the next change tries again."""

    def run() -> None:
        try:
            work()
        except Exception:
            _log.exception("a merge failed; the index goes on as it is")

    threading.Thread(target=run, name="tamis-merge", daemon=True).start()
