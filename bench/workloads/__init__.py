"""Look up workloads by name."""

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
from bench.workloads.w5 import W5, W5_CARS

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
    W5_CARS,
    MARKET,
    *MIXES.values(),
)
WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in _ALL}
"""The workloads that are drawn at random; :func:`named` also finds real ones."""


def named(name: str) -> Workload:
    """Return the workload called ``name``; for an unknown one, raise a ``ValueError`` that lists all."""
    from bench.workloads.real import REAL
    from bench.workloads.real.data import shared_folder

    known: dict[str, Workload] = WORKLOADS | REAL
    if name in REAL and not shared_folder().is_dir():
        raise ValueError(
            f"{name} needs the real data sets, and there is no {shared_folder()}; "
            "set TAMIS_SHARED_DATA to the folder that holds them"
        )
    if name not in known:
        raise ValueError(
            f"{name!r} is not one of {', '.join(known if shared_folder().is_dir() else WORKLOADS)}"
        )
    return known[name]


__all__ = [
    "W1",
    "W2",
    "W3",
    "W4",
    "W5",
    "WORKLOADS",
    "Ads",
    "Market",
    "Mix",
    "Queries",
    "W1Clauses",
    "W1Prefix",
    "Workload",
    "named",
]
