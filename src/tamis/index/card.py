"""Match the segments of an index on a graphics card, with the same answers as on the processor."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.rows import runs, starts
from tamis.errors import DeviceError, ExtraMissing, InputError
from tamis.expression.truth import matches
from tamis.head import HeadView
from tamis.index.match import EventAt, LayerMatches, Piece, locate, owners_in_force
from tamis.index.snapshot import Layer, Snapshot
from tamis.index.unseen import Seen
from tamis.index.work import WorkReport
from tamis.segment import Segment
from tamis.space.encode import Refused
from tamis.space.located import Located
from tamis.values.value import short

if TYPE_CHECKING:
    from tamis.gpu.columns.locate import Locating
    from tamis.gpu.device import Device  # imports numba's CUDA, which is an extra
    from tamis.gpu.segment import DeviceSegment

CPU, CUDA, AUTO = "cpu", "cuda", "auto"
BATCH = 131_072  # events of a batch, if the caller names no size
PIECE_BYTES = 256 << 20  # of a table that is matched at a time
STREAMS = 4  # threads, each with a stream, so that one copies while another computes
LEAST_EVENTS = 1_024  # of a batch for which "auto" takes the card
LEAST_CLAUSES = 10_000  # of a segment, likewise

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]
log = logging.getLogger("tamis")
_lock = threading.Lock()
_failure: str | None = None  # why "auto" does not use a card in this process


class CardMatches(NamedTuple):
    """The matches of one batch in one layer: event ``e`` has ``number[start[e]:start[e + 1]]``."""

    start: Ints
    number: npt.NDArray[np.uint32]
    report: WorkReport
    refused: Refused
    seen: Seen

    def pairs(self, layer: Layer | HeadView) -> LayerMatches:
        """Return the same as pairs."""
        event = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        return LayerMatches(layer, event, self.number.astype(np.int64))


def card_of(device: str, snapshot: Snapshot) -> Card | None:
    """Return the card that ``device`` names; ``None`` if the processor does the work.

    "auto" asks for no card if no segment is worth one: batches then keep the size, and the number of threads,
    that suit the processor.
    """
    if device == CPU:
        return None
    if device == AUTO:
        if not any(is_worth(layer.segment) for layer in snapshot.layers):
            return None
        try:
            return None if _failure else Card(_opened(0), is_chosen=True)
        except (DeviceError, ExtraMissing) as bad:
            _give_up(bad)
            return None
    return Card(_opened(check_device(device)), is_chosen=False)


def check_device(device: str) -> int:
    """Return the number of the card that ``device`` names, 0 if it names none; refuse any other text."""
    kind, colon, number = str(device).partition(":")
    if device in (CPU, AUTO, CUDA):
        return 0
    if kind != CUDA or not colon or not (number.isascii() and number.isdecimal()):
        raise InputError(f"device is 'cpu', 'cuda', 'cuda:1' or 'auto', not {short(device)}")
    return int(number)


def _opened(number: int) -> Device:
    from tamis.gpu.device import device

    return device(number)


def _give_up(bad: Exception) -> None:
    """Warn once that "auto" matches on the processor from now on."""
    global _failure
    with _lock:
        if _failure is None:
            _failure = str(bad)
            log.warning("device='auto' matches on the processor: %s", bad)


class Card:
    """A card for one run. If ``is_chosen`` by "auto", it takes only batches that pay, and may fail."""

    def __init__(self, device: Device, is_chosen: bool) -> None:
        self._device, self._is_chosen = device, is_chosen

    def match(
        self, layer: Layer, sequence: int, piece: Piece, events: int, event_at: EventAt
    ) -> CardMatches | None:
        """Return the matches of a batch in a layer; ``None`` if the processor should find them."""
        segment = layer.segment
        if self._is_chosen and (_failure or events < LEAST_EVENTS or not is_worth(segment)):
            return None
        try:
            return _Batch(self._device, layer, sequence, piece, event_at).run()
        except DeviceError as bad:
            if not self._is_chosen:
                raise
            _give_up(bad)
            return None


def is_worth(segment: Segment) -> bool:
    """Return whether "auto" takes the card for large batches in a segment."""
    return segment.engine_name == "hybrid" and segment.clauses >= LEAST_CLAUSES


class _Batch:
    """One batch in one layer."""

    def __init__(self, device: Device, layer: Layer, sequence: int, piece: Piece, event_at: EventAt) -> None:
        self._device, self._layer, self._sequence = device, layer, sequence
        self._piece, self._event_at = piece, event_at
        self._located: Located | None = None
        self._refused: Refused = []

    def run(self) -> CardMatches:
        """Return the matches of the batch."""
        self._layer.segment.ensure_whole()
        with self._device.use():
            on_card = self._device.segment(self._layer.segment)
            located = self._locate(on_card)
            dead = on_card.dead(self._layer.died, self._layer.dead, self._sequence)
            workspace = self._device.workspace()
            found = on_card.search(workspace, located.batch, dead)
            fetched = workspace.fetch("number back", found.number)
            workspace.wait()
        start, number, revised = found.start, fetched.copy(), 0
        if self._layer.segment.any_revise or found.may_repeat:
            start, number, revised = self._confirmed(start, number, found.may_repeat)
        report = WorkReport(
            0, located.entries, found.probed, found.verified, revised, len(number), found.visited
        )
        located.skipped[found.left] = 1
        located.skipped[[row for row, _ in self._refused]] = 0
        left = np.flatnonzero(located.skipped)
        if len(left):
            start, number, report = self._with_others(left, start, number, report)
        return CardMatches(start, number, report, self._refused, (self._layer.segment, located.seen))

    def _locate(self, on_card: DeviceSegment) -> Locating:
        """Return the located events, by the card itself if it can."""
        from tamis.gpu.columns.table import take_apart

        encoder, workspace, most = self._layer.segment.encoder, self._device.workspace(), on_card.most_entries
        apart = None if isinstance(self._piece, list) else take_apart(encoder, self._piece)
        if apart is not None and apart.events:
            if apart.map is not None:
                found = on_card.space.map(workspace, apart.map, encoder.limits, most)
            else:
                skipped = (
                    np.zeros(apart.events, np.uint8) if apart.located is None else apart.located.multi.copy()
                )
                skipped[[row for row, _ in apart.refused]] = 1
                found = on_card.space.columns(workspace, apart, skipped, most)
            if found is not None:
                self._refused = apart.refused
                return found
        self._located, self._refused = locate(encoder, self._piece)
        skipped = self._located.multi.copy()
        skipped[[row for row, _ in self._refused]] = 1
        return on_card.space.entries(workspace, self._located, skipped, most)

    def _confirmed(self, start: Ints, number: Numbers, may_repeat: bool) -> tuple[Ints, Numbers, int]:
        """Return the matches that are sure or that the tree accepts, and the number of trees evaluated."""
        from tamis.gpu.search._kernels import DOUBTFUL, NUMBER

        event = np.repeat(np.arange(len(start) - 1), np.diff(start))
        doubtful = number >= DOUBTFUL
        number = number & np.uint32(NUMBER)
        if may_repeat:
            event, number, doubtful = _once(event, number, doubtful)
        kept = ~doubtful
        places = np.flatnonzero(doubtful)
        trees: dict[int, Any] = {}
        for at in places.tolist():
            own = int(number[at])
            tree = trees.get(own)
            if tree is None:
                tree = trees[own] = self._layer.segment.expression(own)
            kept[at] = matches(tree, self._event_at(int(event[at])))
        return _starts(event[kept], len(start) - 1), number[kept], len(places)

    def _with_others(
        self, rows: Ints, start: Ints, number: Numbers, report: WorkReport
    ) -> tuple[Ints, Numbers, WorkReport]:
        """Add the matches of events that the card left out, such as those with several values."""
        located = self._located_rows(rows)
        found = self._layer.segment.engine.candidates(located)
        more, ordinals, revised = owners_in_force(
            self._layer, self._sequence, found, located, lambda row: self._event_at(int(rows[row]))
        )
        entries = 0 if self._located is not None else len(located.dimension)
        others = WorkReport(0, entries, found.probed, found.verified, revised, len(more), found.visited)
        event = np.concatenate([np.repeat(np.arange(len(start) - 1), np.diff(start)), rows[more]])
        order = np.argsort(event, kind="stable")
        both = np.concatenate([number, ordinals.astype(np.uint32)])[order]
        return _starts(event, len(start) - 1), both, report.plus(others)

    def _located_rows(self, rows: Ints) -> Located:
        if self._located is None:
            return locate(self._layer.segment.encoder, self._piece.take(rows))[0]
        places, _ = runs(self._located.start, rows)
        start = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.diff(self._located.start)[rows], out=start[1:])
        dimension, low, high = (array[places] for array in self._located[1:4])
        return Located(start, dimension, low, high, self._located.multi[rows])


def _starts(event: Ints, events: int) -> Ints:
    """Return where the pairs of each event begin once they are sorted by event."""
    return starts(np.bincount(event, minlength=events))


def _once(event: Ints, number: Numbers, doubtful: Mask) -> tuple[Ints, Numbers, Mask]:
    """Return each pair once, as sure if it is sure anywhere."""
    order = np.lexsort((doubtful, number, event))
    event, number, doubtful = event[order], number[order], doubtful[order]
    first = np.ones(len(event), np.bool_)
    first[1:] = (event[1:] != event[:-1]) | (number[1:] != number[:-1])
    return event[first], number[first], doubtful[first]


def figures() -> dict[str, Any]:
    """Return how "auto" decides, and what the cards in use hold."""
    import sys

    module = sys.modules.get("tamis.gpu.device")
    cards = module.in_use() if module is not None else []
    return {"least_events": LEAST_EVENTS, "least_clauses": LEAST_CLAUSES, "failure": _failure, "cards": cards}
