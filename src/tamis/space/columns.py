"""Locate the events of Arrow tables, attribute by attribute.

A column is an attribute; struct columns become dotted names, list columns are multi-valued, a struct of
``lon`` and ``lat`` is a point. A map column holds sparse attributes: its keys are names.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.columns.tables import (
    is_list,
    is_point,
    is_string,
    may_be_tagged,
    one_array,
    ordinary,
)
from tamis.columns.texts import readable
from tamis.columns.times import arrow_micros
from tamis.errors import EventError, EventLimit, EventValue, InputError
from tamis.space.column_types import check_type
from tamis.space.encode import Encoder, Refused
from tamis.space.locate import AttributeLocator
from tamis.space.located import Located, Part, join
from tamis.space.numbers import split_integers
from tamis.space.table_row import object_in
from tamis.values.event import clean_name, flatten
from tamis.values.foreign import decimal_number
from tamis.values.value import Value, clean_string, moment_of

Ints = npt.NDArray[np.int64]


def encode_table(encoder: Encoder, table: pa.RecordBatch | pa.Table) -> tuple[Located, Refused]:
    """Locate every row of ``table``."""
    batch = TableEncoder(encoder, table.num_rows)
    for name, column in zip(table.schema.names, table.columns, strict=True):
        check_type(name, column.type, encoder.limits)
        array = ordinary(one_array(column))
        if pa.types.is_map(array.type):
            batch.map("", array, np.arange(len(array)))
        else:
            batch.column(name, array, np.arange(len(array)))
    return batch.finish()


class TableEncoder:
    """The entries of a table, collected column by column."""

    def __init__(self, encoder: Encoder, rows: int) -> None:
        self.encoder = encoder
        self.word = encoder.locators.word
        self.rows = rows
        self.parts: list[Part] = [tuple(np.zeros(0, t) for t in (np.int64, self.word, self.word, self.word))]
        self.refused: dict[int, EventError] = {}
        self.multi = np.zeros(rows, np.uint8)
        # The event and name of every value, for the limits: one name for all, or an Arrow array of names.
        self.seen: list[tuple[Ints, Any]] = []

    def finish(self) -> tuple[Located, Refused]:
        """Return all columns as located events; refused rows have no entries."""
        self._check_limits()
        parts = self.parts
        if self.refused:
            bad = np.zeros(self.rows, np.bool_)
            bad[list(self.refused)] = True
            parts = [tuple(x[~bad[part[0]]] for x in part) for part in parts]
        located = join(self.rows, parts, self.multi, self.word)
        return located, sorted(self.refused.items(), key=lambda item: item[0])

    def refuse(self, rows: Ints, name: str, why: str) -> None:
        """Refuse events for the same reason."""
        for row in rows.tolist():
            self.refused.setdefault(row, EventValue(f"attribute {name[:80]!r}: {why}", attribute=name))

    def _check_limits(self) -> None:
        """Count the values and attributes of each event that may exceed a limit."""
        limits = self.encoder.limits
        values = sum(len(owner) for owner, _ in self.seen)
        if values <= min(limits.event_values, limits.event_attributes):
            return
        owner = np.concatenate([owner for owner, _ in self.seen])
        self._refuse_over(owner, "event_values")
        # An event has no more attributes than values, and few events have many values.
        if np.bincount(owner).max(initial=0) > limits.event_attributes:
            codes: dict[str, int] = {}
            name = np.concatenate([_codes(codes, names, len(owner)) for owner, names in self.seen])
            pairs = np.unique(owner * len(codes) + name)
            self._refuse_over(pairs // len(codes), "event_attributes")

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
        array, owner = _valid(ordinary(array), owner)
        if is_list(array.type):
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
        """Return the clean form of an attribute's name, and record it for the limits."""
        try:
            name = clean_name(name, self.encoder.limits)
        except EventError as bad:
            raise InputError(f"a column cannot be an attribute: {bad.message}", column=name) from None
        self.seen.append((owner, name))
        return name

    def _mark_multi(self, owner: Ints) -> None:
        self.multi[np.bincount(owner, minlength=self.rows) > 1] = 1

    def _struct(self, name: str, array: Any, owner: Ints) -> None:
        fields = [field.name for field in array.type]
        if is_point(array.type):
            self._points(self._saw(name, owner), array, owner)
            return
        if may_be_tagged(array.type):
            self._objects(name, array, owner)
            return
        for at, field in enumerate(fields):
            self.column(f"{name}.{field}", pc.struct_field(array, [at]), owner)

    def _objects(self, name: str, array: Any, owner: Ints) -> None:
        """Read objects that may be tagged one by one, as they are read in dictionaries."""
        for row, scalar in zip(owner.tolist(), array, strict=True):
            try:
                found = flatten({name: object_in(name, scalar)}, self.encoder.limits)
            except EventError as bad:
                self.refused.setdefault(row, bad)
                continue
            for inner, values in found.items():
                self._values(inner, values, row)

    def _values(self, name: str, values: tuple[Value, ...], row: int) -> None:
        """Locate clean values of one attribute of one event."""
        self.seen.append((np.full(len(values), row), name))
        locator = self.encoder.locators.get(name)
        if locator is None:
            return
        entries = [(row, *entry) for value in values for entry in locator.value(value)]
        self.parts.append(tuple(np.array(entries, np.int64).reshape(-1, 4).T))
        if len(values) > 1:
            self.multi[row] = 1

    def _decimals(self, name: str, array: Any, owner: Ints) -> None:
        """Locate decimals: whole ones as integers, the others as floats."""
        numbers = [_number(number) for number in array.to_pylist()]
        for kind, type_ in ((int, pa.int64()), (float, pa.float64())):
            chosen = [at for at, number in enumerate(numbers) if type(number) is kind]
            self._scalars(name, pa.array([numbers[at] for at in chosen], type_), owner[chosen])
        for at, number in enumerate(numbers):
            if isinstance(number, EventValue):
                self.refuse(owner[at : at + 1], name, number.message)

    def _scalars(self, name: str, array: Any, owner: Ints) -> None:
        locator = self.encoder.locators.get(name)
        kind = array.type
        if pa.types.is_decimal(kind):
            self._decimals(name, array, owner)
        elif pa.types.is_floating(array.type):
            values = array.to_numpy(zero_copy_only=False).astype(np.float64)
            self.refuse(owner[~np.isfinite(values)], name, "not a finite number")
            if locator is not None:
                self.parts.extend(locator.number_parts(owner, values, np.zeros(len(values), np.int64)))
        elif pa.types.is_integer(kind):
            self._integers(name, array, owner, locator)
        elif is_string(kind):
            self._strings(name, array, owner, locator)
        elif pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            self._times(name, array, owner, locator)
        elif locator is not None:
            cells = [locator.boolean(False), locator.boolean(True)]
            chosen = array.cast(pa.int8()).to_numpy(zero_copy_only=False)
            self._add(owner, locator.dimension, np.array(cells, self.word)[chosen])

    def _add(self, owner: Ints, dimension: int, cells: npt.NDArray[Any]) -> None:
        self.parts.append((owner, np.full(len(owner), dimension, self.word), cells, cells))

    def _fitting(self, name: str, array: Any, owner: Ints) -> npt.NDArray[np.bool_] | None:
        """Return which integers fit 64 bits, ``None`` if all do; refuse the events of the others."""
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
            self.parts.extend(locator.integer_parts(owner, values))

    def _times(self, name: str, array: Any, owner: Ints, locator: AttributeLocator | None) -> None:
        moments, good = arrow_micros(array)
        self.refuse(owner[~good], name, "a time lies outside the years 1 to 9999")
        if locator is not None:
            distinct, place = np.unique(moments, return_inverse=True)
            cells = np.array([locator.time(moment_of(moment)) for moment in distinct.tolist()], self.word)
            self._add(owner, locator.dimension, cells[place])

    def _strings(self, name: str, array: Any, owner: Ints, locator: AttributeLocator | None) -> None:
        """Locate strings; each distinct string is located once."""
        usable = readable(array)
        if usable is not None:
            self.refuse(owner[~usable], name, "a string is not UTF-8")
            array, owner = array.filter(pa.array(usable)), owner[usable]
        if locator is None:
            return
        parts, locate = locator.texts(owner, array)
        self.parts.extend(parts)
        if locate is None:
            return
        coded = array.dictionary_encode()
        index = coded.indices.to_numpy(zero_copy_only=False)
        found = [locate(clean_string(text)) for text in coded.dictionary.to_pylist()]
        if all(len(entries) == 1 for entries in found):
            cells = np.array([entries[0][1] for entries in found], self.word)
            self._add(owner, locator.dimension, cells[index])
            return
        count = np.array([len(entries) for entries in found], np.int64)
        start = np.cumsum(count) - count
        flat = np.array([entry for entries in found for entry in entries], self.word).reshape(-1, 3)
        times = count[index]
        place = np.repeat(start[index] - (np.cumsum(times) - times), times) + np.arange(times.sum())
        self.parts.append((np.repeat(owner, times), flat[place, 0], flat[place, 1], flat[place, 2]))

    def _points(self, name: str, array: Any, owner: Ints) -> None:
        locator = self.encoder.locators.get(name)
        lon, lat = (_floats(pc.struct_field(array, side)) for side in ("lon", "lat"))
        good = (np.abs(lon) <= 180.0) & (np.abs(lat) <= 90.0)
        for at in np.flatnonzero(~good).tolist():
            why = f"({float(lon[at])}, {float(lat[at])}) is no longitude and latitude"
            self.refuse(owner[at : at + 1], name, why)
        if locator is not None:
            self.parts.extend(locator.points(owner[good], lon[good], lat[good]))

    def map(self, prefix: str, array: Any, owner: Ints) -> None:
        """Locate sparse attributes: numbers of all names together, other values name by name."""
        array, owner = _valid(array, owner)
        offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        low, high = int(offsets[0]), int(offsets[-1])
        keys = ordinary(array.keys.slice(low, high - low))
        items = ordinary(array.items.slice(low, high - low))
        items, inner, keys = _valid(items, np.repeat(owner, np.diff(offsets)), keys)
        if prefix:
            keys = pc.binary_join_element_wise(pa.scalar(prefix, keys.type), keys, pa.scalar("", keys.type))
        if pa.types.is_integer(items.type) or pa.types.is_floating(items.type):
            self._map_numbers(keys, items, inner)
            return
        coded = keys.dictionary_encode()
        index = coded.indices.to_numpy(zero_copy_only=False)
        names = self._names(coded.dictionary, index, inner)
        order = np.argsort(index, kind="stable")
        bounds = np.searchsorted(index[order], np.arange(len(names) + 1)).tolist()
        items, inner = items.take(pa.array(order)), inner[order]
        for name, first, last in zip(names, bounds[:-1], bounds[1:], strict=True):
            if name is not None:
                self.column(name, items.slice(first, last - first), inner[first:last])

    def _names(self, keys: Any, index: npt.NDArray[Any], owner: Ints) -> list[str | None]:
        """Return the names of distinct keys; for an invalid key return ``None`` and refuse its events."""
        found = [self._name(key) for key in keys]
        bad = np.array([isinstance(name, EventError) for name in found], np.bool_)
        if bad.any():
            places = np.flatnonzero(bad[index])
            for at in places[np.argsort(index[places], kind="stable")].tolist():
                self.refused.setdefault(int(owner[at]), found[index[at]])
        return [None if isinstance(name, EventError) else name for name in found]

    def _name(self, key: Any) -> str | EventError:
        """Return the name that a key stands for, or the error if it is invalid."""
        try:
            return clean_name(key.as_py(), self.encoder.limits)
        except UnicodeDecodeError:
            return EventValue("the name of an attribute is not UTF-8")
        except EventError as bad:
            return bad

    def _dimensions(self, keys: Any, owner: Ints) -> Ints:
        """Return the attributes that keys name; -1 if no predicate mentions the attribute."""
        locators = self.encoder.locators
        found = locators.dimensions(keys, self.encoder.limits.attribute_name_bytes)
        if found is not None:
            self.seen.append((owner, keys))
            return found
        coded = keys.dictionary_encode()
        index = coded.indices.to_numpy(zero_copy_only=False)
        names = self._names(coded.dictionary, index, owner)
        self.seen.append((owner, pa.array(names, pa.string()).take(coded.indices)))
        places = np.array([-1 if name is None else locators.places[name] for name in names], np.int64)
        return np.asarray(places[index])

    def _map_numbers(self, keys: Any, items: Any, owner: Ints) -> None:
        dimension = self._dimensions(keys, owner)
        fits = self._fitting("in a map", items, owner)
        if fits is not None:
            items, owner, dimension = items.filter(pa.array(fits)), owner[fits], dimension[fits]
        if pa.types.is_integer(items.type):
            floor, rest = split_integers(items.cast(pa.int64()).to_numpy(zero_copy_only=False))
        else:
            floor = items.to_numpy(zero_copy_only=False).astype(np.float64)
            rest = np.zeros(len(floor), np.int64)
            for at in np.flatnonzero(~np.isfinite(floor)).tolist():
                self.refuse(owner[at : at + 1], str(self._name(keys[at])), "not a finite number")
        known = dimension >= 0
        if not known.all():
            owner, dimension, floor, rest = owner[known], dimension[known], floor[known], rest[known]
        self.parts.extend(self.encoder.locators.number_parts(owner, dimension, floor, rest))


def _codes(codes: dict[str, int], names: Any, count: int) -> Ints:
    """Return numbers for ``names``; a name has the same number in all calls with these ``codes``."""
    if isinstance(names, str):
        return np.full(count, codes.setdefault(names, len(codes)))
    coded = names.dictionary_encode(null_encoding="encode")
    known = [codes.setdefault(name or "", len(codes)) for name in coded.dictionary.to_pylist()]
    return np.asarray(np.array(known or [0], np.int64)[coded.indices.to_numpy(zero_copy_only=False)])


def _valid(array: Any, owner: Ints, *more: Any) -> tuple[Any, ...]:
    """Return ``array``, ``owner`` and the arrays beside them without the places where ``array`` is null."""
    if not array.null_count:
        return array, owner, *more
    valid = array.is_valid()
    return array.filter(valid), owner[valid.to_numpy(zero_copy_only=False)], *(m.filter(valid) for m in more)


def _floats(numbers: Any) -> npt.NDArray[np.float64]:
    """Return coordinates as floats; a missing or far too large coordinate becomes an invalid one."""
    floats = ordinary(numbers).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(floats, np.float64)


def _number(number: Decimal) -> int | float | EventValue:
    try:
        return decimal_number(number)
    except EventValue as bad:
        return bad
