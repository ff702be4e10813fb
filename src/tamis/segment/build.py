"""Build a segment: cut the space, let the engine lay out its arrays, pack all arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.columns.literals import StringColumn, string_column
from tamis.columns.rows import ClauseRows, Columns, clause_rows
from tamis.engines.arena import pack
from tamis.engines.engines import engine_class, takes_cnf
from tamis.engines.units import Statistics
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.segment.segment import Particulars, Segment
from tamis.space.build import cut
from tamis.space.located import Located
from tamis.space.space import Space

Sampler = Callable[[Space], Located]


def build_segment(
    ids: StringColumn,
    columns: Columns,
    particulars: Particulars,
    *,
    clauses: ClauseRows | None = None,
    engine: str = "hybrid",
    parameters: dict[str, Any] | None = None,
    sample: Sampler | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Segment:
    """Return a segment in memory over subscriptions whose ids are distinct.

    ``clauses`` are those of the expressions in ``columns``, in the form that the engine takes. If they are
    missing, they are made from ``columns``.
    """
    if clauses is None:
        clauses = clause_rows(columns, limits, cnf=takes_cnf(engine))
    space, cells = cut(clauses)
    statistics = Statistics(cells, sample(space) if sample else None)
    arranged, engine_arrays = engine_class(engine).build(cells, statistics, parameters or {})
    arrays = flat("space.", space) | flat("clauses.", arranged) | flat("book.", narrowed(columns))
    arrays |= {f"engine.{name}": array for name, array in engine_arrays.items()}
    arrays |= flat("ids.", _narrow_strings(ids)) | {
        "ids.order": _id_order(ids),
        # A column in which every value is the default takes no room.
        **{name: column if column.any() else column[:0] for name, column in particulars._asdict().items()},
    }
    return Segment(pack(arrays), engine, limits)


def flat(prefix: str, fields: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of nested named tuples by dotted names; tuples of names become string columns."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, value in fields._asdict().items():
        if isinstance(value, np.ndarray):
            arrays[prefix + name] = value
        else:
            arrays |= flat(f"{prefix}{name}.", value)
    return arrays


def narrowed(columns: Columns) -> Any:
    """Return the book with every column in the narrowest type that holds it, names as a string column."""
    literals = columns.literals._replace(strings=_narrow_strings(columns.literals.strings))
    slim = columns._replace(
        attribute=narrow(columns.attribute),
        op=narrow(columns.op),
        arity=narrow(columns.arity),
        args=narrow(columns.args),
        row_start=narrow(columns.row_start),
        arg_start=narrow(columns.arg_start),
    )
    return slim._replace(literals=literals, names=string_column(list(columns.names)))  # type: ignore[arg-type]


def _narrow_strings(strings: StringColumn) -> StringColumn:
    return StringColumn(narrow(strings.start), strings.data)


def narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return non-negative integers in the narrowest unsigned type that holds them."""
    largest = int(array.max()) if len(array) else 0
    for word in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(word).max:
            return array.astype(word)
    return array


def _id_order(ids: StringColumn) -> npt.NDArray[np.uint32]:
    """Return the order of the ids by their bytes, for look-up by bisection."""
    import pyarrow as pa
    import pyarrow.compute as pc

    start = np.ascontiguousarray(ids.start, np.int64)
    array = pa.Array.from_buffers(
        pa.large_binary(),
        ids.count,
        [None, pa.py_buffer(start), pa.py_buffer(np.ascontiguousarray(ids.data))],
    )
    return np.asarray(pc.sort_indices(array).to_numpy(), np.uint32)
