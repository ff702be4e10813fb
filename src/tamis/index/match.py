"""Match a layer or a head: candidates, their owners in force, and revision by the tree if needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.protocol import Candidates
from tamis.expression.truth import matches
from tamis.head import HeadView
from tamis.index.snapshot import Layer
from tamis.index.work import WorkReport
from tamis.limits import Limits
from tamis.segment._kernels import repeat, sizes_of, take_lists
from tamis.space.columns import encode_table
from tamis.space.encode import Encoder, Refused
from tamis.space.located import Located
from tamis.space.space import ALWAYS_REVISE
from tamis.values.event import Event, EventLike, event_from

Ints = npt.NDArray[np.int64]
EventAt = Callable[[int], Event]
Piece = Any  # a pa.Table/RecordBatch, or a list of events and refusals


def locate(encoder: Encoder, piece: Piece) -> tuple[Located, Refused]:
    """Return the located events of a batch in any form, and the refused ones."""
    return encoder.many(piece) if isinstance(piece, list) else encode_table(encoder, piece)


class LayerMatches:
    """Pairs (event, ordinal) of one layer."""

    def __init__(self, layer: Layer | HeadView, event: Ints, ordinal: Ints) -> None:
        self.layer, self.event, self.ordinal = layer, event, ordinal


def match_event(
    layer: Layer | HeadView, sequence: int, event: EventLike, holder: LazyEvent
) -> tuple[list[int], WorkReport]:
    """Return the sorted ordinals of all matches of one event in one layer."""
    quick = quick_match(layer, sequence, event)
    if quick is not None:
        return quick
    segment = layer.segment
    matched, report = match_layer(layer, sequence, segment.encoder.one(event), holder)
    matched.ordinal.sort()  # in order of registration, not of memory
    return matched.ordinal.tolist(), WorkReport(1, *report[1:])


def quick_match(
    layer: Layer | HeadView, sequence: int, event: EventLike
) -> tuple[list[int], WorkReport] | None:
    """Return what :func:`match_event` does, with one kernel call; ``None`` if layer or event need more."""
    found = layer.quick(event, sequence) if type(event) is dict else None
    if found is None:
        return None
    ordinals, located, probed, verified, visited = found
    return ordinals, WorkReport(1, located, probed, verified, 0, len(ordinals), visited)


def match_layer(
    layer: Layer | HeadView, sequence: int, events: Located, event_at: EventAt, refused: Sequence[int] = ()
) -> tuple[LayerMatches, WorkReport]:
    """Return all matches of a batch of located events in one layer; refused events match nothing."""
    segment = layer.segment
    segment.ensure_whole()
    found = segment.engine.candidates(events)
    if refused:
        kept = ~np.isin(found.event, refused)
        found = found._replace(event=found.event[kept], clause=found.clause[kept])
    event, ordinal, revised = owners_in_force(layer, sequence, found, events, event_at)
    report = WorkReport(
        0, len(events.dimension), found.probed, found.verified, revised, len(event), found.visited
    )
    return LayerMatches(layer, event, ordinal), report


def owners_in_force(
    layer: Layer | HeadView, sequence: int, found: Candidates, events: Located, event_at: EventAt
) -> tuple[Ints, Ints, int]:
    """Return the subscriptions that own candidates: (event, ordinal, number of trees evaluated)."""
    segment: Any = layer.segment
    event, clause = found.event, found.clause
    if not len(clause):
        return event, clause, 0
    doubtful = _doubtful(segment.revise[clause], events.multi[event]) if segment.any_revise else None
    unsure = segment.unsure(events)
    if unsure is not None:
        doubtful = unsure[event] if doubtful is None else doubtful | unsure[event]
    if doubtful is not None and not doubtful.any():
        doubtful = None
    if segment.one_to_one:
        ordinal = segment.owner[clause].astype(np.int64)
    else:
        if doubtful is not None:
            doubtful = np.repeat(doubtful, segment.owner_start[clause + 1] - segment.owner_start[clause])
        event, ordinal = _owners(segment, event, clause)
    if layer.died is not None:
        alive = layer.alive(ordinal, sequence)
        event, ordinal = event[alive], ordinal[alive]
        doubtful = None if doubtful is None else doubtful[alive]
    if doubtful is None or not doubtful.any():
        return *_distinct(segment.single, events, event, ordinal), 0
    return _revise(segment, event, ordinal, doubtful, event_at)


def _owners(segment: Any, event: Ints, clause: Ints) -> tuple[Ints, Ints]:
    """Return a pair (event, ordinal) for each owner of each clause."""
    start = np.empty(len(clause) + 1, np.int64)
    count = sizes_of(clause, segment.owner_start, start)
    owned, ordinal = np.empty((2, count), np.int64)
    take_lists(clause, segment.owner_start, segment.owner, start, ordinal)
    repeat(event, start, owned)
    return owned, ordinal


def _doubtful(revise: npt.NDArray[np.uint8], multi: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return the pairs that the tree must decide: all covers, and some clauses for multi-valued events."""
    return np.asarray(((revise & ALWAYS_REVISE) != 0) | ((revise != 0) & (multi != 0)))


def _distinct(single: bool, events: Located, event: Ints, ordinal: Ints) -> tuple[Ints, Ints]:
    """Return each pair once; needed only if clauses share owners or an event may meet a clause twice."""
    if single and not (events.multi[0] if len(events.multi) == 1 else events.multi.any()):
        return event, ordinal
    width = int(ordinal.max()) + 1 if len(ordinal) else 1
    code = np.unique(event * width + ordinal)
    return code // width, code % width


def _revise(
    segment: Any, event: Ints, ordinal: Ints, doubtful: npt.NDArray[np.bool_], event_at: EventAt
) -> tuple[Ints, Ints, int]:
    """Return the sure pairs, and the doubtful pairs that the tree accepts and no sure clause found."""
    width = int(ordinal.max()) + 1
    code = event * width + ordinal
    sure = np.unique(code[~doubtful])
    unsure = np.setdiff1d(code[doubtful], sure)
    trees: dict[int, Any] = {}
    kept = []
    for pair in unsure.tolist():
        row, number = divmod(pair, width)
        tree = trees.get(number)
        if tree is None:
            tree = trees[number] = segment.expression(number)
        if matches(tree, event_at(row)):
            kept.append(pair)
    code = np.union1d(sure, np.array(kept, np.int64)).astype(np.int64)
    return code // width, code % width, len(unsure)


class LazyEvent:
    """One event as an object, made only if a tree must look at it."""

    def __init__(self, source: EventLike, limits: Limits) -> None:
        self._source, self._limits = source, limits
        self._event: Event | None = None

    def __call__(self, row: int) -> Event:
        """Return the event."""
        if self._event is None:
            self._event = event_from(self._source, self._limits)
        return self._event
