"""Join the expressions of several books into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tamis.columns.codes import Kind
from tamis.columns.literals import Literals, distinct_strings
from tamis.columns.rows import Columns, cat, join_literals, runs, starts


def concat(parts: Sequence[tuple[Columns, npt.NDArray[np.int64]]]) -> Columns:
    """Return the chosen expressions of several books as one book, pools joined (used by merging)."""
    names: dict[str, int] = {}
    pieces = [_Piece(columns, chosen, names) for columns, chosen in parts]
    literals, offsets = join_literals([columns.literals for columns, _ in parts])
    weighted = any(len(columns.weight) for columns, _ in parts)
    places = [piece.args + offset for piece, offset in zip(pieces, offsets, strict=True)]
    literals, args = _compact(literals, cat(places, np.int64))
    return Columns(
        tuple(names),
        literals,
        cat([piece.attribute for piece in pieces], np.uint32),
        cat([piece.op for piece in pieces], np.uint8),
        cat([piece.arity for piece in pieces], np.uint32),
        args.astype(np.uint32),
        cat([piece.weight for piece in pieces], np.float64) if weighted else np.zeros(0),
        starts(cat([piece.row_count for piece in pieces], np.int64)),
        starts(cat([piece.arg_count for piece in pieces], np.int64)),
    )


class _Piece:
    """The chosen rows of one book, renumbered into the joint list of names."""

    def __init__(self, columns: Columns, chosen: npt.NDArray[np.int64], names: dict[str, int]) -> None:
        rename = np.array([names.setdefault(name, len(names)) for name in columns.names] or [0], np.uint32)
        rows, self.row_count = runs(columns.row_start, chosen)
        places, self.arg_count = runs(columns.arg_start, chosen)
        self.attribute = rename[columns.attribute[rows].astype(np.int64)]
        self.op = columns.op[rows]
        self.arity = columns.arity[rows]
        self.args = columns.args[places].astype(np.int64)
        self.weight = columns.weight[rows] if len(columns.weight) else np.ones(len(rows))


def _compact(literals: Literals, args: npt.NDArray[np.int64]) -> tuple[Literals, npt.NDArray[np.int64]]:
    """Return only the literals that ``args`` use, each once, so that merges do not grow the pool for ever."""
    mark = np.zeros(len(literals.kind), np.bool_)
    mark[args] = True
    kind, bits = literals.kind[mark], literals.bits[mark]
    textual = kind >= Kind.STRING
    strings, bits[textual] = distinct_strings(literals.strings, bits[textual])
    order = np.lexsort((bits, kind))
    kind, bits = kind[order], bits[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (kind[1:] != kind[:-1]) | (bits[1:] != bits[:-1])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(fresh) - 1
    renumber = number[np.cumsum(mark) - 1] if len(number) else np.zeros(len(mark), np.int64)
    return Literals(kind[fresh], bits[fresh], strings), renumber[args]
