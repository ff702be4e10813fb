"""What must hold of posting lists before a kernel may follow them: shared by engines that post clauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.errors import IndexCorrupt

Arrays = dict[str, npt.NDArray[Any]]
Ensure = Callable[[bool, str], None]
LAYOUT = 6  # dimension bits, cell bits, zones, zones in all, lists of levels, most levels of a dimension


def check_lists(engine: str, arrays: Arrays, clauses: int) -> Ensure:
    """The lists are sorted and hold every clause or leave it to the residual; returns how to insist."""

    def ensure(true: bool, what: str) -> None:
        if not true:
            raise IndexCorrupt(f"the {engine} index is damaged: {what}")

    posting, residual, lists = arrays["posting"], arrays["residual"], arrays["list_start"]
    ensure(bool(np.all(np.diff(lists.astype(np.int64)) >= 0)), "list_start is not sorted")
    ensure(int(lists[-1]) == len(posting), "list_start does not end at the last posting")
    seen = np.zeros(clauses, np.bool_)
    for numbers in (posting, residual):
        ensure(not len(numbers) or int(numbers.max()) < clauses, "a posting names no clause")
        seen[numbers] = True
    ensure(bool(seen.all()), "a clause is posted nowhere")
    ensure(len(arrays["layout"]) >= LAYOUT, "the layout is too short")
    return ensure


def check_levels(ensure: Ensure, arrays: Arrays, cells: npt.NDArray[np.int64], singles: int) -> None:
    """Every level of every dimension leads to one of the first ``singles`` lists."""
    heads, levels = arrays["heads"].astype(np.int64), arrays["levels"].astype(np.int64)
    fitting = heads.shape == (len(cells), 4) and levels.shape == (len(levels), 2)
    ensure(fitting and len(arrays["hull"]) == len(cells), "heads, levels and hull do not fit the dimensions")
    count, first = heads[:, 0] & 255, heads[:, 2]
    used = np.flatnonzero(count)
    ensure(bool(np.all(first[used] + count[used] <= len(levels))), "a dimension has levels beyond the last")
    ensure(int(count.max(initial=0)) == arrays["layout"][5], "the layout has another number of levels")
    shift, base = levels[first[used], 0], levels[first[used], 1]
    same = np.array_equal(heads[used, 0] >> 16, shift) and np.array_equal(heads[used, 1], base)
    ensure(same, "a head differs from its first level")
    owner = np.repeat(used, count[used])
    skipped = first[used] - (np.cumsum(count[used]) - count[used])
    place = np.repeat(skipped, count[used]) + np.arange(len(owner))
    shift, base = levels[place, 0], levels[place, 1]
    inside = np.all(shift < 63) and np.all(base + (cells[owner] >> np.minimum(shift, 62)) < singles)
    ensure(bool(inside), "a level leads beyond its lists")


def check_records(ensure: Ensure, arrays: Arrays, name: str, dimensions: int) -> None:
    """One inline record per posting, each on a dimension that exists."""
    records, bits = arrays[name], int(arrays["layout"][0])
    ensure(len(records) == len(arrays["posting"]), f"{name} does not fit the postings")
    ensure(bits < 32, "the layout leaves no room for cells")
    inside = not len(records) or int((records & ((1 << bits) - 1)).max()) < max(dimensions, 1)
    ensure(inside, f"an {name} record names no dimension")
