"""Choose the sample events that advice is based on."""

from __future__ import annotations

from typing import Any

from tamis.errors import EventError
from tamis.index.batches import PieceEvents, pieces
from tamis.index.index import Index
from tamis.index.refused_events import warn_of_sample
from tamis.limits import Limits
from tamis.values.event import Event

MOST = 512
LEAST = 16  # with fewer, nothing is counted
COMPARISONS = 100_000  # in all events together, so that advice takes a fraction of a second


def typical_events(source: Index | Any, operands: int, limits: Limits) -> list[Event]:
    """Return recent events of an index, or the first events of a sample; fewer for many operands."""
    most = min(MOST, COMPARISONS // max(operands, 1))
    if source is None or most < LEAST:
        return []
    if isinstance(source, Index):
        source = source.typical_events()
    found: list[Event] = []
    refused: list[tuple[int, EventError]] = []
    for piece in pieces(source, most, limits):
        _read(piece, most, limits, found, refused)
        if len(found) >= most:
            break
    warn_of_sample(refused, len(found) + len(refused))
    return found


def _read(
    piece: Any, most: int, limits: Limits, found: list[Event], refused: list[tuple[int, EventError]]
) -> None:
    """Read events until there are ``most``; refused events are listed apart and never counted."""
    events = PieceEvents(piece, limits)
    for row in range(len(piece) if isinstance(piece, list) else piece.num_rows):
        if len(found) == most:
            break
        try:
            found.append(events(row))
        except EventError as bad:
            refused.append((len(found) + len(refused), bad))
