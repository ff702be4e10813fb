"""Define workloads, and turn their subscriptions into the columns of the bulk path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.columns.rows import starts

Ints = npt.NDArray[np.int64]

OPERATORS = ("=", "<=", ">=", "between", "in", "has all", "like", "!=")
EQ, LE, GE, BETWEEN, IN, HAS_ALL, LIKE, NE = range(len(OPERATORS))


class Workload(Protocol):
    """A seeded source of subscriptions and of events for them."""

    @property
    def name(self) -> str:
        """The name in ``python -m bench run``."""

    @property
    def about(self) -> str:
        """A description in one line."""

    def parameters(self) -> dict[str, Any]:
        """Return everything that shapes the data, as plain values."""

    def subscriptions(self, count: int, seed: int) -> pa.Table:
        """Return ``count`` subscriptions in the columns of the bulk path."""

    def texts(self, count: int, seed: int) -> pa.Table:
        """Return further subscriptions (id, expression) beyond columns, for a book of ``count``."""

    def events(self, count: int, seed: int, book: int = 1_000_000) -> pa.Table:
        """Return ``count`` events for a book of ``book`` subscriptions made with the same seed."""


W = TypeVar("W", bound=Workload)


def changed(workload: W, changes: Mapping[str, Any]) -> W:
    """Return ``workload`` with other parameters; text is converted to the parameter's type.

    For an unknown name raise a ``ValueError`` that lists the known ones; also raise it for malformed text.
    """
    known = parameters_of(workload)
    for name in changes:
        if name not in known:
            raise ValueError(f"{workload.name} has no parameter {name!r}; it has {', '.join(known)}")
    values = {name: _read(name, value, known[name]) for name, value in changes.items()}
    return replace(workload, **values) if values else workload  # type: ignore[type-var]


def parameters_of(workload: Workload) -> dict[str, str]:
    """Return the names of the parameters that can be changed, and their types."""
    if not is_dataclass(workload):
        return {}
    return {field.name: str(field.type) for field in fields(workload) if field.name != "name"}


def _read(name: str, value: Any, kind: str) -> Any:
    if not isinstance(value, str):
        return value
    if value.lower() == "none" and "None" in kind:
        return None
    if kind.startswith("bool"):
        return _boolean(name, value)
    for word, read in (("int", int), ("float", float)):
        if kind.startswith(word):
            try:
                return read(value.replace("_", ""))
            except ValueError:
                raise ValueError(f"{name} is {kind}, not {value!r}") from None
    return value


def _boolean(name: str, text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.lower() not in words:
        raise ValueError(f"{name} is true or false, not {text!r}")
    return words[text.lower()]


class Operands(NamedTuple):
    """Operands of one type: the number of each row's, and their values end to end."""

    counts: Ints
    values: pa.Array


class Rows(NamedTuple):
    """Predicates as arrays, one row each, those of a subscription next to each other."""

    subscription: Ints
    attribute: Ints
    operator: Ints
    operands: dict[str, Operands]


def no_texts() -> pa.Table:
    """Return the empty second table of a workload that columns can express in full."""
    return pa.table({"id": pa.array([], pa.string()), "expression": pa.array([], pa.string())})


def bulk_table(rows: Rows, ids: pa.Array, names: list[str]) -> pa.Table:
    """Return ``rows`` in the columns of the bulk path."""
    columns = {
        "id": coded(rows.subscription, ids),
        "attribute": coded(rows.attribute, pa.array(names, pa.string())),
        "operator": coded(rows.operator, pa.array(OPERATORS, pa.string())),
    }
    for name, (counts, values) in rows.operands.items():
        columns[name] = list_array(counts, values)
    return pa.table(columns)


def coded(codes: Ints, values: pa.Array) -> pa.DictionaryArray:
    """Return ``values[codes]`` without repeating the values."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), values)


def numbered(prefix: str, numbers: int | range) -> pa.Array:
    """Return ``prefix0``, ``prefix1`` …, or those of a range."""
    import pyarrow.compute as pc

    numbers = range(numbers) if isinstance(numbers, int) else numbers
    digits = pa.array(np.arange(numbers.start, numbers.stop)).cast(pa.string())
    return pc.binary_join_element_wise(pa.scalar(prefix), digits, "")


def list_array(count: Ints, values: pa.Array) -> pa.ListArray:
    """Return consecutive runs of ``values``, ``count`` long each, as lists."""
    return pa.ListArray.from_arrays(pa.array(starts(count).astype(np.int32)), values)


def dense_rows(attribute: Ints, value: Ints, dimensions: int) -> pa.Table:
    """Return events of one size as one map column, from rows of attribute numbers and rows of values."""
    offsets = np.arange(len(attribute) + 1) * attribute.shape[1]
    return sparse_events(offsets, numbered("a", dimensions), attribute.ravel(), pa.array(value.ravel()))


def sparse_events(offsets: Ints, names: pa.Array, attribute: Ints, values: pa.Array) -> pa.Table:
    """Return events as one map column, for when there are too many attributes for a column each."""
    keys = names.take(pa.array(attribute))
    pairs = pa.MapArray.from_arrays(pa.array(offsets.astype(np.int32)), keys, values)
    return pa.table({"attributes": pairs})
