"""Splits a batch of events into values per attribute, in arrays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.columns.texts import normal
from tamis.columns.times import arrow_micros
from tamis.errors import EventError
from tamis.index.batches import nowhere
from tamis.index.match import locate
from tamis.limits import Limits
from tamis.values.event import NULLS, clean_name, event_from
from tamis.values.value import family, micros_of

Ints = npt.NDArray[np.int64]
FAMILIES = ("boolean", "number", "string", "time", "point", "interval")


class Leaf(NamedTuple):
    """Values of one attribute and family; ``owner`` is the event of each.

    Numbers are floats, times microseconds since 1970, strings an Arrow array, booleans 0 or 1. Points and
    intervals are only counted, so they have no values.
    """

    name: str
    family: str
    owner: Ints
    values: Any


def leaves_of(piece: pa.Table | list[Any], limits: Limits) -> tuple[list[Leaf], set[int]]:
    """Return the leaves of the good events of ``piece``, and the rows of the refused ones."""
    if isinstance(piece, list):
        return _from_events(piece, limits)
    refused = {row for row, _ in locate(nowhere(limits), piece)[1]}
    good = np.ones(piece.num_rows, np.bool_)
    good[list(refused)] = False
    if refused:
        piece = piece.filter(pa.array(good))
    rows = np.flatnonzero(good)
    found: list[Leaf] = []
    for name, column in zip(piece.schema.names, piece.columns, strict=True):
        array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        if pa.types.is_map(array.type):
            found.extend(_map("", array, rows, limits))
        else:
            found.extend(_column(name, array, rows, limits))
    return found, refused


def _from_events(events: list[Any], limits: Limits) -> tuple[list[Leaf], set[int]]:
    held: dict[tuple[str, str], tuple[list[int], list[Any]]] = {}
    refused: set[int] = set()
    for row, event in enumerate(events):
        try:
            if isinstance(event, EventError):
                raise event
            attributes = event_from(event, limits).attributes
        except EventError:
            refused.add(row)
            continue
        for name, values in attributes.items():
            for value in values if name != NULLS else ():  # it lists absent attributes
                owners, kept = held.setdefault((name, family(value)), ([], []))
                owners.append(row)
                kept.append(value)
    leaves = [
        Leaf(name, kind, np.array(owners, np.int64), _array(kind, values))
        for (name, kind), (owners, values) in held.items()
    ]
    return leaves, refused


def _array(kind: str, values: list[Any]) -> Any:
    if kind == "string":
        return pa.array(values, pa.string())
    if kind == "time":
        moments: list[datetime] = values
        return np.array([micros_of(moment) for moment in moments], np.int64)
    return np.array(values, np.float64) if kind in ("number", "boolean") else None


def _column(name: str, array: Any, owner: Ints, limits: Limits) -> Iterator[Leaf]:
    """Yield the leaves of a column, typed as in :mod:`tamis.space.columns`."""
    kind = array.type
    if pa.types.is_null(kind):
        return
    array, owner = _valid(array, owner)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = owner[pc.list_parent_indices(array).to_numpy(zero_copy_only=False)]
        yield from _column(name, pc.list_flatten(array), inner, limits)
    elif pa.types.is_map(kind):
        yield from _map(f"{name}.", array, owner, limits)
    elif pa.types.is_struct(kind):
        fields = [field.name for field in kind]
        if set(fields) == {"lon", "lat"}:
            yield Leaf(clean_name(name, limits), "point", owner, None)
            return
        for at, field in enumerate(fields):
            yield from _column(f"{name}.{field}", pc.struct_field(array, [at]), owner, limits)
    elif len(owner):
        yield _scalars(clean_name(name, limits), array, owner)


def _scalars(name: str, array: Any, owner: Ints) -> Leaf:
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Leaf(name, "string", owner, normal(array.cast(pa.string())))
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return Leaf(name, "time", owner, arrow_micros(array)[0])
    what = "boolean" if pa.types.is_boolean(kind) else "number"
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    return Leaf(name, what, owner, pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False))


def _map(prefix: str, array: Any, owner: Ints, limits: Limits) -> Iterator[Leaf]:
    """Yield sparse attributes, those of one name together."""
    array, owner = _valid(array, owner)
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    low, high = int(offsets[0]), int(offsets[-1])
    keys = array.keys.slice(low, high - low).dictionary_encode()
    items, inner = array.items.slice(low, high - low), np.repeat(owner, np.diff(offsets))
    index = keys.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(index, kind="stable")
    bounds = np.searchsorted(index[order], np.arange(len(keys.dictionary) + 1)).tolist()
    items, inner = items.take(pa.array(order)), inner[order]
    for key, first, last in zip(keys.dictionary.to_pylist(), bounds[:-1], bounds[1:], strict=True):
        yield from _column(prefix + key, items.slice(first, last - first), inner[first:last], limits)


def _valid(array: Any, owner: Ints) -> tuple[Any, Ints]:
    if not array.null_count:
        return array, owner
    valid = array.is_valid()
    return array.filter(valid), owner[valid.to_numpy(zero_copy_only=False)]
