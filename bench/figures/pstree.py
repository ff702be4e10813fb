"""The figures of the PS-Tree paper: dense (100 attributes) and sparse (30,000) books (W4), queries and "
"ads."""

from __future__ import annotations

from functools import partial
from typing import Any

from bench.figures.claims import FIRST, LAST, ahead, first, growth, ratio, saving, similar, slower_growth
from bench.figures.curves import BETREE, HYBRID, KINDEX, OPINDEX, SCAN
from bench.figures.spec import Claim, Curve, Figure, Job, Panel, job, sweep

N = 300_000
SIZES = (30_000, 100_000, 300_000, 1_000_000)
ENGINES = ("scan", "kindex", "opindex", "bestar:split=0", "pstbloom", "psthash", "hybrid")

BLOOM = Curve("pstbloom", "PSTBloom")
HASH = Curve("psthash", "PSTHash")
CURVES = (SCAN, KINDEX, OPINDEX, BETREE, BLOOM, HASH, HYBRID)
INDEXES = CURVES[1:]
PAPERS = ("k-index", "OpIndex", "BE-Tree", "PSTBloom", "PSTHash")
BOOKS = (("a", "w4-dense", "dense"), ("b", "w4-sparse", "sparse"))
PER_DIMENSION = 10


def _w4(value: Any, workload: str, name: str) -> Job:
    return job(workload, N, ENGINES, **{name: value})


def _by_size(size: int, workload: str) -> Job:
    return job(workload, size, ENGINES)


def _both(x_label: str, name: str, *values: Any, log_x: bool = False) -> tuple[Panel, ...]:
    """MatchTask time, dense and sparse."""
    return tuple(
        Panel(f"({letter}) {kind}", x_label, "us",
              sweep(partial(_w4, workload=book, name=name), *values), CURVES, log_x=log_x)
        for letter, book, kind in BOOKS
    )  # fmt: skip


def _density(dimensions: int) -> Job:
    """As many subscriptions for every dimension."""
    return job("w4-dense", PER_DIMENSION * dimensions, ENGINES, dimensions=dimensions, planted=0.1)


_DIMENSIONS = (100, 300, 1_000, 3_000, 10_000, 30_000)
_RATIOS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_LENGTHS = (5, 10, 20, 30)
_DENSE = partial(_w4, workload="w4-dense")
_BY_SIZE = sweep(partial(_by_size, workload="w4-dense"), *SIZES)
_BY_DIMENSIONS = sweep(partial(_DENSE, name="dimensions"), *_DIMENSIONS)
_BY_LENGTH = sweep(partial(_DENSE, name="size"), *_LENGTHS)
_BY_RATIO = sweep(partial(_DENSE, name="equality"), *_RATIOS)

FIGURE_5 = Figure(
    "5",
    "Construction",
    (
        Panel("(a) by subscriptions", "subscriptions", "build_s", _BY_SIZE, INDEXES, log_x=True),
        Panel("(b) by dimensions", "dimensions", "build_s", _BY_DIMENSIONS, INDEXES, log_x=True),
        Panel("(c) by predicates", "predicates of a subscription", "build_s", _BY_LENGTH, INDEXES),
        Panel("(d) by share of =", "share of equalities", "build_s", _BY_RATIO, INDEXES),
    ),
    (
        Claim("(a) PSTBloom is built fastest.", first("PSTBloom", PAPERS)),
        Claim("(a) At the largest size it takes 78 % less than BE-Tree.",
              saving("BE-Tree", "PSTBloom", 0.78, at=LAST)),
        Claim("(b) PSTBloom does not depend on the number of dimensions.",
              growth("PSTBloom", 0.5, 2.0, "not sensitive", panel=1)),
        Claim("(b) BE-Tree grows with it faster than PSTBloom.",
              slower_growth("PSTBloom", "BE-Tree", panel=1)),
        Claim("(c) PSTHash is built faster the longer subscriptions are …",
              growth("PSTHash", 0.0, 0.95, "falls", panel=2)),
        Claim("(c) … OpIndex slower.", growth("OpIndex", 1.05, 1e9, "grows", panel=2)),
        Claim("(d) More equalities make every construction faster, PSTHash's most.",
              growth("PSTHash", 0.0, 0.95, "falls", panel=3)),
    ),
    note="Everything from columns to a searchable index; normalisation, which all engines share, is a "
    "large part of it. OpIndex and BE-Tree are built in one go here; the paper also has OpIndex sorted "
    "after every insertion.",
)  # fmt: skip
FIGURE_6 = Figure(
    "6",
    "MatchTask by subscriptions",
    tuple(
        Panel(f"({letter}) {kind}", "subscriptions", "us",
              sweep(partial(_by_size, workload=book), *SIZES), CURVES, log_x=True)
        for letter, book, kind in BOOKS
    ),
    (
        Claim("(a) Dense, the smallest: PSTBloom takes 84 % less than OpIndex.",
              saving("OpIndex", "PSTBloom", 0.84, at=FIRST)),
        Claim("(a) Dense, the largest: PSTHash is first …", first("PSTHash", PAPERS, at=(LAST,))),
        Claim("(a) … and takes 92 % less than OpIndex.", saving("OpIndex", "PSTHash", 0.92, at=LAST)),
        Claim("(a) PSTHash grows slowest.", slower_growth("PSTHash", "PSTBloom")),
        Claim("(b) Sparse: PSTBloom is always first.", first("PSTBloom", PAPERS, panel=1)),
    ),
)  # fmt: skip
FIGURE_7 = Figure(
    "7",
    "MatchTask by skew",
    _both("Zipf exponent of attributes", "alpha", 0.0, 1.0, 2.0, 3.0, 5.0),
    (
        Claim("(a) Dense and skewed: PSTHash is first.",
              first("PSTHash", PAPERS, at=(1.0, 2.0, 3.0, 5.0))),
        Claim("(b) Sparse and skewed: it is so too.",
              first("PSTHash", PAPERS, panel=1, at=(1.0, 2.0, 3.0, 5.0))),
        Claim("(a) OpIndex is ahead of BE-Tree if uniform …", ahead("BE-Tree", "OpIndex", "faster", at=0.0)),
        Claim("(a) … and behind it when skewed.", ahead("OpIndex", "BE-Tree", "slower", at=2.0)),
        Claim("(a) Skewed, k-index is slower than a scan.", ahead("k-index", "scan", "slower", at=2.0)),
    ),
)  # fmt: skip
FIGURE_8 = Figure(
    "8",
    "MatchTask by dimensions",
    (
        Panel("(a) as many subscriptions", "dimensions", "us", _BY_DIMENSIONS, CURVES, log_x=True),
        Panel(f"(b) {PER_DIMENSION} subscriptions for each", "dimensions", "us",
              sweep(_density, *_DIMENSIONS), CURVES, log_x=True),
    ),
    (
        Claim("(a) More dimensions make all but the scan faster, PSTBloom more than PSTHash.",
              slower_growth("PSTBloom", "PSTHash")),
        Claim("(a) Above 300 dimensions PSTBloom is first.",
              first("PSTBloom", PAPERS, at=(1_000, 3_000, 10_000, 30_000))),
        Claim("(b) With as many subscriptions for each, PSTBloom does not depend on their number.",
              growth("PSTBloom", 0.5, 2.0, "not sensitive", panel=1)),
        Claim("(b) Nor does OpIndex.", growth("OpIndex", 0.5, 2.0, "not sensitive", panel=1)),
        Claim("(b) Above 300 dimensions PSTBloom is first.",
              first("PSTBloom", PAPERS, panel=1, at=(1_000, 3_000, 10_000, 30_000))),
    ),
)  # fmt: skip
FIGURE_9 = Figure(
    "9",
    "MatchTask by cardinality",
    _both("values of a dimension", "cardinality", 3, 10, 30, 100, 300, 1_000, log_x=True),
    (
        Claim("(a) Dense: PSTHash is first below 300 values …",
              first("PSTHash", PAPERS, at=(3, 10, 30, 100))),
        Claim("(a) … PSTBloom above.", first("PSTBloom", PAPERS, at=(1_000,))),
        Claim("(a) With 1,000 values PSTBloom takes 91 % less than OpIndex.",
              saving("OpIndex", "PSTBloom", 0.91, at=1_000)),
    ),
)  # fmt: skip
FIGURE_10 = Figure(
    "10",
    "MatchTask by predicates",
    _both("predicates of a subscription", "size", *_LENGTHS),
    (
        Claim("(a) Dense: PSTHash is faster with longer subscriptions.",
              growth("PSTHash", 0.0, 1.0, "falls")),
        Claim("(a) So is PSTBloom.", growth("PSTBloom", 0.0, 1.0, "falls")),
        Claim("(a) OpIndex takes 4.5 times as long from 5 to 30 predicates.",
              growth("OpIndex", 2.0, 1e9, "4.5×")),
        Claim("(b) Sparse: three times as long.", growth("OpIndex", 1.5, 1e9, "3×", panel=1)),
    ),
)  # fmt: skip
FIGURE_11 = Figure(
    "11",
    "MatchTask by event size",
    _both("pairs of an event", "event_size", 30, 54, 90),
    (
        Claim("(a) Dense, events of 90: PSTHash is first …", first("PSTHash", PAPERS, at=(90,))),
        Claim("(a) … and takes 85 % less than BE-Tree.", saving("BE-Tree", "PSTHash", 0.85, at=90)),
        Claim("(b) Sparse, events of 90: PSTBloom is first.", first("PSTBloom", PAPERS, panel=1, at=(90,))),
        Claim("(a) All but the scan take longer with larger events.", growth("PSTHash", 1.05, 1e9, "grows")),
    ),
)  # fmt: skip
FIGURE_12 = Figure(
    "12",
    "MatchTask by match probability",
    _both("match probability", "match_probability", 0.001, 0.01, 0.1, 0.5, log_x=True),
    (
        Claim("(a) Dense, half of all match: PSTHash takes a quarter of the scan's time.",
              ratio("scan", "PSTHash", 4.0, at=0.5)),
        Claim("(a) So does PSTBloom.", ratio("scan", "PSTBloom", 4.0, at=0.5)),
        Claim("(b) Sparse, half of all match: PSTHash, a quarter.",
              ratio("scan", "PSTHash", 4.0, panel=1, at=0.5)),
        Claim("(b) PSTBloom, a quarter.", ratio("scan", "PSTBloom", 4.0, panel=1, at=0.5)),
        Claim("(a) BE-Tree then takes about as long as a scan.", similar("BE-Tree", "scan", 1.3, at=0.5)),
    ),
)  # fmt: skip
FIGURE_13 = Figure(
    "13",
    "MatchTask by share of equalities",
    _both("share of equalities", "equality", *_RATIOS),
    (
        Claim("(a) More equalities make all faster, here PSTHash.", growth("PSTHash", 0.0, 0.9, "falls")),
        Claim("(a) Dense: PSTHash is always first.", first("PSTHash", PAPERS)),
        Claim("(b) Sparse: more equalities make PSTBloom faster.",
              growth("PSTBloom", 0.0, 1.0, "falls", panel=1)),
    ),
    note="Propagation, which gains most from equalities in the paper, has no counterpart among our engines.",
)  # fmt: skip
FIGURE_14 = Figure(
    "14",
    "Memory",
    (
        Panel("(a) by subscriptions", "subscriptions", "engine_bytes", _BY_SIZE, INDEXES, log_x=True),
        Panel("(b) by predicates", "predicates of a subscription", "engine_bytes", _BY_LENGTH, INDEXES),
    ),
    (
        Claim("(a) PSTBloom needs up to 94 % less than BE-Tree …",
              saving("BE-Tree", "PSTBloom", 0.94, most=True)),
        Claim("(b) … and up to 99 % less than OpIndex.",
              saving("OpIndex", "PSTBloom", 0.99, panel=1, most=True)),
        Claim("(a) PSTBloom's memory grows slower than OpIndex's.", slower_growth("PSTBloom", "OpIndex")),
        Claim("(b) Longer subscriptions need more memory with OpIndex …",
              growth("OpIndex", 2.0, 1e9, "grows", panel=1)),
        Claim("(b) … and not more with PSTHash.", growth("PSTHash", 0.0, 1.05, "falls", panel=1)),
    ),
    note="Bytes of the engine's own arrays; the subscriptions themselves, which all engines share, are not "
    "counted. BE-Tree needs little here since its leaves are runs of the shared clauses.",
)  # fmt: skip

FIGURES = (
    FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14,
)  # fmt: skip
