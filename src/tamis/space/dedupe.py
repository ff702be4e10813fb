"""Equal clauses are indexed once, however many subscriptions share them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.space._kernels import hash_clauses, order_literals, same_as_previous
from tamis.space.clauses import Clauses

Ints = npt.NDArray[np.int64]


def dedupe(
    start: Ints,
    literal: npt.NDArray[np.int32],
    set_lo: Ints,
    set_hi: Ints,
    revise: npt.NDArray[np.uint8],
    owner: Ints,
    cells: Ints,
) -> Clauses:
    """Distinct clauses with the owners of each, in the narrowest integers that hold them."""
    order_literals(start, literal)
    digest = np.empty(len(start) - 1, np.uint64)
    hash_clauses(start, literal, set_lo, set_hi, revise, digest)
    order = np.argsort(digest)
    same = np.zeros(len(order), np.bool_)
    same_as_previous(order, digest, start, literal, set_lo, set_hi, revise, same)
    word = _narrow(literal, set_lo, set_hi, cells)
    if same.any():
        start, literal, revise, owner_start, owner = _without_copies(
            order, same, start, literal, revise, owner
        )
    else:
        owner_start = np.arange(len(owner) + 1)
    return Clauses(
        start.astype(np.uint32),
        literal.astype(word),
        set_lo.astype(word),
        set_hi.astype(word),
        revise,
        owner_start.astype(np.uint32),
        owner.astype(np.uint32),
        cells.astype(np.uint32),
    )


def _without_copies(
    order: Ints, same: Any, start: Ints, literal: Any, revise: Any, owner: Ints
) -> tuple[Ints, Any, Any, Ints, Ints]:
    """The first clause of every group of equal ones, with the owners of the whole group."""
    group = np.cumsum(~same) - 1
    chosen = order[~same]
    sizes = np.diff(start)[chosen]
    new_start = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(sizes, out=new_start[1:])
    places = np.repeat(start[:-1][chosen] - new_start[:-1], sizes) + np.arange(new_start[-1])
    owner_start = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(np.bincount(group, minlength=len(chosen)), out=owner_start[1:])
    return new_start, literal[places], revise[chosen], owner_start, owner[order]


def _narrow(literal: Any, set_lo: Ints, set_hi: Ints, cells: Ints) -> type[np.unsignedinteger[Any]]:
    largest = max((int(a.max()) for a in (literal, set_lo, set_hi, cells) if a.size), default=0)
    return np.uint16 if largest < 0xFFFF else np.uint32
