"""The bulk path: Arrow rows of (id, attribute, operator, operands) straight to columns.

Rows with the same id form one conjunction. Operands stand in any of the columns ``value``,
``number``, ``string``, ``time`` and ``boolean``, each a scalar or a list; a row uses the ones that
are not null. Optional: ``weight`` per row and ``priority`` per id. A subscription with an unusable
row is refused as a whole and reported; the others go on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import ExpressionLimit, InputError, SubscriptionError, TamisError, TypeMismatch
from tamis.lang.columns.codes import NAMES, Kind, Op
from tamis.lang.columns.exotic import Refusals, check_exotic
from tamis.lang.columns.literals import Literals, from_arrow, string_column
from tamis.lang.columns.rows import Columns, runs, starts
from tamis.lang.columns.texts import normal, readable
from tamis.lang.columns.times import arrow_micros
from tamis.limits import DEFAULT_LIMITS, Limits

OPERANDS = ("value", "values", "number", "string", "time", "boolean")
Index = npt.NDArray[np.int64]


class Bulk(NamedTuple):
    """What a bulk table held: the good subscriptions, and the refused ids with their errors."""

    ids: pa.Array
    columns: Columns
    priority: npt.NDArray[np.float64]
    refused: list[tuple[str, TamisError]]


def columns_from_arrow(table: pa.Table, limits: Limits = DEFAULT_LIMITS) -> Bulk:
    """Read a bulk table; see the module's page for its columns."""
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
    literals, row_of, literal = _literals(table, refusals)
    arity = np.bincount(row_of, minlength=table.num_rows)
    _check_arity(op, arity, refusals, limits)
    _check_kinds(op, literals.kind[literal], row_of, refusals)
    op, arity, literals, literal = check_exotic(op, arity, literals, literal, refusals, limits)
    row_of = np.repeat(np.arange(table.num_rows), arity)
    _check_sizes(ids, group, names, attribute, literals, literal, row_of, refusals, limits)
    weight = _floats(table, "weight", 1.0, refusals)
    priority = _floats(table, "priority", 0.0, refusals)
    keep = _good_groups(group, refusals, len(ids))
    order = np.argsort(group, kind="stable") if np.any(np.diff(group) < 0) else np.arange(len(group))
    order = order[keep[group[order]]]
    places, _ = runs(starts(arity), order)
    count = np.bincount(group[order], minlength=len(ids))[keep]
    args_per = np.bincount(group[order], weights=arity[order], minlength=len(ids))[keep].astype(np.int64)
    columns = Columns(
        tuple(names.to_pylist()),
        literals,
        attribute[order].astype(np.uint32),
        op[order],
        arity[order].astype(np.uint32),
        literal[places].astype(np.uint32),
        weight[order] if np.any(weight != 1.0) else np.zeros(0),
        starts(count),
        starts(args_per),
    )
    first = np.zeros(len(ids), np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return Bulk(ids.filter(pa.array(keep)), columns, priority[first[keep]], _report(ids, group, refusals))


def _coded(column: pa.ChunkedArray, name: str, refusals: Refusals) -> tuple[pa.Array, Index]:
    """Distinct strings in order of appearance, and each row's place among them."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(array.type):
        if not array.null_count and not array.dictionary.null_count and readable(array.dictionary) is None:
            return _recoded(array)
        array = array.dictionary_decode()
    if not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    array = _readable(array, np.arange(len(array)), refusals)
    if array.null_count:
        refusals.add(array.is_null().to_numpy(zero_copy_only=False), SubscriptionError(f"{name} is null"))
        array = array.fill_null("")  # a text of its own, so that nobody else's rows are refused with it
    coded = normal(array).dictionary_encode()
    return coded.dictionary, coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _recoded(array: pa.DictionaryArray) -> tuple[pa.Array, Index]:
    """:func:`_coded` for strings that come coded: nothing is done row by row but renumbering."""
    coded = normal(array.dictionary.cast(pa.string())).dictionary_encode()
    code = coded.indices.to_numpy(zero_copy_only=False)[array.indices.to_numpy(zero_copy_only=False)]
    first = np.full(len(coded.dictionary), len(code), np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(code))]
    place = np.zeros(len(first), np.int64)
    place[order] = np.arange(len(order))
    return coded.dictionary.take(pa.array(order)), place[code]


def _readable(strings: pa.Array, rows: Index, refusals: Refusals) -> pa.Array:
    """``strings`` with the ones that are not UTF-8 left empty and their rows refused."""
    usable = readable(strings)
    if usable is None:
        return strings
    refusals.add(rows[~usable], SubscriptionError("a string is not UTF-8"))
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


def _literals(table: pa.Table, refusals: Refusals) -> tuple[Literals, Index, Index]:
    """The pool, and for every operand its row and its place in the pool, in row order."""
    kinds, bits, rows, places = [], [], [], []
    strings: pa.Array = pa.array([], pa.string())
    count = 0
    for name in OPERANDS:
        if name not in table.column_names:
            continue
        row, values = _flat(table.column(name).combine_chunks())
        kind, bit, place = _distinct(name, values, len(strings), row, refusals)
        if kind == Kind.STRING:
            strings = pa.concat_arrays([strings, bit])
            bit = np.arange(len(strings) - len(bit), len(strings))
        kinds.append(np.full(len(bit), kind, np.uint8))
        bits.append(bit)
        rows.append(row)
        places.append(place + count)
        count += len(bit)
    if not rows:
        return Literals(np.zeros(0, np.uint8), np.zeros(0, np.int64), string_column([])), _NONE, _NONE
    row_of, literal = np.concatenate(rows), np.concatenate(places)
    if len(rows) > 1:
        order = np.argsort(row_of, kind="stable")
        row_of, literal = row_of[order], literal[order]
    texts = from_arrow(strings.cast(pa.large_string()))
    return Literals(np.concatenate(kinds), np.concatenate(bits), texts), row_of, literal


_NONE = np.zeros(0, np.int64)


def _flat(array: Any) -> tuple[Index, pa.Array]:
    """Row number and value of every operand in a scalar or list column."""
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        rows = pc.list_parent_indices(array).to_numpy(zero_copy_only=False)
        values = pc.list_flatten(array)
    else:
        rows, values = np.arange(len(array)), array
    if values.null_count:
        valid = values.is_valid().to_numpy(zero_copy_only=False)
        rows, values = rows[valid], values.drop_null()
    return rows.astype(np.int64), values


def _distinct(
    name: str, values: pa.Array, known: int, rows: Index, refusals: Refusals
) -> tuple[Kind, Any, Index]:
    """Kind, distinct bits (or strings) and each value's place among them."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _distinct(name, values.dictionary_decode(), known, rows, refusals)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        coded = normal(_readable(values.cast(pa.string()), rows, refusals)).dictionary_encode()
        return Kind.STRING, coded.dictionary, coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_boolean(kind):
        bits = values.cast(pa.int8()).to_numpy(zero_copy_only=False).astype(np.int64)
        return Kind.BOOLEAN, np.array([0, 1]), bits
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        bits, good = arrow_micros(values)
        refusals.add(rows[~good], TypeMismatch("a time lies outside the years 1 to 9999"))
        return Kind.TIME, *np.unique(bits, return_inverse=True)
    if pa.types.is_floating(kind):
        numbers = values.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
        refusals.add(rows[~np.isfinite(numbers)], TypeMismatch("a number must be finite"))
        distinct, place = _unique_floats(numbers)
        return Kind.FLOAT, distinct.view(np.int64), place
    if pa.types.is_integer(kind):
        whole = values.to_numpy(zero_copy_only=False)
        if kind == pa.uint64():
            refusals.add(rows[whole > 2**63 - 1], TypeMismatch("an integer does not fit 64 bits"))
        return Kind.INT, *_unique(whole.astype(np.int64))
    raise InputError(f"column {name!r} has the type {kind}; operands are numbers, strings, times or booleans")


def _unique(numbers: Index) -> tuple[Index, Index]:
    """Distinct numbers and each one's place; a table instead of sorting if they lie close together."""
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if high - low > 1 << 22:
        distinct, place = np.unique(numbers, return_inverse=True)
        return distinct, place
    seen = np.zeros(high - low + 1, np.bool_)
    seen[numbers - low] = True
    rank = np.cumsum(seen) - 1
    return np.flatnonzero(seen) + low, rank[numbers - low]


def _unique_floats(numbers: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], Index]:
    """:func:`_unique` for floats, which in practice are often whole."""
    if len(numbers) and np.abs(numbers).max() < 1 << 22:
        whole = numbers.astype(np.int64)
        if np.array_equal(whole, numbers):
            distinct, place = _unique(whole)
            return distinct.astype(np.float64), place
    values, inverse = np.unique(numbers, return_inverse=True)
    return values, inverse


_ARITY = {Op.BETWEEN: 2, Op.NOT_BETWEEN: 2, Op.EXISTS: 0, Op.IS_NULL: 0}
_MANY = (Op.IN, Op.HAS_ANY, Op.HAS_ALL, Op.HAS_PHRASE, Op.IN_CIDR)


def _check_arity(op: npt.NDArray[np.uint8], arity: Index, refusals: Refusals, limits: Limits) -> None:
    least, most = np.ones(256, np.int64), np.ones(256, np.int64)
    for code, count in _ARITY.items():
        least[code] = most[code] = count
    for code in _MANY:
        most[[code, code | 1]] = limits.in_list_values
    wrong = (arity < least[op]) | (arity > most[op])
    if wrong.any():
        refusals.add(wrong, SubscriptionError("the operator does not take this number of operands"))


def _check_kinds(op: npt.NDArray[np.uint8], kind: Any, row_of: Index, refusals: Refusals) -> None:
    """Booleans have no order; patterns, terms and networks are strings; BETWEEN's ends share a type."""
    if len(kind) and kind.min() == kind.max() and kind[0] <= Kind.TIME and op.max() <= Op.NOT_IN:
        return  # numbers or times only, under operators that take them
    code = op[row_of]
    ordered = (code >= Op.LT) & (code <= Op.NOT_BETWEEN)
    if (bad := ordered & (kind == Kind.BOOLEAN)).any():
        refusals.add(row_of[bad], TypeMismatch("booleans have no order; use = or !="))
    textual = (code >= Op.LIKE) & (code <= Op.NOT_IN_CIDR)
    if (bad := textual & (kind != Kind.STRING)).any():
        refusals.add(row_of[bad], TypeMismatch("this operator needs strings"))
    group = np.where(kind == Kind.FLOAT, Kind.INT, kind)
    low = np.flatnonzero((code | 1) == Op.NOT_BETWEEN)
    low = low[low + 1 < len(code)]
    low = low[row_of[low] == row_of[low + 1]]
    if (bad := group[low] != group[low + 1]).any():
        refusals.add(row_of[low[bad]], TypeMismatch("the ends of BETWEEN have different types"))


def _check_sizes(
    ids: pa.Array,
    group: Index,
    names: pa.Array,
    attribute: Index,
    literals: Literals,
    literal: Index,
    row_of: Index,
    refusals: Refusals,
    limits: Limits,
) -> None:
    """The limits that text input meets in the parser."""
    strings = literals.strings
    length = np.zeros(len(literals.kind), np.int64)
    textual = literals.kind == Kind.STRING
    length[textual] = (strings.start[1:] - strings.start[:-1])[literals.bits[textual]]
    rows = np.arange(len(group))
    over_long = _lengths(ids)[group] > limits.subscription_id_bytes
    message = f"an id is longer than subscription_id_bytes = {limits.subscription_id_bytes}"
    refusals.add(over_long, SubscriptionError(message, limit="subscription_id_bytes"))
    for name, size, owner in (
        ("attribute_name_bytes", _lengths(names)[attribute], rows),
        ("expression_predicates", np.bincount(group, minlength=len(ids))[group], rows),
        ("string_bytes", length[literal], row_of),
    ):
        most = getattr(limits, name)
        if (over := size > most).any():
            refusals.add(owner[over], ExpressionLimit(f"more than {name} = {most}", limit=name))
    for what, size in (("id", _lengths(ids)[group]), ("attribute", _lengths(names)[attribute])):
        if (empty := size == 0).any():
            refusals.add(empty, SubscriptionError(f"{what} is empty"))


def _lengths(strings: pa.Array) -> Index:
    return np.asarray(pc.binary_length(strings).to_numpy(zero_copy_only=False), np.int64)


def _floats(table: pa.Table, name: str, default: float, refusals: Refusals) -> npt.NDArray[np.float64]:
    if name not in table.column_names:
        return np.full(table.num_rows, default)
    array = table.column(name).combine_chunks().cast(pa.float64()).fill_null(default)
    numbers: npt.NDArray[np.float64] = array.to_numpy(zero_copy_only=False)
    refusals.add(~np.isfinite(numbers), SubscriptionError(f"{name} must be a finite number"))
    return numbers


def _good_groups(group: Index, refusals: Refusals, count: int) -> npt.NDArray[np.bool_]:
    keep = np.ones(count, np.bool_)
    keep[group[refusals.bad]] = False
    return keep


def _report(ids: pa.Array, group: Index, refusals: Refusals) -> list[tuple[str, TamisError]]:
    first: dict[int, TamisError] = {}
    for row, reason in sorted(refusals.reasons.items()):
        first.setdefault(int(group[row]), reason)
    return [(ids[at].as_py(), reason) for at, reason in first.items()]
