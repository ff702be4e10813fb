"""Check posting lists before a kernel may follow them, for engines that post in levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.engines.proof import Proof

Arrays = dict[str, npt.NDArray[Any]]
LAYOUT = 6  # dimension bits, cell bits, zones, zones in all, lists of levels, most levels of a dimension
_MOST_SHIFT = 63  # cells are shifted as signed numbers of 64 bits


def check_lists(proof: Proof, arrays: Arrays, start: npt.NDArray[Any], lists: int) -> None:
    """Raise unless there are so many lists and every clause is in one of them or in the residual list.

    ``start`` holds the first literal of each clause. A posted clause must have a literal, because kernels
    read its first one.
    """
    proof.starts("list_start", arrays["list_start"], len(arrays["posting"]), lists)
    proof.covers(len(start) - 1, arrays["posting"], arrays["residual"])
    posted = arrays["posting"]
    proof.ensure(np.all(start[:-1][posted] < start[1:][posted]), "a clause without a literal is posted")


def check_levels(proof: Proof, arrays: Arrays, cells: npt.NDArray[np.int64]) -> None:
    """Raise unless every level of every dimension leads to its own lists among the lists of levels."""
    heads, levels = arrays["heads"].astype(np.int64), arrays["levels"].astype(np.int64)
    singles, most = arrays["layout"][4:LAYOUT].tolist()
    fitting = len(heads) == len(cells) == len(arrays["hull"])
    proof.ensure(fitting, "heads and hull do not fit the dimensions")
    count, first = heads[:, 0] & 255, heads[:, 2]
    shifts = np.concatenate([(heads[:, 0] >> 8) & 255, heads[:, 0] >> 16, levels[:, 0]])
    proof.below("a shift", shifts, _MOST_SHIFT)
    used = np.flatnonzero(count)
    proof.ensure(np.all(first[used] + count[used] <= len(levels)), "a dimension has levels beyond the last")
    proof.ensure(int(count.max(initial=0)) == most, "the layout has another number of levels")
    shift, base = levels[first[used], 0], levels[first[used], 1]
    same = np.array_equal(heads[used, 0] >> 16, shift) and np.array_equal(heads[used, 1], base)
    proof.ensure(same, "a head differs from its first level")
    owner = np.repeat(used, count[used])
    skipped = first[used] - (np.cumsum(count[used]) - count[used])
    place = np.repeat(skipped, count[used]) + np.arange(len(owner))
    begin = levels[place, 1]
    end = begin + (cells[owner] >> levels[place, 0]) + 1
    order = np.argsort(begin, kind="stable")
    # An event would visit lists that two levels share twice and could meet more postings than there are.
    apart = np.all(end[order][:-1] <= begin[order][1:])
    proof.ensure(apart and int(end.max(initial=0)) <= singles, "a level leads beyond its lists")


def check_unpaired(proof: Proof, arrays: Arrays) -> None:
    """Raise if a dimension has zones: the engine posts nothing under pairs of conditions."""
    proof.ensure(not arrays["heads"][:, 3].any(), "a dimension has zones, but there are none")


def check_records(proof: Proof, arrays: Arrays, name: str, dimensions: int, count: int) -> None:
    """Raise unless there are ``count`` inline records, all on dimensions that exist."""
    records = arrays[name]
    bits, cell_bits = arrays["layout"][:2].tolist()
    proof.ensure(len(records) == count, f"{name} does not fit the postings")
    fits = bits + 2 * cell_bits <= 8 * records.dtype.itemsize and bits < 32
    proof.ensure(fits, "the layout leaves no room for cells")
    proof.below(f"an {name} record", records & ((1 << bits) - 1), max(dimensions, 1))
