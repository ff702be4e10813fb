"""Define a cut space and the clauses in it, which every engine indexes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.literals import StringColumn
from tamis.columns.rows import Columns
from tamis.space.cutting._kernels import begin_operands

NEGATIVE = 1  # no cell of the event may lie in the ranges
ABSENT_OK = 2  # an absent dimension satisfies the literal
MANY = 4  # lo is a place in set_lo/set_hi, hi the number of ranges there
GROUP = 4  # flags >> GROUP is the group of a literal; for engines that take conjunctions of disjunctions

ALWAYS_REVISE = 1  # the clause is a cover: the tree decides
REVISE_IF_MULTI = 2  # exact unless the event has a multi-valued attribute

Ints = npt.NDArray[Any]


class Clauses(NamedTuple):
    """Conjunctions of literals; a literal is a row (dimension, flags, lo, hi).

    Literals of one group (from 1 on; 0 is none) are alternatives: one of them must hold. Only engines that
    declare ``takes_cnf`` receive groups; then all literals of a clause have one, or none has.

    Clause ``c`` owns the literals ``start[c]:start[c + 1]`` and, since equal clauses are kept once, the
    subscriptions ``owner[owner_start[c]:owner_start[c + 1]]``.
    """

    start: Ints
    literal: Ints  # [n, 4], uint16 if everything fits, else uint32
    set_lo: Ints
    set_hi: Ints
    revise: npt.NDArray[np.uint8]
    owner_start: Ints
    owner: Ints
    cells: Ints  # number of cells of each dimension, cell 0 (absent) not counted

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of distinct clauses."""
        return len(self.start) - 1

    @property
    def dimensions(self) -> int:
        """The number of dimensions that the clauses refer to."""
        return len(self.cells)


def hulls(clauses: Clauses) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return for every literal the smallest and largest cell that can satisfy it in a present dimension.

    A negative literal can be satisfied by any present cell.
    """
    flags = clauses.literal[:, 1]
    lo = clauses.literal[:, 2].astype(np.int64)
    hi = clauses.literal[:, 3].astype(np.int64)
    many = (flags & MANY) != 0
    first, count = lo[many], hi[many]
    lo[many], hi[many] = clauses.set_lo[first], clauses.set_hi[first + count - 1]
    negative = (flags & NEGATIVE) != 0
    lo[negative] = 1
    hi[negative] = clauses.cells[clauses.literal[negative, 0]]
    return lo, hi


class Comparisons(NamedTuple):
    """The rows (``row``) of comparisons, BETWEEN and IN, and the columns they stand in."""

    row: npt.NDArray[np.uint32]
    op: npt.NDArray[np.uint8]
    attribute: npt.NDArray[np.uint32]
    arg: Ints
    arity: npt.NDArray[np.uint32]
    args: npt.NDArray[Any]


def arg_places(columns: Columns) -> Ints:
    """Return where the operands of each row begin; structural rows have none."""
    places = np.empty(len(columns.op) + 1, np.int64)
    begin_operands(columns.op, columns.arity, places)
    return places


class Space(NamedTuple):
    """A cut space. Dimensions are numbered: attributes first, then views, then flags.

    For each ordered dimension ``d`` (attribute or view) a section of cells begins at ``*_base[d]`` (0: there
    is none) and is cut at ``*_cut[*_start[d]:*_start[d + 1]]``. The last cell of an attribute is for values
    of types that no predicate mentions.
    """

    names: StringColumn
    ordered_cells: Ints
    number_values: npt.NDArray[np.float64]  # all cuts of all dimensions, once; see numbers.py
    number_rest: Ints  # rests of number_values; empty if they are all 0
    number_start: Ints
    number_cut: Ints  # places in number_values
    number_base: Ints
    time_start: Ints
    time_cut: Ints
    time_base: Ints
    string_start: Ints
    strings: StringColumn
    string_before: Ints
    string_sides: npt.NDArray[np.uint8]
    string_base: Ints
    boolean_base: Ints
    view_attribute: Ints
    view_kind: npt.NDArray[np.uint8]
    flag_attribute: Ints
    flag_kind: npt.NDArray[np.uint8]
    flag_pattern: StringColumn

    @property
    def attributes(self) -> int:
        """The number of attributes that predicates mention."""
        return self.names.count

    @property
    def ordered(self) -> int:
        """The number of ordered dimensions (attributes and views)."""
        return len(self.ordered_cells)

    def cells(self) -> npt.NDArray[np.int64]:
        """Return the number of cells of each dimension; a flag has one."""
        return np.concatenate([self.ordered_cells, np.ones(len(self.flag_kind), np.int64)]).astype(np.int64)
