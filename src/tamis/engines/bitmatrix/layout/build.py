"""Build the arrays of ``bitmatrix``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.bitmatrix.layout._kernels import (
    CHUNK,
    FIELDS,
    ROW,
    SLAB,
    TOGETHER,
    choose_columns,
    choose_summaries,
    fill_rows,
    fill_summaries,
)
from tamis.engines.bitmatrix.layout.order import order_of
from tamis.engines.units import Statistics, reorder, units_of
from tamis.space.space import Clauses

Arrays = dict[str, npt.NDArray[Any]]

LEAST_ROWS = 256  # of a slab, however few clauses it has


def build(
    clauses: Clauses, statistics: Statistics, cells: int, bytes_each: int, summary_cells: int
) -> tuple[Clauses, Arrays]:
    """Return the clauses in the order of slabs, and the arrays of the engine."""
    if len(clauses.literal):
        clauses = reorder(clauses, order_of(clauses, units_of(clauses, statistics), SLAB))
    slab_start, column, whole, rows = _columns(clauses, cells, bytes_each)
    matrix = np.zeros(ROW * rows, np.uint64)
    doubtful = np.zeros(ROW * (len(slab_start) - 1), np.uint64)
    parts = clauses.start, clauses.literal, clauses.set_lo, clauses.set_hi, clauses.cells
    fill_rows(*parts, slab_start, column, matrix, doubtful)
    chunk_start, summary_column, words = _summary_columns(clauses, slab_start, column, whole, summary_cells)
    summary = np.zeros(words, np.uint64)
    fill_summaries(*parts, slab_start, column, whole, chunk_start, summary_column, summary)
    places = {
        "slab_start": slab_start,
        "column": column,
        "chunk_start": chunk_start,
        "summary_column": summary_column,
    }
    bits = {"doubtful": doubtful, "summary": summary, "matrix": matrix}
    return clauses, {name: array.astype(np.uint32) for name, array in places.items()} | bits


def _columns(clauses: Clauses, cells: int, bytes_each: int) -> tuple[Any, Any, Any, int]:
    """Return where the columns of each slab begin, the columns, those on all clauses, and the rows."""
    slabs = -(-clauses.count // SLAB)
    slab_start = np.zeros(slabs + 1, np.int64)
    room = len(clauses.literal) + TOGETHER * slabs
    column, whole = np.empty((room, FIELDS), np.int64), np.empty(room, np.bool_)
    count, rows = choose_columns(
        clauses.start,
        clauses.literal,
        clauses.cells,
        cells,
        bytes_each,
        LEAST_ROWS,
        slab_start,
        column,
        whole,
    )
    return slab_start, column[:count].copy(), whole[:count].copy(), rows


def _summary_columns(
    clauses: Clauses, slab_start: Any, column: Any, whole: Any, cells: int
) -> tuple[Any, Any, int]:
    """Return where the columns of each chunk begin, the columns, and the number of words."""
    chunks = -(-(len(slab_start) - 1) // CHUNK)
    chunk_start = np.zeros(chunks + 1, np.int64)
    summary_column = np.empty((int(whole.sum()), FIELDS), np.int64)
    count, words = choose_summaries(
        slab_start, column, whole, clauses.cells, cells, chunk_start, summary_column
    )
    return chunk_start, summary_column[:count].copy(), words
