"""Take a table apart: columns that the card locates itself, and entries that the processor finds.

The card locates numbers, booleans and strings that have one cell each, and a single map column of numbers.
It looks at plain cases alone. For any other table the caller locates everything on the processor, which also
knows how to refuse an event.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.columns.tables import is_string, one_array, ordinary
from tamis.columns.texts import readable
from tamis.errors import EventError
from tamis.gpu.columns._kernels import (
    BIT,
    CODE8,
    CODE16,
    CODE32,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)
from tamis.space.column_types import check_type
from tamis.space.columns import TableEncoder
from tamis.space.encode import Encoder, Refused
from tamis.space.locate import AttributeLocator
from tamis.space.located import Located
from tamis.values.event import clean_name
from tamis.values.value import clean_string

Bytes = npt.NDArray[np.uint8]

KINDS = {
    pa.int8(): INT8,
    pa.int16(): INT16,
    pa.int32(): INT32,
    pa.int64(): INT64,
    pa.uint8(): UINT8,
    pa.uint16(): UINT16,
    pa.uint32(): UINT32,
    pa.uint64(): UINT64,
    pa.float32(): FLOAT32,
    pa.float64(): FLOAT64,
}
CODES = {pa.int8(): CODE8, pa.int16(): CODE16, pa.int32(): CODE32}


class Column(NamedTuple):
    """A column that the card locates; ``cells`` are those of its codes, if it has codes."""

    dimension: int
    kind: int
    values: npt.NDArray[Any]
    first_bit: int  # of the values, if they are bits
    valid: Bytes | None
    first_valid: int
    nulls: int
    cells: npt.NDArray[np.int32] | None


class MapColumn(NamedTuple):
    """A map column of numbers: row ``e`` has the items ``start[e]:start[e + 1]``."""

    start: npt.NDArray[np.int64]
    key_start: npt.NDArray[np.int32]
    keys: Bytes
    kind: int
    values: npt.NDArray[Any]


class TakenApart(NamedTuple):
    """A table for the card."""

    events: int
    columns: list[Column]
    map: MapColumn | None
    located: Located | None  # what the processor found; ``None`` if there is nothing
    refused: Refused


def take_apart(encoder: Encoder, table: pa.RecordBatch | pa.Table) -> TakenApart | None:
    """Return the parts of a table; ``None`` if the processor should locate all of it."""
    found = _only_map(encoder, table)
    if found is not None:
        return TakenApart(table.num_rows, [], found, None, [])
    batch = _Taking(encoder, table.num_rows)
    for name, column in zip(table.schema.names, table.columns, strict=True):
        check_type(name, column.type, encoder.limits)
        array = _whole(column)
        if batch.take(name, array):
            continue
        array = ordinary(array)
        if pa.types.is_map(array.type):
            batch.map("", array, np.arange(len(array)))
        else:
            batch.column(name, array, np.arange(len(array)))
    if not batch.columns:
        return None
    located, refused = batch.finish()
    if batch.taken[located.dimension].any():  # a column and a nested field are the same attribute
        return None
    return TakenApart(
        table.num_rows, batch.columns, None, located if len(located.dimension) else None, refused
    )


class _Taking(TableEncoder):
    """An encoder that leaves plain columns to the card."""

    def __init__(self, encoder: Encoder, rows: int) -> None:
        super().__init__(encoder, rows)
        self.columns: list[Column] = []
        self.taken = np.zeros(len(encoder.locators.space.cells()), np.bool_)
        self._left: list[tuple[str, Any]] = []  # names and arrays, for the limits

    def take(self, name: str, array: Any) -> bool:
        """Leave a column to the card; return false if the processor must locate it."""
        try:
            name = clean_name(name, self.encoder.limits)
        except EventError:
            return False
        locator = self.encoder.locators.get(name)
        if locator is None or self.taken[locator.dimension]:
            return False
        column = _number_column(locator, array) or _code_column(locator, array)
        if column is None:
            return False
        self.columns.append(column)
        self.taken[locator.dimension] = True
        self._left.append((name, array))
        return True

    def _check_limits(self) -> None:
        limits = self.encoder.limits
        others = [owner for owner, _ in self.seen]
        most = int(np.bincount(np.concatenate(others)).max(initial=0)) if others else 0
        if len(self._left) + most > min(limits.event_values, limits.event_attributes):
            for name, array in self._left:
                self.seen.append((np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False)), name))
            super()._check_limits()


def _number_column(locator: AttributeLocator, array: Any) -> Column | None:
    kind = KINDS.get(array.type)
    if kind is None:
        return None
    return Column(locator.dimension, kind, _values(array), 0, *_validity(array), None)


def _code_column(locator: AttributeLocator, array: Any) -> Column | None:
    """Return a column of booleans or strings, each with one cell."""
    if pa.types.is_boolean(array.type):
        cells = np.array([locator.boolean(False), locator.boolean(True)], np.int32)
        bits, first = _bits(array, 1)
        return Column(locator.dimension, BIT, bits, first, *_validity(array), cells)
    coded = _coded(array) if not locator.has_terms else None
    if coded is None:
        return None
    found = [locator.string(clean_string(text)) for text in coded.dictionary.to_pylist()]
    if any(len(entries) != 1 for entries in found):
        return None
    cells = np.array([entries[0][1] for entries in found] or [0], np.int32)
    indices = coded.indices
    if indices.type not in CODES:
        indices = indices.cast(pa.int32())
    kind = CODES[indices.type]
    return Column(locator.dimension, kind, _values(indices), 0, *_validity(indices), cells)


def _coded(array: Any) -> Any:
    """Return an array of strings with a dictionary; ``None`` if it has others, or unreadable ones."""
    is_coded = pa.types.is_dictionary(array.type)
    texts = array.dictionary if is_coded else array
    if not is_string(texts.type) or readable(texts) is not None:
        return None
    coded = array if is_coded else array.dictionary_encode()
    return None if coded.dictionary.null_count else coded


def _values(array: Any) -> npt.NDArray[Any]:
    """Return the values of an array, those of nulls included."""
    if not len(array):
        return np.zeros(0, array.type.to_pandas_dtype())
    buffer = array.buffers()[1]
    return np.frombuffer(buffer, array.type.to_pandas_dtype())[array.offset : array.offset + len(array)]


def _validity(array: Any) -> tuple[Bytes | None, int, int]:
    """Return the bits of validity, the place of the first, and the number of nulls."""
    return (*_bits(array, 0), array.null_count) if array.null_count else (None, 0, 0)


def _whole(column: Any) -> Any:
    """Return a column as one array; a single chunk is not copied."""
    if isinstance(column, pa.ChunkedArray) and column.num_chunks == 1:
        return column.chunk(0)
    return one_array(column)


def _bits(array: Any, buffer: int) -> tuple[Bytes, int]:
    """Return the bytes that hold the bits of a buffer, and the place of the first bit in them."""
    if not len(array):
        return np.zeros(0, np.uint8), 0
    first = array.offset & 7
    begin, end = array.offset >> 3, (array.offset + len(array) + 7) >> 3
    return np.frombuffer(array.buffers()[buffer], np.uint8)[begin:end], first


def _only_map(encoder: Encoder, table: pa.RecordBatch | pa.Table) -> MapColumn | None:
    """Return the map of a table that has nothing else, if it is a plain map of numbers."""
    kinds = table.schema.types
    if len(kinds) != 1 or not pa.types.is_map(kinds[0]):
        return None
    kind = KINDS.get(kinds[0].item_type)
    array = _whole(table.column(0))
    if kind is None or kinds[0].key_type != pa.string() or array.null_count or not len(array):
        return None
    start = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    low, high = int(start[0]), int(start[-1])
    keys, items = array.keys.slice(low, high - low), array.items.slice(low, high - low)
    limits = encoder.limits
    crowded = int(np.diff(start).max(initial=0)) > min(limits.event_values, limits.event_attributes)
    if crowded or low == high or items.null_count:
        return None
    _, offsets, data = keys.buffers()
    key_start = np.frombuffer(offsets, np.int32)[keys.offset : keys.offset + len(keys) + 1]
    first, last = int(key_start[0]), int(key_start[-1])
    text = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)[first:last]
    return MapColumn(start - low, key_start - np.int32(first), text, kind, _values(items))
