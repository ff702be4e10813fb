"""Events by columns: Arrow tables located attribute by attribute.

A column is an attribute; struct columns become dotted names, list columns are multi-valued, a
struct of ``lon`` and ``lat`` is a point. A map column holds sparse attributes: its keys are names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import EventError, EventValue, InputError, TamisError
from tamis.lang.columns.literals import time_of
from tamis.limits import Limits
from tamis.model.event import Event, event_from
from tamis.model.value import Point, clean_string
from tamis.space._kernels import locate_ranks, rank_numbers
from tamis.space.encode import Encoder, Refused, join
from tamis.space.locate import AttributeLocator
from tamis.space.located import Located
from tamis.space.numbers import split_integers

Ints = npt.NDArray[np.int64]
Part = tuple[npt.NDArray[Any], ...]


def encode_table(encoder: Encoder, table: pa.RecordBatch | pa.Table) -> tuple[Located, Refused]:
    """Locate every row of ``table``."""
    batch = _TableEncoder(encoder, table.num_rows)
    for name, column in zip(table.schema.names, table.columns, strict=True):
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
        batch.column(name, array, np.arange(len(array)))
    return batch.finish()


class _TableEncoder:
    def __init__(self, encoder: Encoder, rows: int) -> None:
        self.encoder = encoder
        self.rows = rows
        self.parts: list[Part] = [tuple(np.zeros(0, t) for t in (np.int64, np.int32, np.int32, np.int32))]
        self.refused: dict[int, EventError] = {}
        self.multi = np.zeros(rows, np.uint8)

    def finish(self) -> tuple[Located, Refused]:
        """All columns as located events; refused rows have no entries."""
        parts = self.parts
        if self.refused:
            bad = np.zeros(self.rows, np.bool_)
            bad[list(self.refused)] = True
            parts = [tuple(x[~bad[part[0]]] for x in part) for part in parts]
        return join(self.rows, parts, self.multi), sorted(self.refused.items(), key=lambda item: item[0])

    def refuse(self, rows: Ints, name: str, why: str) -> None:
        """Refuse events for the same reason."""
        for row in rows.tolist():
            self.refused.setdefault(row, EventValue(f"attribute {name[:80]!r}: {why}", attribute=name))

    def column(self, name: str, array: Any, owner: Ints) -> None:
        """Locate one column; ``owner`` is the event of each element."""
        kind = array.type
        if pa.types.is_null(kind):
            return
        if pa.types.is_dictionary(kind):
            array = array.dictionary_decode()
            kind = array.type
        if pa.types.is_map(kind):
            self._map(array, owner)
            return
        if array.null_count:
            valid = array.is_valid().to_numpy(zero_copy_only=False)
            array, owner = array.filter(pa.array(valid)), owner[valid]
        if _is_list(kind):
            inner = owner[pc.list_parent_indices(array).to_numpy(zero_copy_only=False)]
            self._mark_multi(inner)
            self.column(name, pc.list_flatten(array), inner)
        elif pa.types.is_struct(kind):
            self._struct(name, array, owner)
        else:
            self._scalars(name, array, owner)

    def _mark_multi(self, owner: Ints) -> None:
        self.multi[np.bincount(owner, minlength=self.rows) > 1] = 1

    def _struct(self, name: str, array: Any, owner: Ints) -> None:
        fields = [field.name for field in array.type]
        if set(fields) == {"lon", "lat"}:
            self._points(name, array, owner)
            return
        for at, field in enumerate(fields):
            self.column(f"{name}.{field}", pc.struct_field(array, [at]), owner)

    def _scalars(self, name: str, array: Any, owner: Ints) -> None:
        locator = self.encoder.locators.get(name)
        kind = array.type
        if pa.types.is_floating(kind):
            values = array.to_numpy(zero_copy_only=False).astype(np.float64)
            self.refuse(owner[~np.isfinite(values)], name, "not a finite number")
            if locator is not None:
                self._add(owner, locator.dimension, locator.numbers(values, np.zeros(len(values), np.int64)))
        elif pa.types.is_integer(kind):
            self._integers(name, array, owner, locator)
        elif locator is None:
            return
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            self._strings(name, array, owner, locator)
        elif pa.types.is_boolean(kind):
            cells = [locator.boolean(False), locator.boolean(True)]
            chosen = array.cast(pa.int8()).to_numpy(zero_copy_only=False)
            self._add(owner, locator.dimension, np.array(cells, np.int32)[chosen])
        elif pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            self._times(array, owner, locator)
        elif pa.types.is_decimal(kind):
            self._scalars(name, array.cast(pa.float64()), owner)
        else:
            raise InputError(f"column {name!r} has the type {kind}, which no attribute can have", column=name)

    def _add(self, owner: Ints, dimension: int, cells: npt.NDArray[np.int32]) -> None:
        self.parts.append((owner, np.full(len(owner), dimension, np.int32), cells, cells))

    def _integers(self, name: str, array: Any, owner: Ints, locator: AttributeLocator | None) -> None:
        if array.type == pa.uint64():
            big = array.to_numpy(zero_copy_only=False) > np.uint64(2**63 - 1)
            self.refuse(owner[big], name, "an integer does not fit 64 bits")
            array, owner = array.filter(pa.array(~big)), owner[~big]
        if locator is None:
            return
        values = array.cast(pa.int64()).to_numpy(zero_copy_only=False)
        self._add(owner, locator.dimension, locator.numbers(*split_integers(values)))

    def _times(self, array: Any, owner: Ints, locator: AttributeLocator) -> None:
        moments = array.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        coded = moments.dictionary_encode()
        cells = np.array([locator.time(time_of(moment)) for moment in coded.dictionary.to_pylist()], np.int32)
        self._add(owner, locator.dimension, cells[coded.indices.to_numpy(zero_copy_only=False)])

    def _strings(self, name: str, array: Any, owner: Ints, locator: AttributeLocator) -> None:
        """Each distinct string is located once."""
        coded = array.dictionary_encode()
        index = coded.indices.to_numpy(zero_copy_only=False)
        found = [locator.string(clean_string(text)) for text in coded.dictionary.to_pylist()]
        if all(len(entries) == 1 for entries in found):
            cells = np.array([entries[0][1] for entries in found], np.int32)
            self._add(owner, locator.dimension, cells[index])
            return
        count = np.array([len(entries) for entries in found], np.int64)
        start = np.cumsum(count) - count
        flat = np.array([entry for entries in found for entry in entries], np.int32).reshape(-1, 3)
        times = count[index]
        place = np.repeat(start[index] - (np.cumsum(times) - times), times) + np.arange(times.sum())
        self.parts.append((np.repeat(owner, times), flat[place, 0], flat[place, 1], flat[place, 2]))

    def _points(self, name: str, array: Any, owner: Ints) -> None:
        locator = self.encoder.locators.get(name)
        lon = pc.struct_field(array, "lon").cast(pa.float64()).to_numpy(zero_copy_only=False)
        lat = pc.struct_field(array, "lat").cast(pa.float64()).to_numpy(zero_copy_only=False)
        entries: list[tuple[int, int, int, int]] = []
        for row, x, y in zip(owner.tolist(), lon.tolist(), lat.tolist(), strict=True):
            try:
                point = Point(x, y)
            except TamisError:
                self.refuse(np.array([row]), name, f"({x}, {y}) is no longitude and latitude")
                continue
            if locator is not None:
                entries.extend((row, *entry) for entry in locator.point(point))
        flat = np.array(entries, np.int64).reshape(-1, 4)
        self.parts.append(tuple(flat[:, i] for i in range(4)))

    def _map(self, array: Any, owner: Ints) -> None:
        """Sparse attributes: numbers of all names are located together, other values name by name."""
        if array.null_count:
            valid = array.is_valid().to_numpy(zero_copy_only=False)
            array, owner = array.filter(pa.array(valid)), owner[valid]
        offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        count = np.diff(offsets)
        keys, items = array.keys, array.items
        inner = np.repeat(owner, count)
        low, high = int(offsets[0]), int(offsets[-1])
        keys, items = keys.slice(low, high - low), items.slice(low, high - low)
        if items.null_count:
            valid = items.is_valid().to_numpy(zero_copy_only=False)
            keys, items, inner = keys.filter(pa.array(valid)), items.filter(pa.array(valid)), inner[valid]
        coded = keys.dictionary_encode()
        index = coded.indices.to_numpy(zero_copy_only=False)
        names = coded.dictionary.to_pylist()
        if pa.types.is_integer(items.type) or pa.types.is_floating(items.type):
            self._map_numbers(names, index, items, inner)
            return
        order = np.argsort(index, kind="stable")
        bounds = np.searchsorted(index[order], np.arange(len(names) + 1))
        for at, name in enumerate(names):
            rows = order[bounds[at] : bounds[at + 1]]
            self.column(name, items.take(pa.array(rows)), inner[rows])

    def _map_numbers(self, names: list[str], index: npt.NDArray[Any], items: Any, owner: Ints) -> None:
        space, places = self.encoder.locators.space, self.encoder.locators.places
        dimension = np.array([places.get(name, -1) for name in names] or [-1], np.int64)[index]
        if pa.types.is_integer(items.type):
            floor, rest = split_integers(items.cast(pa.int64()).to_numpy(zero_copy_only=False))
        else:
            floor = items.to_numpy(zero_copy_only=False).astype(np.float64)
            rest = np.zeros(len(floor), np.int64)
            for at in np.flatnonzero(~np.isfinite(floor)).tolist():
                self.refuse(owner[at : at + 1], names[index[at]], "not a finite number")
        known = dimension >= 0
        owner, dimension, floor, rest = owner[known], dimension[known], floor[known], rest[known]
        rank, cells = np.empty(len(dimension), np.int64), np.empty(len(dimension), np.int64)
        rank_numbers(floor, rest, space.number_values, space.number_rest, rank)
        locate_ranks(dimension, rank, space.number_start, space.number_cut, cells)
        base = space.number_base[dimension]
        cells = np.where(base > 0, base + cells, space.ordered_cells[dimension])
        self.parts.append((owner, dimension, cells, cells))


def event_of_row(table: pa.RecordBatch | pa.Table, row: int, limits: Limits) -> Event:
    """One row as an event object, with the meaning that :func:`encode_table` gives it."""
    source: dict[str, Any] = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        value = _plain(column[row])
        if pa.types.is_map(column.type):
            for key, item in value or ():
                source[key] = [source[key], item] if key in source else item
        else:
            source[name] = value
    return event_from(source, limits)


def _plain(scalar: Any) -> Any:
    """An Arrow scalar as a Python value; a (lon, lat) struct as a point, a decimal as a float."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return time_of(scalar.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).as_py())
    if pa.types.is_map(kind):
        keys, items = scalar.values.field(0), scalar.values.field(1)
        return [(key.as_py(), _plain(value)) for key, value in zip(keys, items, strict=True)]
    if _is_list(kind):
        return [_plain(item) for item in scalar]
    if pa.types.is_struct(kind):
        if {field.name for field in kind} == {"lon", "lat"}:
            return Point(float(scalar["lon"].as_py()), float(scalar["lat"].as_py()))
        return {field.name: _plain(scalar[field.name]) for field in kind}
    value = scalar.as_py()
    return float(value) if pa.types.is_decimal(kind) else value


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
