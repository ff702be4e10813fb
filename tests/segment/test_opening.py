"""Test that opening costs the same for every size: a large index is mapped, not read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest

from tamis import Index

ROWS = 120_000
PADDING = "x" * 120


def large_table() -> pa.Table:
    """Return subscriptions with long ids and long strings, so that few of them fill much space."""
    number = np.arange(ROWS)
    ids = pa.array([f"{n:06}{PADDING}" for n in range(ROWS)])
    return pa.table(
        {
            "id": pa.concat_arrays([ids, ids]),
            "attribute": pa.array(["name"] * ROWS + ["price"] * ROWS),
            "operator": pa.array(["="] * ROWS + ["<"] * ROWS),
            "string": pa.array([f"{n % 60_000}{PADDING * 13}" for n in range(ROWS)] + [None] * ROWS),
            "number": pa.array([None] * ROWS + (number % 1000).tolist(), pa.int64()),
        }
    )


def held() -> tuple[int, int]:
    """Bytes that this process has read from files, and bytes that it has in memory, mapped ones included."""
    me = psutil.Process()
    return me.io_counters().read_chars, me.memory_info().rss


@pytest.mark.slow
def test_large_index_is_opened_without_being_read(tmp_path: Path) -> None:
    Index.build(large_table()).save(tmp_path)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert size > 200_000_000
    Index.open(tmp_path)  # what the first one loads is no part of the index
    before = held()
    index = Index.open(tmp_path)
    read, mapped = (now - then for now, then in zip(held(), before, strict=True))
    assert max(read, mapped) < size // 20, (read, mapped, size)
    assert len(index) == ROWS
    event = {"name": f"7{PADDING * 13}", "price": 3}
    assert index.match(event) == [f"{7:06}{PADDING}", f"{60_007:06}{PADDING}"]
