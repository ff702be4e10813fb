"""Hold the subscriptions in force at one moment; a published snapshot never changes.

A removal writes its sequence number into the layer's ``died`` array in place; a snapshot sees only removals
up to its own number. So an update is never seen half done: a reader with the old snapshot sees the old
expression, a reader with the new one sees the new.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.expression.tree import Subscription
from tamis.head import ALIVE, HeadView
from tamis.segment import Segment
from tamis.segment.one import Quick

STEP = 4096  # ids that are read at a time


class Layer(NamedTuple):
    """A segment and, if any of its subscriptions was removed, the sequence number of each removal."""

    segment: Segment
    died: npt.NDArray[np.int64] | None = None
    dead: int = 0

    @property
    def in_force(self) -> int:
        """The number of subscriptions in force in the snapshot that this layer belongs to."""
        return self.segment.count - self.dead

    def alive(self, ordinals: npt.NDArray[np.int64], sequence: int) -> npt.NDArray[np.bool_]:
        """Return for each ordinal whether the subscription is in force at ``sequence``."""
        if self.died is None:
            return np.ones(len(ordinals), np.bool_)
        return np.asarray(self.died[ordinals] > sequence)

    def quick(self, event: dict[str, Any], sequence: int) -> Quick | None:
        """Return the matches of a plain event; ``None`` if the event or the engine needs more care."""
        self.segment.ensure_whole()
        one = self.segment.one
        found = one.find(event) if one is not None else None
        if found is None or self.died is None or not found[0]:
            return found
        ordinals = np.array(found[0], np.int64)
        return ordinals[self.alive(ordinals, sequence)].tolist(), *found[1:]

    def ending(self, ordinals: npt.NDArray[np.int64], sequence: int) -> Layer:
        """Return the layer of the next snapshot, in which these subscriptions are no longer in force."""
        died = np.full(self.segment.count, ALIVE, np.int64) if self.died is None else self.died
        died[ordinals] = sequence
        return Layer(self.segment, died, self.dead + len(ordinals))

    def living(self, sequence: int) -> npt.NDArray[np.int64]:
        """Return all ordinals in force at ``sequence``."""
        everyone = np.arange(self.segment.count)
        return everyone if self.died is None else everyone[self.died > sequence]


class Snapshot(NamedTuple):
    """The subscriptions in force: layers from oldest to newest, then heads, the last of which grows."""

    sequence: int
    layers: tuple[Layer, ...]
    heads: tuple[HeadView, ...]

    @property
    def parts(self) -> tuple[Layer | HeadView, ...]:
        """Everything that an event is matched with, in order of registration."""
        return (*self.layers, *self.heads)

    @property
    def sealed(self) -> tuple[Layer | HeadView, ...]:
        """Everything that gets no more subscriptions: the layers, and the sealed heads."""
        return (*self.layers, *(view for view in self.heads if view.head.is_sealed))

    def find(self, subscription: str) -> tuple[int, int] | None:
        """Return (layer, ordinal) of a subscription in force, or ``None``; a head has a number below 0."""
        for at in range(len(self.heads) - 1, -1, -1):
            slot = self.heads[at].find(subscription, self.sequence)
            if slot >= 0:
                return at - len(self.heads), slot
        for at in range(len(self.layers) - 1, -1, -1):
            layer = self.layers[at]
            ordinal = layer.segment.find(subscription)
            if ordinal >= 0 and (layer.died is None or layer.died[ordinal] > self.sequence):
                return at, ordinal
        return None

    def ids(self) -> Iterator[str]:
        """Yield the ids in force, in order of registration."""
        for part in self.parts:
            living = part.living(self.sequence)
            for at in range(0, len(living), STEP):
                yield from part.segment.ids_of(living[at : at + STEP])

    def version(self, place: tuple[int, int]) -> int:
        """Return the version of the subscription at a place returned by :meth:`find`."""
        at, ordinal = place
        return self.heads[at].head.version[ordinal] if at < 0 else self.layers[at].segment.version(ordinal)

    def priority(self, place: tuple[int, int]) -> float:
        """Return the priority of the subscription at a place returned by :meth:`find`."""
        at, ordinal = place
        return self.heads[at].head.priority[ordinal] if at < 0 else self.layers[at].segment.priority(ordinal)

    def get(self, place: tuple[int, int]) -> Subscription:
        """Return the subscription at a place returned by :meth:`find`."""
        at, ordinal = place
        if at < 0:
            return self.heads[at].get(ordinal)
        segment = self.layers[at].segment
        return Subscription(
            segment.ids.text(ordinal),
            segment.expression(ordinal),
            segment.priority(ordinal),
            segment.version(ordinal),
        )

    @property
    def fresh(self) -> int:
        """The number of subscriptions in force that are in no segment."""
        return sum(head.in_force for head in self.heads)

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of subscriptions in force."""
        return self.fresh + sum(layer.in_force for layer in self.layers)
