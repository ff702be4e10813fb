"""A space: every dimension of one segment and how it is cut, as flat arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.literals import StringColumn

Ints = npt.NDArray[Any]


class Space(NamedTuple):
    """Dimensions are numbered: attributes first, then views, then flags.

    For each ordered dimension ``d`` (attribute or view) a section of cells begins at ``*_base[d]``
    (0: there is none) and is cut at ``*_cut[*_start[d]:*_start[d + 1]]``. The last cell of an
    attribute is for values of types that no predicate mentions.
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
        """How many attributes are mentioned."""
        return self.names.count

    @property
    def ordered(self) -> int:
        """How many dimensions are ordered (attributes and views)."""
        return len(self.ordered_cells)

    def cells(self) -> npt.NDArray[np.int64]:
        """Return number of cells of each dimension; a flag has one."""
        return np.concatenate([self.ordered_cells, np.ones(len(self.flag_kind), np.int64)]).astype(np.int64)
