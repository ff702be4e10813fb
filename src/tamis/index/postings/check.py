"""What must hold of posting lists before a kernel may follow them: shared by engines that post in levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.index.proof import Proof

Arrays = dict[str, npt.NDArray[Any]]
LAYOUT = 6  # dimension bits, cell bits, zones, zones in all, lists of levels, most levels of a dimension


def check_lists(proof: Proof, arrays: Arrays, clauses: int, lists: int) -> None:
    """There are so many lists, and every clause stands in one of them or in the residual."""
    proof.starts("list_start", arrays["list_start"], len(arrays["posting"]), lists)
    proof.covers(clauses, arrays["posting"], arrays["residual"])


def check_levels(proof: Proof, arrays: Arrays, cells: npt.NDArray[np.int64]) -> None:
    """Every level of every dimension leads to one of the lists of levels."""
    heads, levels = arrays["heads"].astype(np.int64), arrays["levels"].astype(np.int64)
    singles, most = arrays["layout"][4:LAYOUT].tolist()
    fitting = heads.shape == (len(cells), 4) and levels.shape == (len(levels), 2)
    proof.ensure(
        fitting and len(arrays["hull"]) == len(cells), "heads, levels and hull do not fit the dimensions"
    )
    count, first = heads[:, 0] & 255, heads[:, 2]
    used = np.flatnonzero(count)
    proof.ensure(np.all(first[used] + count[used] <= len(levels)), "a dimension has levels beyond the last")
    proof.ensure(int(count.max(initial=0)) == most, "the layout has another number of levels")
    shift, base = levels[first[used], 0], levels[first[used], 1]
    same = np.array_equal(heads[used, 0] >> 16, shift) and np.array_equal(heads[used, 1], base)
    proof.ensure(same, "a head differs from its first level")
    owner = np.repeat(used, count[used])
    skipped = first[used] - (np.cumsum(count[used]) - count[used])
    place = np.repeat(skipped, count[used]) + np.arange(len(owner))
    shift, base = levels[place, 0], levels[place, 1]
    inside = np.all(shift < 63) and np.all(base + (cells[owner] >> np.minimum(shift, 62)) < singles)
    proof.ensure(inside, "a level leads beyond its lists")


def check_records(proof: Proof, arrays: Arrays, name: str, dimensions: int) -> None:
    """One inline record per posting, each on a dimension that exists."""
    records, bits = arrays[name], int(arrays["layout"][0])
    proof.ensure(len(records) == len(arrays["posting"]), f"{name} does not fit the postings")
    proof.ensure(bits < 32, "the layout leaves no room for cells")
    proof.below(f"an {name} record", records & ((1 << bits) - 1), max(dimensions, 1))
