"""Read the tables of other libraries as Arrow tables, and Arrow arrays in the few layouts of Tamis.

A table is an Arrow table, record batch or reader, a pandas frame, or any object that offers the Arrow
PyCapsule interface, as frames of Polars and relations of DuckDB do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import InputError
from tamis.values.foreign import means_absent
from tamis.values.value import Point, short

MOST_NESTED = 64  # levels of a cell that are left to pyarrow
_CONTAINERS = (dict, list, tuple)
_CAPSULES = ("__arrow_c_stream__", "__arrow_c_array__")
_EXTENSIONS = frozenset(("arrow.uuid", "arrow.bool8", "arrow.json"))  # those with a meaning here
# Raised by pandas and Arrow for a column that is not all of one type, or holds foreign objects.
_NOT_ONE_TYPE = (pa.ArrowException, TypeError, ValueError, OverflowError)


def is_table(source: Any) -> bool:
    """Return whether ``source`` is a table of any library."""
    return is_frame(source) or any(hasattr(source, name) for name in _CAPSULES)


def is_frame(source: Any) -> bool:
    """Return whether ``source`` is a pandas frame; its missing values and mixed columns need care."""
    kind = type(source)
    return (
        kind.__module__.partition(".")[0] == "pandas"
        and hasattr(source, "dtypes")
        and hasattr(source, "columns")
    )


def tables_of(source: Any) -> Iterator[pa.Table | list[dict[str, Any]]]:
    """Yield the parts of a table as Arrow tables; a pandas frame with mixed columns becomes rows."""
    if is_frame(source):
        yield frame_table(source)
    elif isinstance(source, pa.Table):
        yield source
    else:
        for batch in _reader(source):
            yield pa.Table.from_batches([batch])


def table_of(source: Any) -> pa.Table | list[dict[str, Any]]:
    """Return a whole table as one Arrow table; a pandas frame with mixed columns becomes rows."""
    if is_frame(source):
        return frame_table(source)
    table = source if isinstance(source, pa.Table) else _reader(source).read_all()
    refuse_repeated(table.schema.names)
    return table


def _reader(source: Any) -> pa.RecordBatchReader:
    """Return the record batches of an object that offers the PyCapsule interface."""
    if isinstance(source, pa.RecordBatchReader):
        return source
    try:
        if not hasattr(source, "__arrow_c_stream__"):
            batch = pa.record_batch(source)
            return pa.RecordBatchReader.from_batches(batch.schema, [batch])
        return pa.RecordBatchReader.from_stream(source)
    except (pa.ArrowException, TypeError, ValueError) as bad:
        raise InputError(f"a {type(source).__name__} cannot be read as an Arrow table: {bad}") from None


def refuse_repeated(names: list[str]) -> None:
    """Raise :class:`InputError` if two columns have the same name."""
    if len(set(names)) != len(names):
        name, _ = Counter(names).most_common(1)[0]
        raise InputError(f"the table has two columns called {name[:80]!r}; rename one of them", column=name)


def frame_table(frame: Any) -> pa.Table | list[dict[str, Any]]:
    """Return a pandas frame as an Arrow table, or as rows if a column mixes types.

    The index of the frame is left out.
    """
    names = list(frame.columns)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"a column is called {short(name)}; names of columns are strings")
    refuse_repeated(names)
    try:
        if any(_is_deep(frame[name]) for name in names):
            raise ValueError("nested too deeply for Arrow")
        return pa.Table.from_pandas(frame, preserve_index=False)
    except _NOT_ONE_TYPE:
        columns = [[_cell(value) for value in frame[name].tolist()] for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _is_deep(column: Any) -> bool:
    """Return whether a cell is nested too deeply for pyarrow, which recurses and could crash."""
    if column.dtype != object:
        return False
    level: list[Any] = [cell for cell in column.tolist() if isinstance(cell, _CONTAINERS)]
    for _ in range(MOST_NESTED):
        if not level:
            return False
        parts = (cell.values() if isinstance(cell, dict) else cell for cell in level)
        level = [inner for part in parts for inner in part if isinstance(inner, _CONTAINERS)]
    return True


def _cell(value: Any) -> Any:
    """Return a cell of a pandas column as Arrow holds it: NaN is missing, {lon, lat} is a point."""
    if means_absent(value) or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, dict) and value.keys() == {"lon", "lat"}:
        return Point(value["lon"], value["lat"])
    return value


def ordinary(array: Any) -> Any:
    """Return ``array`` with the same values but no dictionaries, runs, views and known extension types."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _without_extension(array)
    if pa.types.is_dictionary(kind):
        return ordinary(ordinary(array.dictionary).take(array.indices))
    if pa.types.is_run_end_encoded(kind):
        return ordinary(pc.run_end_decode(array))
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if not pa.types.is_nested(kind) or (plain := _deep_type(kind)) == kind:
        return array
    # Arrow 26 casts views of lists to lists that lack elements, and cannot cast dictionaries within lists.
    if "list_view" in str(kind) or "dictionary" in str(kind):
        return pa.array(array.to_pylist(), plain)
    return array.cast(plain)


def _deep_type(kind: Any) -> Any:
    """Return the ordinary type of ``kind`` and its parts; point and map columns keep their shape."""
    kind = ordinary_type(kind)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_deep_type(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_deep_type(kind.key_type), _deep_type(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(_deep_type(kind.value_type)), kind.list_size)
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_deep_type(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_deep_type(kind.value_type)))
    return kind


def _without_extension(array: Any) -> Any:
    name = array.type.extension_name
    if name == "arrow.uuid":
        return pa.array([None if value is None else str(value) for value in array.to_pylist()], pa.string())
    return array.storage.cast(pa.bool_()) if name == "arrow.bool8" else ordinary(array.storage)


def ordinary_type(kind: Any) -> Any:
    """Return the type of ``ordinary(array)`` for arrays of ``kind``; unknown extension types stay."""
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name not in _EXTENSIONS:
            return kind
        return {"arrow.uuid": pa.string(), "arrow.bool8": pa.bool_()}.get(
            kind.extension_name, kind.storage_type
        )
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return ordinary_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return pa.large_list(kind.value_field)
    return kind


def one_array(column: Any) -> Any:
    """Return a column of a table or batch as one array."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return array


def ordinary_table(table: pa.Table) -> pa.Table:
    """Return ``table`` with ordinary columns."""
    columns = [
        column if ordinary_type(column.type) == column.type else ordinary(one_array(column))
        for column in table.columns
    ]
    return pa.table(columns, table.schema.names)


def read_parquet(path: Path, stream: IO[bytes] | None = None) -> pa.Table:
    """Return a whole Parquet file, or that of a ``stream``; then ``path`` only gives the name."""
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path if stream is None else pa.BufferReader(stream.read()))
    except (pa.ArrowException, OSError) as bad:
        raise InputError(f"{path} cannot be read as Parquet: {bad}", file=str(path)) from None


def parquet_batches(path: Path, size: int = 65_536) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of a Parquet file, one after the other."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=size)
    except (pa.ArrowException, OSError) as bad:
        raise InputError(f"{path} cannot be read as Parquet: {bad}", file=str(path)) from None


def is_string(kind: Any) -> bool:
    """Return whether an ordinary type is one of the two for strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_list(kind: Any) -> bool:
    """Return whether an ordinary type is one of the three for lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_point(kind: Any) -> bool:
    """Return whether a struct type stands for a point: its only fields are ``lon`` and ``lat``."""
    return {field.name for field in kind} == {"lon", "lat"}


def may_be_tagged(kind: Any) -> bool:
    """Return whether values of a struct type may be tagged objects, such as ``{"$time": …}`` or GeoJSON."""
    names = {field.name for field in kind}
    return not names.isdisjoint(("$time", "$point", "$interval")) or {"type", "coordinates"} <= names
