"""Send the columns of a table to a card and locate them there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.gpu.batch import DeviceBatch, most_entries
from tamis.gpu.columns import _kernels
from tamis.gpu.columns._kernels import find_repeats, locate_columns, locate_map
from tamis.gpu.columns.table import Column, MapColumn, TakenApart
from tamis.gpu.cuda import cuda
from tamis.gpu.workspace import Stage, Workspace
from tamis.limits import Limits
from tamis.space.locate import Locators
from tamis.space.located import Located

_WORDS = tuple(
    np.dtype(name)
    for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")  # in the kernels' order
)


class Locating(NamedTuple):
    """The outcome: a batch, which events it leaves out, and which dimensions some event has.

    ``skipped`` marks events for the processor, ``entries`` counts the cells.
    """

    batch: DeviceBatch
    skipped: npt.NDArray[np.uint8]
    entries: int
    seen: npt.NDArray[np.bool_]


class DeviceSpace:
    """The cuts and names of a segment's space on a card."""

    def __init__(self, locators: Locators, blocks: int, threads: int) -> None:
        self._locators, self._blocks, self._threads = locators, blocks, threads
        space = locators.space
        self._start = space.number_start.astype(np.int64)
        self._base = space.number_base.astype(np.int64)
        self._other = space.ordered_cells.astype(np.int64)
        self._dimensions = len(space.cells())
        self._word = np.uint16 if self._other.max(initial=0) < 65_536 else np.uint32  # of the matrix
        self._cuts = cuda.to_device(np.append(space.number_values[space.number_cut], np.inf))
        self._names: tuple[Any, ...] | None = None

    def entries(
        self, workspace: Workspace, located: Located, skipped: npt.NDArray[np.uint8], most: int
    ) -> Locating:
        """Return events whose cells are known already; those with more than ``most`` entries are left out."""
        skipped[np.diff(located.start) > most] = 1
        stage = Stage(workspace)
        places = _add_located(stage, located), stage.add(skipped)
        stage.send()
        no_columns = stage.part(0, 0, np.int32), stage.part(0, 0, self._word)
        arrays = (
            *_located_arrays(stage, located, places[0]),
            *no_columns,
            stage.part(places[1], len(skipped), np.uint8),
        )
        batch = DeviceBatch(located.count, _ordered(arrays, 0), most_entries(located, skipped))
        seen = np.zeros(self._dimensions, np.bool_)
        seen[located.dimension] = True
        return Locating(batch, skipped, len(located.dimension), seen)

    def columns(
        self, workspace: Workspace, table: TakenApart, skipped: npt.NDArray[np.uint8], most: int
    ) -> Locating | None:
        """Locate the columns of a table; return ``None`` if the processor must decide about a number."""
        stage = Stage(workspace)
        located = table.located
        if located is not None:
            skipped[np.diff(located.start) + len(table.columns) > most] = 1
        rows = np.array([self._describe(stage, column) for column in table.columns], np.int64)
        tables = np.concatenate(
            [np.zeros(1, np.int32), *(c.cells for c in table.columns if c.cells is not None)]
        )
        offsets = np.cumsum([1, *(0 if c.cells is None else len(c.cells) for c in table.columns)])
        rows[:, _kernels.TABLE] = offsets[:-1]
        dimensions = np.array([column.dimension for column in table.columns], np.int32)
        extra = tuple(stage.add(part) for part in (rows.reshape(-1), tables, dimensions, skipped))
        entries = None if located is None else _add_located(stage, located)
        stage.send()
        events, count = table.events, len(table.columns)
        matrix = workspace.device("matrix", events * count, self._word)
        state = workspace.send("state", np.zeros(2, np.int64))
        blocks = max(min(self._blocks, -(-events // self._threads)), 1)
        locate_columns[(blocks, count), self._threads, workspace.stream](
            events,
            stage.part(extra[0], rows.size, np.int64).reshape(rows.shape),
            *(stage.all(word) for word in _WORDS),
            self._cuts,
            stage.part(extra[1], len(tables), np.int32),
            matrix,
            state,
        )
        outcome = workspace.fetch("state back", state)
        workspace.wait()
        if outcome[_kernels.REFUSED]:
            return None
        empty = stage.part(0, 0, np.int64), stage.part(0, 0, np.int32), stage.part(0, 0, np.int32)
        of_entries = empty if located is None or entries is None else _located_arrays(stage, located, entries)
        arrays = (
            *of_entries,
            stage.part(extra[2], count, np.int32),
            matrix,
            stage.part(extra[3], events, np.uint8),
        )
        widest = count + (0 if located is None else most_entries(located, skipped))
        held = [events - column.nulls for column in table.columns]
        seen = np.zeros(self._dimensions, np.bool_)
        seen[dimensions[np.array(held) > 0]] = True
        if located is not None:
            seen[located.dimension] = True
        number = sum(held) + (0 if located is None else len(located.dimension))
        return Locating(DeviceBatch(events, _ordered(arrays, count), widest), skipped, number, seen)

    def _describe(self, stage: Stage, column: Column) -> list[int]:
        """Add a column to the stage; return its row, see ``columns._kernels``."""
        d = column.dimension
        size = 1 if column.kind == _kernels.BIT else column.values.itemsize
        at = stage.add(column.values) // size
        at = 8 * at + column.first_bit if column.kind == _kernels.BIT else at
        valid = -1 if column.valid is None else 8 * stage.add(column.valid) + column.first_valid
        low, high = self._start[d : d + 2].tolist()
        return [column.kind, at, valid, low, high, int(self._base[d]), int(self._other[d]), 0]

    def map(self, workspace: Workspace, table: MapColumn, limits: Limits, most: int) -> Locating | None:
        """Locate a map column; return ``None`` if the processor must decide about a key or a number."""
        events, items = len(table.start) - 1, len(table.values)
        skipped = (np.diff(table.start) > most).astype(np.uint8)
        stage = Stage(workspace)
        starts, keys, text, values = (
            stage.add(part) for part in (table.start, table.key_start, table.keys, table.values)
        )
        marked = stage.add(skipped)
        stage.send()
        dimension = workspace.device("dimension", items, np.int32)
        cell = workspace.device("cell", items, np.int32)
        seen = workspace.send("seen", np.zeros(self._dimensions, np.uint8))
        state = workspace.send("state", np.zeros(2, np.int64))
        blocks = max(min(self._blocks, -(-items // self._threads)), 1)
        locate_map[blocks, self._threads, workspace.stream](
            items, table.kind, keys // 4, text, values // table.values.itemsize, limits.attribute_name_bytes,
            *(stage.all(word) for word in _WORDS), *self._name_arrays(), self._cuts, dimension, cell, seen,
            state,
        )  # fmt: skip
        entry_start = stage.part(starts, events + 1, np.int64)
        on_card = stage.part(marked, events, np.uint8)
        find_repeats[min(self._blocks, events), min(self._threads, 32), workspace.stream](
            events, entry_start, dimension, cell, on_card
        )
        outcome, met, marks = (
            workspace.fetch(f"{name} back", held)
            for name, held in (("state", state), ("seen", seen), ("skipped", on_card))
        )
        workspace.wait()
        if outcome[_kernels.REFUSED]:
            return None
        skipped = marks.copy()
        sizes = np.diff(table.start)
        no_columns = stage.part(0, 0, np.int32), stage.part(0, 0, self._word)
        batch = DeviceBatch(
            events,
            (entry_start, 0, dimension, cell, *no_columns, on_card),
            int(np.where(skipped == 0, sizes, 0).max(initial=0)),
        )
        return Locating(batch, skipped, int(outcome[_kernels.KNOWN]), met.astype(np.bool_))

    def _name_arrays(self) -> tuple[Any, ...]:
        """Return the hash table of names and the cuts of all dimensions, uploaded at the first call."""
        if self._names is None:
            start, data, seed, table = self._locators.names().arrays
            self._names = (
                cuda.to_device(start.astype(np.int64)),
                cuda.to_device(np.append(data, np.uint8(0))),
                seed,
                cuda.to_device(table),
                *(cuda.to_device(array) for array in (self._start, self._base, self._other)),
            )
        return self._names


def _ordered(arrays: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    """Return the arrays of a batch in the order of the search kernel."""
    start, dimension, cell, matrix_dimension, matrix, skipped = arrays
    return start, width, dimension, cell, matrix_dimension, matrix, skipped


def _add_located(stage: Stage, located: Located) -> tuple[int, int, int]:
    start = stage.add(located.start.astype(np.int64, copy=False))
    dimension = stage.add(located.dimension.astype(np.int32, copy=False))
    return start, dimension, stage.add(located.lo.astype(np.int32, copy=False))


def _located_arrays(stage: Stage, located: Located, places: tuple[int, int, int]) -> tuple[Any, Any, Any]:
    count = len(located.dimension)
    return (
        stage.part(places[0], located.count + 1, np.int64),
        stage.part(places[1], count, np.int32),
        stage.part(places[2], count, np.int32),
    )
