"""Write the marketplace as texts: searches to register, and listings to publish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from bench.workloads.market import MARKET, plain_listing
from tamis.columns import columns_from_arrow
from tamis.columns.rows import tree_at
from tamis.language import to_text
from tamis.limits import DEFAULT_LIMITS

STEP = 10_000


def searches(count: int, seed: int) -> Iterator[str]:
    """Yield expressions as people would write them, in the mix of the workload."""
    for first in range(0, count, STEP):
        part = range(first, min(first + STEP, count))
        columns = columns_from_arrow(MARKET.columns(seed, part), DEFAULT_LIMITS).columns
        yield from (to_text(tree_at(columns, at)) for at in range(columns.count))
    yield from MARKET.expressions(seed, range(MARKET.in_text(count)))["expression"].to_pylist()


def listings(count: int, seed: int, book: int) -> list[dict[str, Any]]:
    """Return listings as objects of JSON."""
    table: pa.Table = MARKET.events(count, seed, book)
    return [plain_listing(row) for row in table.to_pylist()]
