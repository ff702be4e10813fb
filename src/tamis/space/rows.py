"""The rows a space is cut from: the literals of all clauses, still with operators and operands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.lang.columns.rows import Columns

Ints = npt.NDArray[np.int64]


class ClauseRows(NamedTuple):
    """Clause ``c`` is the conjunction of the rows ``row[start[c]:start[c + 1]]`` of ``columns``.

    Rows of a clause with the same ``group``, unless it is 0, are alternatives.

    ``negated`` marks rows under a NOT, ``owner`` is the subscription a clause belongs to, and a
    clause that is not ``exact`` covers its subscription without deciding it.
    """

    columns: Columns
    row: Ints
    negated: npt.NDArray[np.bool_]
    start: Ints
    owner: Ints
    exact: npt.NDArray[np.bool_]
    group: npt.NDArray[np.uint8]


def arg_places(columns: Columns) -> Ints:
    """Where the operands of each row begin; structural rows have none."""
    count = np.where(columns.op < 32, columns.arity, 0)
    places = np.zeros(len(count) + 1, np.int64)
    np.cumsum(count, out=places[1:])
    return places
