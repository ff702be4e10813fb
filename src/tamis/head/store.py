"""Keep the clauses of the head in growing arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.head._kernels import place_rows
from tamis.head.growing import Growing
from tamis.head.literal_keys import FORMS
from tamis.head.placing import Placed
from tamis.space.space import MANY

Ints = npt.NDArray[np.int64]


class ClauseArrays(NamedTuple):
    """The clauses as kernels read them: clause ``c`` owns the literals ``start[c]:start[c + 1]``."""

    start: npt.NDArray[np.int64]
    literal: npt.NDArray[np.int64]  # flat rows of (dimension, flags, lo, hi)
    set_lo: npt.NDArray[np.int64]
    set_hi: npt.NDArray[np.int64]


class ClauseStore:
    """All clauses since the head was begun, in order of arrival."""

    def __init__(self) -> None:
        self._start, self._literal = Growing(np.int64), Growing(np.int64, 16)
        self._set_lo, self._set_hi = Growing(np.int64), Growing(np.int64)
        self._owner, self._revise = Growing(np.int64), Growing(np.uint8)
        self._start.extend([0])
        self._spare = 0  # further values that surely fit into each array
        self._used = np.zeros(3, np.int64)  # sets, literals and doubtful clauses, for the kernel
        self.revised = False  # whether a tree decides any of them

    @property
    def count(self) -> int:
        """The number of clauses."""
        return self._owner.used

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        return sum(growing.array.nbytes for growing in vars(self).values() if isinstance(growing, Growing))

    def arrays(self) -> ClauseArrays:
        """Return the arrays as they are now."""
        return ClauseArrays(self._start.array, self._literal.array, self._set_lo.array, self._set_hi.array)

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """The subscription of each clause."""
        return self._owner.array

    @property
    def revise(self) -> npt.NDArray[np.uint8]:
        """Whether a tree must decide each clause, as in ``Clauses``."""
        return self._revise.array

    def clauses_of(self, slots: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the clauses of some subscriptions; the owners of clauses are in order."""
        owner = self._owner.array[: self.count]
        begin, end = (np.searchsorted(owner, slots, side=side) for side in ("left", "right"))
        count = end - begin
        return np.repeat(begin - np.cumsum(count) + count, count) + np.arange(count.sum())

    def add(self, placed: Placed, owner: int) -> None:
        """Append one clause."""
        rows, self._spare = placed.literals, 0
        if placed.sets:
            offset = self._set_lo.extend([low for low, _ in placed.sets])
            self._set_hi.extend([high for _, high in placed.sets])
            rows = [(d, f, lo + offset, hi) if f & MANY else (d, f, lo, hi) for d, f, lo, hi in rows]
        if rows:
            self._literal.extend([word for row in rows for word in row])
        self._owner.extend([owner])
        self._revise.extend([placed.revise])
        self.revised |= placed.revise != 0
        self._start.extend([self._literal.used >> 2])

    def add_rows(self, rows: Ints, n: int, slot: int, dimension: Ints, keys: Ints) -> int:
        """Append expressions from ``n`` on, whose slots begin at ``slot``, as long as keys express them.

        ``rows`` are those of ``RowWriter.rows_from``, ``dimension`` is that of each attribute, ``keys`` are
        those of the literals. Return the expression that needs more than keys, or the number of expressions.
        """
        first, used = self.count, self._used
        places = self._room(len(rows))
        used[0], used[1], used[2] = self._set_lo.used, self._literal.used >> 2, 0
        done: int = place_rows(n, rows, FORMS, dimension, keys, *places, used, first, slot)
        sets, literals, doubts = used.tolist()
        self._set_lo.used = self._set_hi.used = sets
        self._literal.used = 4 * literals
        self._start.used += done - n
        self._owner.used = self._revise.used = first + done - n
        self.revised |= doubts > 0
        return done

    def _room(self, more: int) -> tuple[npt.NDArray[Any], ...]:
        """Return all arrays, with room for ``more`` values in each; most calls only count."""
        if more > self._spare:
            plain = (self._start, self._set_lo, self._set_hi, self._owner, self._revise)
            spare = [len(growing.room(more)) - growing.used for growing in plain]
            self._spare = min(*spare, (len(self._literal.room(4 * more)) - self._literal.used) >> 2)
        self._spare -= more
        return (*self.arrays(), self._owner.array, self._revise.array)
