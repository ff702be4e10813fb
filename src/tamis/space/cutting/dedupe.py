"""Equal clauses are indexed once, however many subscriptions share them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.space.clauses import Clauses
from tamis.space.cutting._kernels import (
    collect_owners,
    copy_clauses,
    hash_clauses,
    number_groups,
    same_as_previous,
)

Ints = npt.NDArray[np.int64]


def dedupe(
    start: Ints,
    literal: npt.NDArray[np.int32],
    set_lo: npt.NDArray[np.int32],
    set_hi: npt.NDArray[np.int32],
    revise: npt.NDArray[np.uint8],
    owner: Ints,
    cells: Ints,
) -> Clauses:
    """Distinct clauses with the owners of each, in the narrowest integers that hold them.

    ``literal`` is used up: what comes back may stand in its memory.
    """
    digest = np.empty(len(start) - 1, np.uint64)
    hash_clauses(start, literal, set_lo, set_hi, revise, digest)
    order = np.argsort(digest)
    same = np.zeros(len(order), np.bool_)
    same_as_previous(order, digest, start, literal, set_lo, set_hi, revise, same)
    word = _word(set_lo, cells)
    if same.any():
        start, literal, revise, owner_start, owner = _without_copies(
            order, same, start, literal, revise, owner, word
        )
    else:
        owner_start = np.arange(len(owner) + 1)
    return Clauses(
        start.astype(np.uint32),
        _narrow(literal, word),
        _narrow(set_lo, word),
        _narrow(set_hi, word),
        revise,
        owner_start.astype(np.uint32),
        owner.astype(np.uint32),
        cells.astype(np.uint32),
    )


def _without_copies(
    order: Ints, same: Any, start: Ints, literal: Any, revise: Any, owner: Ints, word: Any
) -> tuple[Ints, Any, Any, Ints, Ints]:
    """Return the first clause of every group of equal ones, in the order given, with the owners of the group.

    The order matters for speed: ranges of sets stand in the order of the clauses, too.
    """
    group = np.empty(len(order), np.int64)
    count = number_groups(order, same, group)
    leads, new_start = np.empty(count, np.int64), np.empty(count + 1, np.int64)
    # Clauses only move forward, so that they can be copied within their own memory.
    kept = np.empty((len(literal), 4), word) if word is np.uint16 else literal
    kept = kept[: copy_clauses(group, start, literal, leads, new_start, kept)]
    size = np.bincount(group, minlength=count)
    first = np.cumsum(size) - size
    owner_start, owners = np.append(first, len(owner)), np.empty_like(owner)
    collect_owners(group, owner, first, owners)
    return new_start, kept, revise[leads], owner_start, owners


def _word(sets: npt.NDArray[Any], cells: Ints) -> type[np.unsignedinteger[Any]]:
    """Return a word for dimensions, cells and places in sets."""
    largest = max(len(sets), len(cells), int(cells.max(initial=0)))
    return np.uint16 if largest < 0xFFFF else np.uint32


def _narrow(numbers: npt.NDArray[Any], word: Any) -> npt.NDArray[Any]:
    """Numbers of 32 bits that are not negative in a word, without a copy if that has 32 bits, too."""
    return numbers.view(word) if word is np.uint32 else numbers.astype(word, copy=False)
