"""Match batches to numbers instead of ids, for programs that read billions of matches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.rows import starts
from tamis.index.batches import PieceEvents, Run, match_parts, size_of
from tamis.index.card import CardMatches
from tamis.index.match import LayerMatches, Piece
from tamis.index.refused_events import Refusal, refusals
from tamis.index.snapshot import Snapshot
from tamis.index.work import WorkReport

Ints = npt.NDArray[np.int64]


class Pairs(NamedTuple):
    """Matches with one part of the index: event ``e`` has ``number[start[e]:start[e + 1]]``.

    The subscriptions of each part are numbered from 0; ``ids`` gives their ids.
    """

    start: Ints
    number: npt.NDArray[np.uint32]
    part: Any

    @property
    def event(self) -> Ints:
        """The row within the batch, for each match."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def ids(self) -> Any:
        """Return the ids of the matched subscriptions as an Arrow array."""
        return self.part.names_of(self.number.astype(np.int64))


class PairBatch(NamedTuple):
    """The matches of one batch, in one part of the index after the other."""

    parts: tuple[Pairs, ...]
    work: WorkReport
    refused: list[Refusal]
    first_row: int
    events: int


def match_pairs(snapshot: Snapshot, piece: Piece, first_row: int, run: Run) -> PairBatch:
    """Match one batch against a snapshot; keep some of its events in ``recent``."""
    count = size_of(piece)
    event_at = PieceEvents(piece, run.limits)
    found, work, refused, _ = match_parts(snapshot, piece, event_at, run)
    run.recent.batch(count, {row for row, _ in refused}, event_at)
    parts = tuple(
        Pairs(*_numbered(one, count), part.segment) for one, part in zip(found, snapshot.parts, strict=True)
    )
    return PairBatch(parts, work, refusals(piece, refused, first_row), first_row, count)


def _numbered(found: LayerMatches | CardMatches, events: int) -> tuple[Ints, npt.NDArray[np.uint32]]:
    """Return where the matches of each event begin, and their numbers."""
    if isinstance(found, CardMatches):
        return found.start, found.number
    order = np.argsort(found.event, kind="stable")
    count = np.bincount(found.event, minlength=events)
    return starts(count), found.ordinal[order].astype(np.uint32)
