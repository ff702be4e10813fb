"""In which order the literals of a clause are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.index.postings.layout._kernels import order_for_checks
from tamis.index.units import Ints, Units
from tamis.space.clauses import Clauses


def check_order(
    clauses: Clauses, units: Units, late: npt.NDArray[Any], clause_order: Ints
) -> npt.NDArray[np.uint32]:
    """All literals in their new order: per clause those of ``late`` conditions last, else by share."""
    start = clauses.start.astype(np.int64)
    size = start[1:] - start[:-1]
    place = np.empty(clauses.count, np.int64)
    place[clause_order] = np.cumsum(size[clause_order]) - size[clause_order]
    order = np.empty(len(clauses.literal), np.uint32)
    order_for_checks(start, place, units.of_literal, late, units.share, order)
    return order
