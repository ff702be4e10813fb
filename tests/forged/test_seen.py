"""Test that forgeries that once crashed the process are now refused at open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tamis import Index
from tamis.errors import IndexCorrupt
from tests.forged.mutator import Arrays, rewrite, saved


def _typed(name: str, dtype: str) -> Callable[[Arrays], None]:
    return lambda arrays: arrays.update({name: arrays[name].astype(dtype)})


def _negative_cut(arrays: Arrays) -> None:
    arrays["space.number_cut"] = np.full(len(arrays["space.number_cut"]), -(10**12), np.int64)


def _overflowing_base(arrays: Arrays) -> None:
    arrays["space.number_base"][0] = 2**63 - 1
    arrays["space.string_before"][:] += 2**62


def _shifted_arity(arrays: Arrays) -> None:
    """Keep the sum: one predicate gets more operands than there are, others none."""
    arity = arrays["book.arity"].astype(np.int64)
    predicates = np.flatnonzero(arrays["book.op"] < 32)
    first, last = predicates[0], predicates[-1]
    arity[first], arity[last] = arity[first] + 10**6, arity[last] - 10**6
    arrays["book.arity"] = arity


def _wrapping_starts(arrays: Arrays) -> None:
    """Write places whose differences are all positive, because they overflow."""
    start = arrays["space.number_start"]
    inner = np.array([2**62, 2**63 - 1, -(2**63) + 5, -(2**62)], np.int64)
    start[1 : 1 + len(inner)] = inner


def _last_row(arrays: Arrays) -> None:
    """Let a column begin so late that only its last row lies outside the matrix."""
    arrays["engine.column"][0, 1] = len(arrays["engine.matrix"]) // 8 - 2


SEEN: dict[str, tuple[str, Callable[[Arrays], None]]] = {
    "hybrid heads of 64 bits": ("hybrid", _typed("engine.heads", "<u8")),
    "hybrid list_start of 64 bits": ("hybrid", _typed("engine.list_start", "<u8")),
    "psthash posting of 64 bits": ("psthash", _typed("engine.posting", "<u8")),
    "bitmatrix column of 64 bits": ("bitmatrix", _typed("engine.column", "<u8")),
    "bitmatrix row beyond the matrix": ("bitmatrix", _last_row),
    "psthash spaces of 64 bits": ("psthash", _typed("engine.spaces", "<u8")),
    "opindex records of one type only": ("opindex", _typed("engine.cnf_record", "<u8")),
    "clauses of 64 bits": ("scan", _typed("clauses.start", "<u8")),
    "a negative cut": ("scan", _negative_cut),
    **{
        f"a base that overflows in {engine}": (engine, _overflowing_base)
        for engine in ("hybrid", "bitmatrix", "pstbloom", "psthash", "kindex", "opindex", "presearch")
    },
    "operands of a neighbour": ("hybrid", _shifted_arity),
    "starts that overflow": ("scan", _wrapping_starts),
}


@pytest.mark.parametrize("case", SEEN)
def test_forgery_that_once_crashed_is_refused(case: str, tmp_path: Path) -> None:
    engine, change = SEEN[case]
    folder = saved(tmp_path, engine, {})
    segment = max(folder.glob("segment-*"), key=lambda path: (path / "arrays.bin").stat().st_size)
    rewrite(segment, lambda arrays: None)
    Index.open(folder, verify=True).check()
    rewrite(segment, change)
    for verify in (False, True):
        with pytest.raises(IndexCorrupt, match="segment-"):
            Index.open(folder, verify=verify)
