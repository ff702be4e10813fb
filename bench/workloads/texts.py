"""Write bulk columns as the text form, a million predicates at a time."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.base import Ints, list_array

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_KEYWORD = re.compile("AND|OR|NOT|TRUE|FALSE|NULL|IS|IN|BETWEEN|I?LIKE|RLIKE|REGEXP|HAS|WITHIN", re.I)


def expressions(columns: pa.Table) -> pa.Table:
    """Return the subscriptions of a bulk table as (id, expression), in order; an id's rows stand together."""
    if not columns.num_rows:
        return pa.table({"id": pa.array([], pa.string()), "expression": pa.array([], pa.string())})
    names, code = coded_column(columns.column("id"))
    first = np.flatnonzero(np.diff(code, prepend=-1))
    count = np.diff(first, append=len(code))
    ids = names.take(pa.array(code[first]))
    return pa.table({"id": ids, "expression": joined(predicates(columns), count, " AND ")})


def predicates(columns: pa.Table) -> pa.Array:
    """Return every row as text; operands of a row are all of one type."""
    names, attribute = coded_column(columns.column("attribute"))
    words, operator = coded_column(columns.column("operator"))
    several = pa.array([" (" if word in ("in", "has all") else " " for word in words.to_pylist()])
    end = pa.array([")" if word in ("in", "has all") else "" for word in words.to_pylist()])
    between = pa.array([" AND " if word == "between" else ", " for word in words.to_pylist()])
    operator_code = pa.array(operator)
    parts = [
        _quoted_names(names).take(pa.array(attribute)),
        pc.utf8_upper(words).take(operator_code),
    ]
    text = pc.binary_join_element_wise(*parts, " ")
    operands = _operands(columns, between.take(operator_code))
    text = pc.binary_join_element_wise(
        text, several.take(operator_code), *operands, end.take(operator_code), ""
    )
    if "weight" not in columns.column_names:
        return text
    weight = columns.column("weight").combine_chunks().cast(pa.string())
    return pc.binary_join_element_wise(text, weight, " ^ ")


def joined(texts: pa.Array, count: Ints, word: str) -> pa.Array:
    """Return consecutive runs of ``texts``, ``count`` long each, with ``word`` between."""
    return pc.binary_join(list_array(count, texts), word)


def coded_column(column: pa.ChunkedArray) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Return the different values of a column of strings, and each row's place among them."""
    array = column.combine_chunks()
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    return array.dictionary, array.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def quoted(texts: pa.Array, mark: str = "'") -> pa.Array:
    """Return strings as literals."""
    doubled = pc.replace_substring(texts, mark, 2 * mark)
    return pc.binary_join_element_wise(pa.scalar(mark), doubled, pa.scalar(mark), "")


def _quoted_names(names: pa.Array) -> pa.Array:
    bare = [bool(_BARE.fullmatch(name)) and not _KEYWORD.fullmatch(name) for name in names.to_pylist()]
    return pc.if_else(pa.array(bare), names, quoted(names, '"'))


def _operands(columns: pa.Table, between: pa.Array) -> list[pa.Array]:
    """Return the operands of every row by type; none if a row has none of that type."""
    found = []
    for kind in ("number", "string", "boolean"):
        if kind in columns.column_names:
            lists = columns.column(kind).combine_chunks()
            count = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
            values = lists.flatten()
            literals = quoted(values) if kind == "string" else values.cast(pa.string())
            found.append(pc.binary_join(list_array(count, literals), between))
    return found
