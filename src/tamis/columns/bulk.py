"""Read bulk tables: Arrow rows of (id, attribute, operator, operands) become columns directly.

Rows with the same id form one conjunction. Operands stand in any of the columns ``value``, ``number``,
``string``, ``time`` and ``boolean``, each a scalar or a list; a row uses the columns that are not null.
Optional: ``weight`` per row, ``priority`` and ``version`` per id. A subscription with an unusable row is
refused as a whole and reported; the others are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.columns._kernels import mark_numbers, renumber, take_ranks
from tamis.columns.bulk_checks import check_arity, check_kinds, check_sizes, check_strings, row_of_operand
from tamis.columns.codes import NAMES, Kind
from tamis.columns.exotic import Refusals, check_exotic
from tamis.columns.literals import Literals, from_arrow, string_column
from tamis.columns.rows import Columns, runs, starts
from tamis.columns.texts import normal, readable
from tamis.columns.times import arrow_micros
from tamis.errors import InputError, SubscriptionError, TamisError, TypeMismatch
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers

OPERANDS = ("value", "values", "number", "string", "time", "boolean")
Index = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint32]


class Bulk(NamedTuple):
    """The content of a bulk table: good subscriptions; refused ids, their errors and first bad rows."""

    ids: pa.Array
    columns: Columns
    priority: npt.NDArray[np.float64]
    version: Index
    refused: list[tuple[str, TamisError]]
    refused_rows: list[int]


def columns_from_arrow(
    table: pa.Table, limits: Limits = DEFAULT_LIMITS, analysers: Analysers = NO_ANALYSERS
) -> Bulk:
    """Read a bulk table; the module's docstring describes its columns."""
    for name in ("id", "attribute", "operator"):
        if name not in table.column_names:
            raise InputError(
                f"a bulk table needs the column {name!r}; it has {', '.join(table.column_names)}"
            )
    table = table.combine_chunks()
    refusals = Refusals(table.num_rows)
    ids, group = _coded(table.column("id"), "id", refusals)
    names, attribute = _coded(table.column("attribute"), "attribute", refusals)
    op = _operators(table.column("operator"), refusals)
    literals, arity, literal = _literals(table, refusals)
    check_arity(op, arity, refusals, limits)
    check_kinds(op, arity, literals.kind, literal, refusals)
    named = _analysers_of(names, attribute, analysers) if analysers else None
    op, arity, literals, literal = check_exotic(op, arity, literals, literal, refusals, limits, named)
    size = np.bincount(group, minlength=len(ids))
    id_bytes, name_bytes = _lengths(ids), _lengths(names)
    for bad, owner, reason in check_sizes(id_bytes, group, name_bytes, attribute, size, limits):
        refusals.add_owned(bad, owner, reason)
    check_strings(literals, literal, arity, refusals, limits)
    refusals.add_owned(id_bytes == 0, group, SubscriptionError("id is empty"))
    refusals.add_owned(name_bytes == 0, attribute, SubscriptionError("attribute is empty"))
    weight, priority = _floats(table, "weight", 1.0, refusals), _floats(table, "priority", 0.0, refusals)
    version = _whole(table, "version", refusals)
    keep = _good_groups(group, refusals, len(ids))
    order = _order(group, keep)
    if order is not None:
        literal = literal[runs(starts(arity), order)[0]]
        attribute, op, arity = attribute[order], op[order], arity[order]
    row_start = starts(size[keep])
    columns = Columns(
        tuple(names.to_pylist()),
        literals,
        attribute,
        op,
        arity.astype(np.uint32, copy=False),
        literal.astype(np.uint32, copy=False),
        (weight if order is None else weight[order]) if np.any(weight != 1.0) else np.zeros(0),
        row_start,
        starts(_sums(arity, row_start)),
    )
    kept = ids if keep.all() else ids.filter(pa.array(keep))
    versions = _first(version, group, keep).astype(np.int64)
    return Bulk(kept, columns, _first(priority, group, keep), versions, *_report(ids, group, refusals))


def _analysers_of(names: pa.Array, attribute: Codes, analysers: Analysers) -> tuple[Index, list[str]]:
    """Return the place of the analyser of each row, and the list of analysers."""
    listed = ["", *sorted(set(analysers.values()))]
    place = [listed.index(analysers.get(name, "")) for name in names.to_pylist()]
    return np.array(place, np.int64)[attribute], listed


def _order(group: Codes, keep: npt.NDArray[np.bool_]) -> Index | None:
    """Return the rows of good subscriptions, grouped; ``None`` if all rows can stay as they are."""
    together = bool(np.all(group[1:] >= group[:-1]))
    if together and keep.all():
        return None
    order = np.arange(len(group)) if together else np.argsort(group, kind="stable")
    return order[keep[group[order]]]


def _sums(count: npt.NDArray[Any], start: Index) -> Index:
    """Return the sums of runs, none of which is empty."""
    if len(start) == 1:
        return np.zeros(0, np.int64)
    return np.asarray(np.add.reduceat(count, start[:-1], dtype=np.int64))


def _first(values: npt.NDArray[Any], group: Codes, keep: npt.NDArray[np.bool_]) -> Any:
    """Return the value in the first row of every good subscription."""
    if not len(values):
        return np.zeros(np.count_nonzero(keep))
    first = np.zeros(len(keep), np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return values[first[keep]]


def _coded(column: pa.ChunkedArray, name: str, refusals: Refusals) -> tuple[pa.Array, Codes]:
    """Return the distinct strings in order of appearance, and each row's place among them."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(array.type):
        _check_text(array.type.value_type, name)
        if not array.null_count and not array.dictionary.null_count and readable(array.dictionary) is None:
            return _recoded(array)
        array = array.dictionary_decode()
    if not pa.types.is_string(array.type):
        _check_text(array.type, name)
        array = array.cast(pa.string())
    array = _readable(array, lambda: np.arange(len(array)), refusals)
    if array.null_count:
        refusals.add(array.is_null().to_numpy(zero_copy_only=False), SubscriptionError(f"{name} is null"))
        array = array.fill_null("")  # a text of its own, so that other rows are not refused
    coded = normal(array).dictionary_encode()
    return coded.dictionary, coded.indices.to_numpy(zero_copy_only=False).astype(np.uint32)


def _check_text(kind: pa.DataType, name: str) -> None:
    """Raise an error if ids, attributes or operators are not text: 7 would silently become '7'."""
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
    if not any(test(kind) for test in tests):
        raise SubscriptionError(
            f"the column {name!r} has the type {kind}, but it holds text; cast it to string first"
        )


def _recoded(array: pa.DictionaryArray) -> tuple[pa.Array, Codes]:
    """Return the same as :func:`_coded` for coded strings: only renumbering is done row by row."""
    coded = normal(array.dictionary.cast(pa.string())).dictionary_encode()
    code = array.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    number, place = np.full(len(coded.dictionary), -1, np.int32), np.empty(len(code), np.uint32)
    count = renumber(code, coded.indices.to_numpy(zero_copy_only=False), number, place)
    order = np.empty(count, np.int64)
    order[number[number >= 0]] = np.flatnonzero(number >= 0)
    return coded.dictionary.take(pa.array(order)), place


def _readable(strings: pa.Array, rows: Callable[[], Index], refusals: Refusals) -> pa.Array:
    """Return ``strings`` with those that are not UTF-8 emptied; refuse their rows."""
    usable = readable(strings)
    if usable is None:
        return strings
    refusals.add(rows()[~usable], SubscriptionError("a string is not UTF-8"))
    return pc.if_else(pa.array(usable), strings, "")


def _operators(column: pa.ChunkedArray, refusals: Refusals) -> npt.NDArray[np.uint8]:
    names, code = _coded(column, "operator", refusals)
    known = np.array([NAMES.get(str(name).lower().strip(), 255) for name in names.to_pylist()] or [255])
    op = known[code].astype(np.uint8)
    for at in np.flatnonzero(known == 255).tolist():
        message = (
            f"unknown operator {names[at].as_py()!r}; known are {', '.join(NAMES)}" if len(names) else ""
        )
        refusals.add(code == at, SubscriptionError(message))
    return op


class _Operands:
    """The operands in one column of scalars or lists."""

    def __init__(self, array: Any) -> None:
        self.rows = len(array)
        if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
            self.values = pc.list_flatten(array)
            lengths = pc.list_value_length(array)
            count = (lengths.fill_null(0) if lengths.null_count else lengths).to_numpy(zero_copy_only=False)
        else:
            self.values, count = array, np.ones(len(array), np.uint32)
        self.count = count.astype(np.uint32)  # per row
        if self.values.null_count:
            valid = self.values.is_valid().to_numpy(zero_copy_only=False)
            self.count = np.bincount(self.row()[valid], minlength=self.rows).astype(np.uint32)
            self.values = self.values.drop_null()

    def row(self) -> Index:
        """Return the row of every operand."""
        return row_of_operand(self.count)

    def refuse(self, bad: npt.NDArray[np.bool_], reason: TamisError, refusals: Refusals) -> None:
        """Refuse the rows of the marked operands."""
        if bad.any():
            refusals.add(self.row()[bad], reason)


def _literals(table: pa.Table, refusals: Refusals) -> tuple[Literals, Codes, Codes]:
    """Return the pool, the number of operands of each row, and the place of each operand in the pool."""
    kinds, bits, places, columns = [], [], [], []
    strings: pa.Array = pa.array([], pa.string())
    count = 0
    for name in OPERANDS:
        if name not in table.column_names:
            continue
        operands = _Operands(table.column(name).combine_chunks())
        kind, bit, place = _distinct(name, operands, operands.values, refusals)
        if kind == Kind.STRING:
            strings = pa.concat_arrays([strings, bit])
            bit = np.arange(len(strings) - len(bit), len(strings))
        kinds.append(np.full(len(bit), kind, np.uint8))
        bits.append(bit)
        columns.append(operands)
        places.append(place + np.uint32(count) if count else place)
        count += len(bit)
    if not columns:
        nothing = Literals(np.zeros(0, np.uint8), np.zeros(0, np.int64), string_column([]))
        return nothing, np.zeros(table.num_rows, np.uint32), np.zeros(0, np.uint32)
    texts = from_arrow(strings.cast(pa.large_string()))
    return Literals(np.concatenate(kinds), np.concatenate(bits), texts), *_in_row_order(columns, places)


def _in_row_order(columns: list[_Operands], places: list[Codes]) -> tuple[Codes, Codes]:
    """Return how many operands each row has in all columns, and the places of the operands row by row."""
    if len(columns) == 1:
        return columns[0].count, places[0]
    order = np.argsort(np.concatenate([column.row() for column in columns]), kind="stable")
    arity = np.stack([column.count for column in columns]).sum(axis=0, dtype=np.uint32)
    return np.asarray(arity), np.concatenate(places)[order]


def _distinct(name: str, operands: _Operands, values: Any, refusals: Refusals) -> tuple[Kind, Any, Codes]:
    """Return the kind, the distinct bits (or strings) and each value's place among them."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _distinct(name, operands, values.dictionary_decode(), refusals)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        coded = normal(_readable(values.cast(pa.string()), operands.row, refusals)).dictionary_encode()
        return Kind.STRING, coded.dictionary, coded.indices.to_numpy(zero_copy_only=False).astype(np.uint32)
    if pa.types.is_boolean(kind):
        bits = values.cast(pa.int8()).to_numpy(zero_copy_only=False).astype(np.uint32)
        return Kind.BOOLEAN, np.array([0, 1]), bits
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        bits, good = arrow_micros(values)
        operands.refuse(~good, TypeMismatch("a time lies outside the years 1 to 9999"), refusals)
        return Kind.TIME, *_unique(bits)
    if pa.types.is_floating(kind):
        numbers = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False) + 0.0
        operands.refuse(~np.isfinite(numbers), TypeMismatch("a number must be finite"), refusals)
        distinct, place = _unique_floats(numbers)
        return Kind.FLOAT, distinct.view(np.int64), place
    if pa.types.is_integer(kind):
        whole = values.to_numpy(zero_copy_only=False)
        if kind == pa.uint64():
            operands.refuse(whole > 2**63 - 1, TypeMismatch("an integer does not fit 64 bits"), refusals)
        return Kind.INT, *_unique(whole.astype(np.int64, copy=False))
    raise InputError(f"column {name!r} has the type {kind}; operands are numbers, strings, times or booleans")


def _unique(numbers: Index) -> tuple[Index, Codes]:
    """Return distinct numbers and the place of each, by a table instead of sorting if they lie close."""
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if high - low > 1 << 22:
        distinct, inverse = np.unique(numbers, return_inverse=True)
        return distinct, inverse.astype(np.uint32)
    seen = np.zeros(high - low + 1, np.bool_)
    mark_numbers(numbers, low, seen)
    place = np.empty(len(numbers), np.uint32)
    take_ranks(numbers, low, np.cumsum(seen, dtype=np.uint32) - np.uint32(1), place)
    return np.flatnonzero(seen) + low, place


def _unique_floats(numbers: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], Codes]:
    """Return the same as :func:`_unique` for floats, which in practice are often whole."""
    if len(numbers) and np.abs(numbers).max() < 1 << 22:
        whole = numbers.astype(np.int64)
        if np.array_equal(whole, numbers):
            distinct, place = _unique(whole)
            return distinct.astype(np.float64), place
    values, inverse = np.unique(numbers, return_inverse=True)
    return values, inverse.astype(np.uint32)


def _lengths(strings: pa.Array) -> Index:
    return np.asarray(pc.binary_length(strings).to_numpy(zero_copy_only=False), np.int64)


def _floats(table: pa.Table, name: str, default: float, refusals: Refusals) -> npt.NDArray[np.float64]:
    """Return the numbers of a column, or an empty array if there is no such column."""
    if name not in table.column_names:
        return np.zeros(0)
    column = table.column(name)
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    if not any(test(column.type) for test in tests):
        raise InputError(f"the column {name!r} holds numbers, not {column.type}; cast it first")
    array = column.combine_chunks().cast(pa.float64()).fill_null(default)
    numbers: npt.NDArray[np.float64] = array.to_numpy(zero_copy_only=False)
    refusals.add(~np.isfinite(numbers), SubscriptionError(f"{name} must be a finite number"))
    if name == "weight":
        refusals.add(numbers < 0, SubscriptionError("weight must be at least 0"))
    return numbers


def _whole(table: pa.Table, name: str, refusals: Refusals) -> Index:
    """Return the whole numbers from 0 of a column, or an empty array if there is no such column."""
    if name not in table.column_names:
        return np.zeros(0, np.int64)
    column = table.column(name)
    if not pa.types.is_integer(column.type):
        raise InputError(f"the column {name!r} holds whole numbers, not {column.type}")
    numbers = column.combine_chunks().fill_null(0).to_numpy(zero_copy_only=False)
    refusals.add(
        (numbers < 0) | (numbers > np.iinfo(np.int64).max),
        SubscriptionError(f"{name} must be from 0 to 2**63 - 1"),
    )
    return np.asarray(numbers, np.int64)


def _good_groups(group: Codes, refusals: Refusals, count: int) -> npt.NDArray[np.bool_]:
    keep = np.ones(count, np.bool_)
    keep[group[refusals.bad]] = False
    return keep


def _report(
    ids: pa.Array, group: Codes, refusals: Refusals
) -> tuple[list[tuple[str, TamisError]], list[int]]:
    """Return the refused ids, each with the reason and the number of its first bad row."""
    first: dict[int, tuple[TamisError, int]] = {}
    for row, reason in sorted(refusals.reasons.items()):
        first.setdefault(int(group[row]), (reason, row))
    return [(ids[at].as_py(), reason) for at, (reason, _) in first.items()], [
        row for _, row in first.values()
    ]
