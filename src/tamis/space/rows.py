"""The rows a space is cut from: the literals of all clauses, still with operators and operands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.rows import Columns
from tamis.space.cutting._kernels import begin_operands

Ints = npt.NDArray[np.int64]


class ClauseRows(NamedTuple):
    """Clause ``c`` is the conjunction of the rows ``row[start[c]:start[c + 1]]`` of ``columns``.

    Rows of a clause with the same ``group``, unless it is 0, are alternatives.

    ``negated`` marks rows under a NOT, ``owner`` is the subscription a clause belongs to, and a
    clause that is not ``exact`` covers its subscription without deciding it.
    """

    columns: Columns
    row: npt.NDArray[np.uint32]
    negated: npt.NDArray[np.bool_]
    start: Ints
    owner: Ints
    exact: npt.NDArray[np.bool_]
    group: npt.NDArray[np.uint8]


class Comparisons(NamedTuple):
    """The rows (``row``) of comparisons, BETWEEN and IN, and the columns they stand in."""

    row: npt.NDArray[np.uint32]
    op: npt.NDArray[np.uint8]
    attribute: npt.NDArray[np.uint32]
    arg: Ints
    arity: npt.NDArray[np.uint32]
    args: npt.NDArray[Any]


def arg_places(columns: Columns) -> Ints:
    """Where the operands of each row begin; structural rows have none."""
    places = np.empty(len(columns.op) + 1, np.int64)
    begin_operands(columns.op, columns.arity, places)
    return places
