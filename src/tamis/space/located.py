"""Located events: what engines match."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Located(NamedTuple):
    """Events as cells: event ``e`` owns the entries ``start[e]:start[e + 1]``, sorted by dimension.

    An entry is a dimension with the range of cells its value touches (one cell unless the value is
    an interval). ``multi[e]`` is 1 if a dimension occurs twice or an entry spans several cells.
    """

    start: npt.NDArray[np.int64]
    dimension: npt.NDArray[np.int32]
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    multi: npt.NDArray[np.uint8]

    @property
    def count(self) -> int:  # type: ignore[override]
        """How many events there are."""
        return len(self.start) - 1
