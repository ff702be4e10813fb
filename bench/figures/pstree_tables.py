"""Define figure 15 and tables 2 and 3 of the PS-Tree paper: a query log, ads, and one dimension."""

from __future__ import annotations

from bench.figures.claims import ahead, first, order, ratio, saving, similar
from bench.figures.pstree import CURVES, ENGINES, PAPERS
from bench.figures.spec import Claim, Curve, Figure, Panel, job

_QUERY_LOG = ((1_000_000, job("w4-queries", 1_000_000, ENGINES)),)
_ADS = ((1_000_000, job("w4-ads", 1_000_000, ENGINES)),)
FIGURE_15 = Figure(
    "15",
    "Query log",
    (
        Panel("(a) matching", "", "us", _QUERY_LOG, CURVES, kind="table"),
        Panel("(b) construction", "", "build_s", _QUERY_LOG, CURVES, kind="table"),
    ),
    (
        Claim("(a) From fastest to slowest: PSTBloom, OpIndex, PSTHash, BE-Tree, k-index, scan.",
              order(("PSTBloom", "OpIndex", "PSTHash", "BE-Tree", "k-index", "scan"))),
        Claim("(a) PSTBloom is considerably faster than the next.",
              ahead("OpIndex", "PSTBloom", "considerably faster")),
        Claim("(b) PSTBloom is built about as fast as OpIndex.",
              similar("OpIndex", "PSTBloom", 1.3, panel=1)),
    ),
    note="Stand-in for the queries of the SIGMOD 2013 contest: 17,577 attributes, 2.78 keywords, events of "
    "93 pairs, 1,000,000 subscriptions (the paper: 2.1 million).",
)  # fmt: skip
TABLE_2 = Figure(
    "Table 2",
    "Advertisements",
    tuple(
        Panel(title, "", measure, _ADS, CURVES, kind="table")
        for title, measure in (("matching", "us"), ("construction", "build_s"), ("memory", "engine_bytes"))
    ),
    (
        Claim("PSTHash takes 89 % less than BE-Tree.", saving("BE-Tree", "PSTHash", 0.89)),
        Claim("From fastest to slowest: PSTHash, PSTBloom, BE-Tree, OpIndex, scan, k-index.",
              order(("PSTHash", "PSTBloom", "BE-Tree", "OpIndex", "scan", "k-index"))),
        Claim("PSTBloom is built fastest.", first("PSTBloom", PAPERS, panel=1)),
        Claim("PSTBloom needs less memory than BE-Tree: 56 MB against 393.",
              ratio("BE-Tree", "PSTBloom", 7.0, panel=2)),
        Claim("And less than OpIndex, which needs 574.", ratio("OpIndex", "PSTBloom", 10.0, panel=2)),
    ),
    note="Stand-in of the same shape: 122 attributes, 1–56 predicates, events of 20 pairs; 1,000,000 "
    "subscriptions (the paper: 3 million; there PSTHash 0.24 ms, PSTBloom 0.82, BE-Tree 2.26, OpIndex "
    "3.21, scan 435, k-index 616).",
)  # fmt: skip
_TREES = tuple(
    Curve(name, name) for name in ("PS-Tree", "segment tree", "interval tree", "scan (from 200 points)")
)
_STAB = ((100_000, job("intervals", 100_000, (), kind="intervals")),)
TABLE_3 = Figure(
    "Table 3",
    "One dimension: PS-Tree, segment tree, interval tree",
    tuple(
        Panel(title, "", measure, _STAB, _TREES, kind="table")
        for title, measure in (("query", "query_ms"), ("construction", "build_ms"), ("memory", "bytes"))
    ),
    (
        Claim("PS-Tree takes 89 % less than a segment tree.", saving("segment tree", "PS-Tree", 0.89)),
        Claim("PS-Tree takes 99.97 % less than an interval tree.",
              saving("interval tree", "PS-Tree", 0.9997)),
        Claim("Its construction takes three times as long as that of a segment tree.",
              ratio("PS-Tree", "segment tree", 3.1, panel=1)),
        Claim("It needs eight times the memory of a segment tree.",
              ratio("PS-Tree", "segment tree", 7.9, panel=2)),
    ),
    note="As many points as intervals, about ten intervals around a point; all structures report all "
    "pairs, and must agree. The paper: 0.71 ms, 6.27 ms, 2.52 s, scan 23.1 s.",
)  # fmt: skip
