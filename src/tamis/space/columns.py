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

from tamis.errors import EventError, EventLimit, EventValue, InputError
from tamis.lang.columns.literals import time_of
from tamis.lang.columns.texts import readable
from tamis.lang.columns.times import arrow_micros
from tamis.limits import Limits
from tamis.model.event import clean_name
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
        check_type(name, column.type, encoder.limits)
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
        if pa.types.is_map(array.type):
            batch.map("", array, np.arange(len(array)))
        else:
            batch.column(name, array, np.arange(len(array)))
    return batch.finish()


class _TableEncoder:
    def __init__(self, encoder: Encoder, rows: int) -> None:
        self.encoder = encoder
        self.rows = rows
        self.parts: list[Part] = [tuple(np.zeros(0, t) for t in (np.int64, np.int32, np.int32, np.int32))]
        self.refused: dict[int, EventError] = {}
        self.multi = np.zeros(rows, np.uint8)
        self.names: dict[str, int] = {}
        self.seen: list[tuple[Ints, Any]] = []  # event and name of every value, for the limits

    def finish(self) -> tuple[Located, Refused]:
        """All columns as located events; refused rows have no entries."""
        self._check_limits()
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

    def _check_limits(self) -> None:
        """Count values and attributes of each event where a limit may have been passed at all."""
        limits, names = self.encoder.limits, len(self.names)
        if sum(len(owner) for owner, _ in self.seen) > limits.event_values:
            self._refuse_over(np.concatenate([owner for owner, _ in self.seen]), "event_values")
        if names > limits.event_attributes:
            pairs = np.unique(np.concatenate([owner * names + name for owner, name in self.seen]))
            self._refuse_over(pairs // names, "event_attributes")

    def _refuse_over(self, owner: Ints, limit: str) -> None:
        most, what = getattr(self.encoder.limits, limit), limit.removeprefix("event_")
        count = np.bincount(owner, minlength=self.rows)
        for row in np.flatnonzero(count > most).tolist():
            message = f"the event has {count[row]} {what}, more than {limit} = {most}"
            self.refused.setdefault(row, EventLimit(message, limit=limit))

    def column(self, name: str, array: Any, owner: Ints) -> None:
        """Locate one column; ``owner`` is the event of each element."""
        if pa.types.is_null(array.type):
            return
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        array, owner = _valid(array, owner)
        if _is_list(array.type):
            inner = owner[pc.list_parent_indices(array).to_numpy(zero_copy_only=False)]
            self._mark_multi(inner)
            self.column(name, pc.list_flatten(array), inner)
        elif pa.types.is_struct(array.type):
            self._struct(name, array, owner)
        elif pa.types.is_map(array.type):
            self.map(f"{name}.", array, owner)
        else:
            self._scalars(self._saw(name, owner), array, owner)

    def _saw(self, name: str, owner: Ints) -> str:
        """The clean form of an attribute's name, noted for the limits."""
        try:
            name = clean_name(name, self.encoder.limits)
        except EventError as bad:
            raise InputError(f"a column cannot be an attribute: {bad.message}", column=name) from None
        self.seen.append((owner, self.names.setdefault(name, len(self.names))))
        return name

    def _mark_multi(self, owner: Ints) -> None:
        self.multi[np.bincount(owner, minlength=self.rows) > 1] = 1

    def _struct(self, name: str, array: Any, owner: Ints) -> None:
        fields = [field.name for field in array.type]
        if set(fields) == {"lon", "lat"}:
            self._points(self._saw(name, owner), array, owner)
            return
        for at, field in enumerate(fields):
            self.column(f"{name}.{field}", pc.struct_field(array, [at]), owner)

    def _scalars(self, name: str, array: Any, owner: Ints) -> None:
        locator = self.encoder.locators.get(name)
        kind = array.type
        if pa.types.is_decimal(kind):
            array = pa.array([float(number) for number in array.to_pylist()], pa.float64())
        if pa.types.is_floating(array.type):
            values = array.to_numpy(zero_copy_only=False).astype(np.float64)
            self.refuse(owner[~np.isfinite(values)], name, "not a finite number")
            if locator is not None:
                self._add(owner, locator.dimension, locator.numbers(values, np.zeros(len(values), np.int64)))
        elif pa.types.is_integer(kind):
            self._integers(name, array, owner, locator)
        elif _is_string(kind):
            self._strings(name, array, owner, locator)
        elif pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            self._times(name, array, owner, locator)
        elif locator is not None:
            cells = [locator.boolean(False), locator.boolean(True)]
            chosen = array.cast(pa.int8()).to_numpy(zero_copy_only=False)
            self._add(owner, locator.dimension, np.array(cells, np.int32)[chosen])

    def _add(self, owner: Ints, dimension: int, cells: npt.NDArray[np.int32]) -> None:
        self.parts.append((owner, np.full(len(owner), dimension, np.int32), cells, cells))

    def _fitting(self, name: str, array: Any, owner: Ints) -> npt.NDArray[np.bool_] | None:
        """Which integers fit 64 bits, if not all do; the others' events are refused."""
        if array.type != pa.uint64():
            return None
        fits: npt.NDArray[np.bool_] = array.to_numpy(zero_copy_only=False) <= np.uint64(2**63 - 1)
        self.refuse(owner[~fits], name, "an integer does not fit 64 bits")
        return fits

    def _integers(self, name: str, array: Any, owner: Ints, locator: AttributeLocator | None) -> None:
        fits = self._fitting(name, array, owner)
        if fits is not None:
            array, owner = array.filter(pa.array(fits)), owner[fits]
        if locator is not None:
            values = array.cast(pa.int64()).to_numpy(zero_copy_only=False)
            self._add(owner, locator.dimension, locator.numbers(*split_integers(values)))

    def _times(self, name: str, array: Any, owner: Ints, locator: AttributeLocator | None) -> None:
        moments, good = arrow_micros(array)
        self.refuse(owner[~good], name, "a time lies outside the years 1 to 9999")
        if locator is not None:
            distinct, place = np.unique(moments, return_inverse=True)
            cells = np.array([locator.time(time_of(moment)) for moment in distinct.tolist()], np.int32)
            self._add(owner, locator.dimension, cells[place])

    def _strings(self, name: str, array: Any, owner: Ints, locator: AttributeLocator | None) -> None:
        """Each distinct string is located once."""
        usable = readable(array)
        if usable is not None:
            self.refuse(owner[~usable], name, "a string is not UTF-8")
            array, owner = array.filter(pa.array(usable)), owner[usable]
        if locator is None:
            return
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
            except EventError:
                self.refuse(np.array([row]), name, f"({x}, {y}) is no longitude and latitude")
                continue
            if locator is not None:
                entries.extend((row, *entry) for entry in locator.point(point))
        flat = np.array(entries, np.int64).reshape(-1, 4)
        self.parts.append(tuple(flat[:, i] for i in range(4)))

    def map(self, prefix: str, array: Any, owner: Ints) -> None:
        """Sparse attributes: numbers of all names are located together, other values name by name."""
        array, owner = _valid(array, owner)
        offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        low, high = int(offsets[0]), int(offsets[-1])
        keys, items = array.keys.slice(low, high - low), array.items.slice(low, high - low)
        items, inner, keys = _valid(items, np.repeat(owner, np.diff(offsets)), keys)
        coded = keys.dictionary_encode()
        index = coded.indices.to_numpy(zero_copy_only=False)
        names = [self._key(prefix, key, inner, index == at) for at, key in enumerate(coded.dictionary)]
        if pa.types.is_integer(items.type) or pa.types.is_floating(items.type):
            self._map_numbers(names, index, items, inner)
            return
        order = np.argsort(index, kind="stable")
        bounds = np.searchsorted(index[order], np.arange(len(names) + 1))
        for at, name in enumerate(names):
            if name is not None:
                rows = order[bounds[at] : bounds[at + 1]]
                self.column(name, items.take(pa.array(rows)), inner[rows])

    def _key(self, prefix: str, key: Any, owner: Ints, where: npt.NDArray[np.bool_]) -> str | None:
        """The name that a key stands for; ``None``, and its events refused, if it can be none."""
        try:
            return clean_name(prefix + key.as_py(), self.encoder.limits)
        except UnicodeDecodeError:
            error: EventError = EventValue("the name of an attribute is not UTF-8")
        except EventError as bad:
            error = bad
        for row in owner[where].tolist():
            self.refused.setdefault(row, error)
        return None

    def _map_numbers(self, names: list[str | None], index: npt.NDArray[Any], items: Any, owner: Ints) -> None:
        space, places = self.encoder.locators.space, self.encoder.locators.places
        known = np.array([self.names.setdefault(name or "", len(self.names)) for name in names] or [0])
        self.seen.append((owner, known[index]))
        dimension = np.array([places.get(name or "", -1) for name in names] or [-1], np.int64)[index]
        fits = self._fitting("in a map", items, owner)
        if fits is not None:
            items, owner, dimension = items.filter(pa.array(fits)), owner[fits], dimension[fits]
        if pa.types.is_integer(items.type):
            floor, rest = split_integers(items.cast(pa.int64()).to_numpy(zero_copy_only=False))
        else:
            floor = items.to_numpy(zero_copy_only=False).astype(np.float64)
            rest = np.zeros(len(floor), np.int64)
            for at in np.flatnonzero(~np.isfinite(floor)).tolist():
                self.refuse(owner[at : at + 1], names[index[at]] or "", "not a finite number")
        asked = dimension >= 0
        owner, dimension, floor, rest = owner[asked], dimension[asked], floor[asked], rest[asked]
        rank, cells = np.empty(len(dimension), np.int64), np.empty(len(dimension), np.int64)
        rank_numbers(floor, rest, space.number_values, space.number_rest, rank)
        locate_ranks(dimension, rank, space.number_start, space.number_cut, cells)
        base = space.number_base[dimension]
        cells = np.where(base > 0, base + cells, space.ordered_cells[dimension])
        self.parts.append((owner, dimension, cells, cells))


def _valid(array: Any, owner: Ints, *more: Any) -> tuple[Any, ...]:
    """``array``, ``owner`` and arrays beside them without the places where ``array`` is null."""
    if not array.null_count:
        return array, owner, *more
    valid = array.is_valid()
    return array.filter(valid), owner[valid.to_numpy(zero_copy_only=False)], *(m.filter(valid) for m in more)


def check_type(name: str, kind: Any, limits: Limits, depth: int = 1) -> None:
    """Refuse a column whose type no attribute can have, or that is nested too deeply."""
    if depth > limits.event_depth:
        raise InputError(
            f"column {name[:80]!r} is nested deeper than event_depth = {limits.event_depth}", column=name
        )
    if _is_list(kind) or pa.types.is_dictionary(kind):
        check_type(name, kind.value_type, limits, depth + _is_list(kind))
    elif pa.types.is_struct(kind):
        for field in kind:
            check_type(f"{name}.{field.name}", field.type, limits, depth + 1)
    elif pa.types.is_map(kind) and _is_string(kind.key_type):
        check_type(name, kind.item_type, limits, depth + 1)
    elif not (_is_string(kind) or any(test(kind) for test in _TYPES)):
        raise InputError(
            f"column {name[:80]!r} has the type {kind}, which no attribute can have", column=name
        )


_TYPES = (
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_timestamp,
    pa.types.is_date,
)


def _is_string(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
