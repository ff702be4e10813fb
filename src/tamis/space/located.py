"""Located events: the input of engines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.space._kernels import gather

Part = tuple[npt.NDArray[Any], ...]  # owner, dimension, lowest and highest cell of some entries

LONG = 64  # entries of an event


class Located(NamedTuple):
    """Events as cells: event ``e`` owns the entries ``start[e]:start[e + 1]``.

    An entry is a dimension with a range of cells that values touch (one cell unless the value is an
    interval). ``multi[e]`` is 1 if an attribute has several values or an entry spans several cells; then
    the entries are sorted by dimension and cell, and do not touch each other.
    """

    start: npt.NDArray[np.int64]
    dimension: npt.NDArray[Any]
    lo: npt.NDArray[Any]
    hi: npt.NDArray[Any]
    multi: npt.NDArray[np.uint8]

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of events."""
        return len(self.start) - 1


def join(count: int, parts: list[Part], multi: npt.NDArray[np.uint8], word: Any = np.int32) -> Located:
    """Return located events from several groups of entries (owner, dimension, lowest, highest cell).

    ``multi`` marks events with several values. An entry that spans several cells marks its event, too.
    ``word`` is the type that holds dimensions and cells.
    """
    owner, dimension, low, high = (np.concatenate([part[i] for part in parts]) for i in range(4))
    wide = low != high
    if wide.any():
        multi[owner[wide]] = 1
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=start[1:])
    cells = np.empty((3, len(owner)), word)
    # Sorting the entries of long events costs more than a scan of all dimensions.
    dimensions = int(dimension.max()) + 1 if len(owner) > LONG * count else 0
    kept = gather(
        owner.astype(np.int64),
        dimension.astype(word, copy=False),
        low.astype(word, copy=False),
        high.astype(word, copy=False),
        start,
        cells[0],
        cells[1],
        cells[2],
        multi,
        np.zeros(dimensions, np.int32),
    )
    cells = cells[:, :kept]
    return Located(start, cells[0], cells[1], cells[2], multi)
