"""In which order the literals of a clause are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.postings.layout._kernels import order_for_checks
from tamis.engines.units import Ints, Units
from tamis.space.clauses import Clauses


def check_order(
    clauses: Clauses,
    units: Units,
    late: npt.NDArray[Any],
    clause_order: Ints,
    share: npt.NDArray[Any] | None = None,
) -> npt.NDArray[np.uint32]:
    """Return all literals in their new order: per clause those of ``late`` conditions last, else by share.

    Conditions are late that the way to the clause has looked at; ``share`` is that of the units unless the
    engine knows better.
    """
    start = clauses.start.astype(np.int64)
    size = start[1:] - start[:-1]
    place = np.empty(clauses.count, np.int64)
    place[clause_order] = np.cumsum(size[clause_order]) - size[clause_order]
    order = np.empty(len(clauses.literal), np.uint32)
    order_for_checks(start, place, units.of_literal, late, units.share if share is None else share, order)
    return order
