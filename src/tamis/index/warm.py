"""Load the kernels before they are needed: in services, and in processes that workers are forked from."""

from __future__ import annotations

import functools

import pyarrow as pa

from tamis.index.index import Index

BOOK = {
    "equal": "model = 'a' AND price <= 5 AND sold = TRUE",
    "either": "(model IN ('a', 'b') OR price > 2.5) AND NOT city = 'c'",
    "negative": "NOT price = 3",
    "text": "title HAS ALL ('wool', 'coat') AND model LIKE 'a%'",
}


@functools.cache
def warm(engine: str = "hybrid") -> None:
    """Build and match a tiny index in memory, so that everything matching needs is imported and compiled."""
    index = Index.build(BOOK, engine=engine)
    columns = {"model": ["a", "b"], "price": [3, 4], "sold": [True, None], "title": ["wool coat", "x"]}
    for events in (pa.table(columns), [{"model": "a", "price": 2.5, "city": ["c", "d"]}]):
        for _ in index.match_batches(events, threads=1):  # threads do not survive a fork
            pass
