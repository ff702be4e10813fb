"""The workloads by name."""

from __future__ import annotations

from bench.workloads.base import Workload
from bench.workloads.market import MARKET, Market
from bench.workloads.mix import MIXES, Mix
from bench.workloads.w1 import W1, W1_DEFAULT
from bench.workloads.w1_clauses import W1_CNF, W1_DNF, W1Clauses
from bench.workloads.w1_prefix import W1_PREFIX, W1Prefix
from bench.workloads.w2 import W2, W2_DBLP, W2_TITLE, W2_UNIFORM, W2_ZIPF
from bench.workloads.w3 import W3, W3_TEXT
from bench.workloads.w4 import W4, W4_DENSE, W4_SPARSE
from bench.workloads.w4_ads import ADS, Ads
from bench.workloads.w4_queries import QUERIES, Queries

_ALL: tuple[Workload, ...] = (
    W1_DEFAULT,
    W1_DNF,
    W1_CNF,
    W1_PREFIX,
    W2_UNIFORM,
    W2_ZIPF,
    W2_DBLP,
    W2_TITLE,
    W3_TEXT,
    W4_DENSE,
    W4_SPARSE,
    ADS,
    QUERIES,
    MARKET,
    *MIXES.values(),
)
WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in _ALL}

__all__ = [
    "W1",
    "W2",
    "W3",
    "W4",
    "WORKLOADS",
    "Ads",
    "Market",
    "Mix",
    "Queries",
    "W1Clauses",
    "W1Prefix",
    "Workload",
]
