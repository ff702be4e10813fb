"""Define figure 15 and tables 2 and 3 of the PS-Tree paper: a query log, ads, and one dimension."""

from __future__ import annotations

from bench.figures import reasons
from bench.figures.claims import ahead, first, order, ratio, saving, similar
from bench.figures.pstree import CURVES, ENGINES, PAPERS
from bench.figures.spec import Claim, Curve, Figure, Panel, Series, X, job

_PAPER_ADS: dict[str, dict[str, float]] = {
    "us": {"scan": 435_270, "k-index": 616_420, "OpIndex": 3_210, "BE-Tree": 2_260, "PSTBloom": 820,
           "PSTHash": 240},
    "build_s": {"k-index": 140.76, "OpIndex": 24.92, "BE-Tree": 13.7, "PSTBloom": 7.81, "PSTHash": 8.22},
    "engine_bytes": {"k-index": 7.32e9, "OpIndex": 574.38e6, "BE-Tree": 393.21e6, "PSTBloom": 55.93e6,
                     "PSTHash": 759.72e6},
}  # fmt: skip
_PAPER_TREES: dict[str, dict[str, float]] = {
    "query_ms": {
        "scan (from 200 points)": 23_110,
        "interval tree": 2_520,
        "segment tree": 6.27,
        "PS-Tree": 0.71,
    },
    "build_ms": {"interval tree": 16.02, "segment tree": 29.71, "PS-Tree": 91.88},
    "bytes": {"interval tree": 1.61e6, "segment tree": 6.86e6, "PS-Tree": 54.13e6},
}


def _stated(table: dict[str, dict[str, float]], measure: str, place: X) -> dict[str, Series]:
    """Return the numbers of the paper's table, as curves of one place."""
    return {label: {place: float(value)} for label, value in table[measure].items()}


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
              order(("PSTBloom", "OpIndex", "PSTHash", "BE-Tree", "k-index", "scan")),
              why=reasons.STRONG),
        Claim("(a) PSTBloom is considerably faster than the next.",
              ahead("OpIndex", "PSTBloom", "considerably faster")),
        Claim("(b) PSTBloom is built about as fast as OpIndex.",
              similar("OpIndex", "PSTBloom", 1.3, panel=1)),
        Claim("(b) And BE-Tree about as fast as k-index.", similar("BE-Tree", "k-index", 1.3, panel=1),
              why=reasons.STRONG),
        Claim("(a) OpIndex and PSTHash take about as long …", similar("PSTHash", "OpIndex", 1.5),
              why=reasons.PROBES),
        Claim("(a) … and so does BE-Tree.", similar("BE-Tree", "OpIndex", 1.5),
              why=reasons.PROBES),
    ),
    note="Stand-in for the queries of the SIGMOD 2013 contest: 17,577 attributes, 2.78 keywords, events of "
    "93 pairs, 1,000,000 subscriptions (the paper: 2.1 million).",
    shape="From fastest to slowest: PSTBloom, OpIndex, PSTHash, BE-Tree, k-index, Propagation, scan; "
    "the three after PSTBloom are close together.",
)  # fmt: skip
TABLE_2 = Figure(
    "Table 2",
    "Advertisements",
    tuple(
        Panel(title, "", measure, _ADS, CURVES, kind="table", paper=_stated(_PAPER_ADS, measure, 1_000_000))
        for title, measure in (("matching", "us"), ("construction", "build_s"), ("memory", "engine_bytes"))
    ),
    (
        Claim("PSTHash takes 89 % less than BE-Tree.", saving("BE-Tree", "PSTHash", 0.89)),
        Claim("From fastest to slowest: PSTHash, PSTBloom, BE-Tree, OpIndex, scan, k-index.",
              order(("PSTHash", "PSTBloom", "BE-Tree", "OpIndex", "scan", "k-index")),
              why=reasons.CACHE),
        Claim("PSTBloom is built fastest.", first("PSTBloom", PAPERS, panel=1),
              why=reasons.MARKS),
        Claim("PSTBloom needs less memory than BE-Tree: 56 MB against 393.",
              ratio("BE-Tree", "PSTBloom", 7.0, panel=2), why=reasons.RUNS),
        Claim("And less than OpIndex, which needs 574.", ratio("OpIndex", "PSTBloom", 10.0, panel=2),
              why=reasons.RECORDS),
    ),
    note="Stand-in of the same shape: 122 attributes, 1–56 predicates, events of 20 pairs; 1,000,000 "
    "subscriptions (the paper: 3 million).",
    shape="The numbers of the table, for 3 million advertisements, stand beside ours.",
)  # fmt: skip
_TREES = tuple(
    Curve(name, name) for name in ("PS-Tree", "segment tree", "interval tree", "scan (from 200 points)")
)
_STAB = ((100_000, job("intervals", 100_000, (), kind="intervals")),)
TABLE_3 = Figure(
    "Table 3",
    "One dimension: PS-Tree, segment tree, interval tree",
    tuple(
        Panel(title, "", measure, _STAB, _TREES, kind="table", paper=_stated(_PAPER_TREES, measure, 100_000))
        for title, measure in (("query", "query_ms"), ("construction", "build_ms"), ("memory", "bytes"))
    ),
    (
        Claim("PS-Tree takes 89 % less than a segment tree.", saving("segment tree", "PS-Tree", 0.89)),
        Claim("PS-Tree takes 99.97 % less than an interval tree.",
              saving("interval tree", "PS-Tree", 0.9997),
              why=reasons.COMPILED),
        Claim("Its construction takes three times as long as that of a segment tree.",
              ratio("PS-Tree", "segment tree", 3.1, panel=1),
              why=reasons.AT_ONCE),
        Claim("It needs eight times the memory of a segment tree.",
              ratio("PS-Tree", "segment tree", 7.9, panel=2),
              why=reasons.FLAT),
    ),
    note="As many points as intervals, about ten intervals around a point; all structures report all "
    "pairs, and must agree.",
    shape="The numbers of the table, for 100,000 intervals and 100,000 points, stand beside ours.",
)  # fmt: skip
