"""Define the figures of the PS-Tree paper: dense (100 attributes) and sparse (30,000) books, queries, ads."""

from __future__ import annotations

from functools import partial
from typing import Any

from bench.figures import reasons
from bench.figures.claims import (
    FIRST,
    LAST,
    ahead,
    first,
    grown,
    growth,
    ratio,
    saving,
    similar,
    slower_growth,
)
from bench.figures.curves import BETREE, HYBRID, KINDEX, OPINDEX, SCAN
from bench.figures.spec import Claim, Curve, Figure, Job, Panel, job, sweep
from bench.figures.verdicts import CLEAR

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
    """Return the panels of matching time, dense and sparse."""
    return tuple(
        Panel(f"({letter}) {kind}", x_label, "us",
              sweep(partial(_w4, workload=book, name=name), *values), CURVES, log_x=log_x)
        for letter, book, kind in BOOKS
    )  # fmt: skip


def _density(dimensions: int) -> Job:
    """Return the job with as many subscriptions for every dimension."""
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
              saving("BE-Tree", "PSTBloom", 0.78, at=LAST),
              why=reasons.SHARED_BUILD),
        Claim("(b) PSTBloom does not depend on the number of dimensions.",
              growth("PSTBloom", 0.5, 2.0, "not sensitive", panel=1),
              why=f"{reasons.DIMENSIONS} {reasons.SHARED_BUILD}"),
        Claim("(b) Nor does PSTHash …", growth("PSTHash", 0.5, 2.0, "not sensitive", panel=1)),
        Claim("(b) … or k-index.", growth("k-index", 0.5, 2.0, "not sensitive", panel=1)),
        Claim("(b) BE-Tree grows with it faster than PSTBloom.",
              slower_growth("PSTBloom", "BE-Tree", panel=1),
              why=reasons.SHARED_BUILD),
        Claim("(c) PSTHash is built faster the longer subscriptions are …",
              growth("PSTHash", 0.0, 1 / CLEAR, "falls", panel=2),
              why=f"{reasons.PREDICATES} {reasons.SHARED_BUILD}"),
        Claim("(c) … OpIndex slower …", growth("OpIndex", CLEAR, 1e9, "grows", panel=2)),
        Claim("(c) … and BE-Tree as fast.", growth("BE-Tree", 0.67, 1.5, "not sensitive", panel=2),
              why=f"{reasons.PREDICATES} {reasons.SHARED_BUILD}"),
        Claim("(d) More equalities make every construction faster, PSTHash's most.",
              growth("PSTHash", 0.0, 1 / CLEAR, "falls", panel=3)),
    ),
    note="Everything from columns to a searchable index; normalisation, which all engines share, is a "
    "large part of it. OpIndex and BE-Tree are built in one go here; the paper also has OpIndex sorted "
    "after every insertion.",
    shape="PSTBloom is lowest over subscriptions. Over dimensions PSTBloom, PSTHash and k-index are "
    "flat and BE-Tree rises. Over the length of subscriptions PSTHash falls, BE-Tree is flat and "
    "the others rise. All fall with the share of equalities.",
)  # fmt: skip
FIGURE_6 = Figure(
    "6",
    "Matching by subscriptions",
    tuple(
        Panel(f"({letter}) {kind}", "subscriptions", "us",
              sweep(partial(_by_size, workload=book), *SIZES), CURVES, log_x=True)
        for letter, book, kind in BOOKS
    ),
    (
        Claim("(a) Dense, the smallest: PSTBloom takes 84 % less than OpIndex.",
              saving("OpIndex", "PSTBloom", 0.84, at=FIRST)),
        Claim("(a) Dense, the largest: PSTHash is first …", first("PSTHash", PAPERS, at=(LAST,)),
              why=reasons.CACHE),
        Claim("(a) … and takes 92 % less than OpIndex.", saving("OpIndex", "PSTHash", 0.92, at=LAST)),
        Claim("(a) PSTHash grows slowest.", slower_growth("PSTHash", "PSTBloom"), why=reasons.CACHE),
        Claim("(b) Sparse: PSTBloom is always first.", first("PSTBloom", PAPERS, panel=1),
              why=reasons.FILTERED),
    ),
    shape="All curves rise linearly. On dense data PSTBloom is lowest at 300,000 and PSTHash above a "
    "million; on sparse data PSTBloom is lowest throughout.",
)  # fmt: skip
FIGURE_7 = Figure(
    "7",
    "Matching by skew",
    _both("Zipf exponent of attributes", "alpha", 0.0, 1.0, 2.0, 3.0, 5.0),
    (
        Claim("(a) Dense and skewed: PSTHash is first.",
              first("PSTHash", PAPERS, at=(1.0, 2.0, 3.0, 5.0)),
              why=reasons.CACHE),
        Claim("(b) Sparse and skewed: it is so too.",
              first("PSTHash", PAPERS, panel=1, at=(1.0, 2.0, 3.0, 5.0)),
              why=reasons.CACHE),
        Claim("(a) OpIndex is ahead of BE-Tree if uniform …", ahead("BE-Tree", "OpIndex", "faster", at=0.0),
              why=reasons.PROBES),
        Claim("(a) … and behind it when skewed.", ahead("OpIndex", "BE-Tree", "slower", at=2.0)),
        Claim("(a) Skewed, k-index is slower than a scan.", ahead("k-index", "scan", "slower", at=2.0),
              why=reasons.STRONG),
    ),
    shape="With any skew PSTHash is lowest and k-index is above the scan. OpIndex is below BE-Tree "
    "without skew and above it with skew.",
)  # fmt: skip
FIGURE_8 = Figure(
    "8",
    "Matching by dimensions",
    (
        Panel("(a) as many subscriptions", "dimensions", "us", _BY_DIMENSIONS, CURVES, log_x=True),
        Panel(f"(b) {PER_DIMENSION} subscriptions for each", "dimensions", "us",
              sweep(_density, *_DIMENSIONS), CURVES, log_x=True),
    ),
    (
        Claim("(a) More dimensions make all but the scan faster, PSTBloom more than PSTHash.",
              slower_growth("PSTBloom", "PSTHash"),
              why=reasons.FILTERED),
        Claim("(a) Above 300 dimensions PSTBloom is first.",
              first("PSTBloom", PAPERS, at=(1_000, 3_000, 10_000, 30_000)),
              why=reasons.FILTERED),
        Claim("(b) With as many subscriptions for each, PSTBloom does not depend on their number.",
              growth("PSTBloom", 0.5, 2.0, "not sensitive", panel=1)),
        Claim("(b) Nor does OpIndex.", growth("OpIndex", 0.5, 2.0, "not sensitive", panel=1),
              why=reasons.PIVOTS),
        Claim("(b) Above 300 dimensions PSTBloom is first.",
              first("PSTBloom", PAPERS, panel=1, at=(1_000, 3_000, 10_000, 30_000)),
              why=reasons.FILTERED),
    ),
    shape="With a fixed number of subscriptions all but the scan fall, PSTBloom, OpIndex and k-index "
    "fastest. With a fixed number for each dimension these three are flat. Above 300 dimensions "
    "PSTBloom is lowest.",
)  # fmt: skip
FIGURE_9 = Figure(
    "9",
    "Matching by cardinality",
    _both("values of a dimension", "cardinality", 3, 10, 30, 100, 300, 1_000, log_x=True),
    (
        Claim("(a) Dense: PSTHash is first below 300 values …",
              first("PSTHash", PAPERS, at=(3, 10, 30, 100)),
              why=reasons.CACHE),
        Claim("(a) … PSTBloom above.", first("PSTBloom", PAPERS, at=(1_000,))),
        Claim("(a) With 1,000 values PSTBloom takes 91 % less than OpIndex.",
              saving("OpIndex", "PSTBloom", 0.91, at=1_000)),
    ),
    shape="On dense data PSTHash is lowest below 300 values and PSTBloom above.",
)  # fmt: skip
FIGURE_10 = Figure(
    "10",
    "Matching by predicates",
    _both("predicates of a subscription", "size", *_LENGTHS),
    (
        Claim("(a) Dense: PSTHash is faster with longer subscriptions.",
              growth("PSTHash", 0.0, 1 / CLEAR, "falls")),
        Claim("(a) So is PSTBloom.", growth("PSTBloom", 0.0, 1 / CLEAR, "falls")),
        Claim("(a) OpIndex takes 4.5 times as long from 5 to 30 predicates.",
              grown("OpIndex", 4.5)),
        Claim("(b) Sparse: three times as long.", grown("OpIndex", 3.0, panel=1),
              why=reasons.LONG),
    ),
    shape="On dense data PSTBloom, PSTHash and BE-Tree fall with the length of subscriptions, and OpIndex "
    "rises by 350 %. On sparse data only OpIndex moves: it rises by 200 %.",
)  # fmt: skip
FIGURE_11 = Figure(
    "11",
    "Matching by event size",
    _both("pairs of an event", "event_size", 30, 54, 90),
    (
        Claim("(a) Dense, events of 90: PSTHash is first …", first("PSTHash", PAPERS, at=(90,)),
              why=reasons.CACHE),
        Claim("(a) … and takes 85 % less than BE-Tree.", saving("BE-Tree", "PSTHash", 0.85, at=90)),
        Claim("(b) Sparse, events of 90: PSTBloom is first.", first("PSTBloom", PAPERS, panel=1, at=(90,)),
              why=reasons.FILTERED),
        Claim("(a) All but the scan take longer with larger events.", growth("PSTHash", CLEAR, 1e9, "grows")),
    ),
    shape="All but the scan rise with the size of events. At 90 pairs PSTHash is lowest on dense data "
    "and PSTBloom on sparse data.",
)  # fmt: skip
FIGURE_12 = Figure(
    "12",
    "Matching by match probability",
    _both("match probability", "match_probability", 0.001, 0.01, 0.1, 0.5, log_x=True),
    (
        Claim("(a) Dense, half of all match: PSTHash takes a quarter of the scan's time.",
              ratio("scan", "PSTHash", 4.0, at=0.5),
              why=reasons.OUTPUT),
        Claim("(a) So does PSTBloom.", ratio("scan", "PSTBloom", 4.0, at=0.5),
              why=reasons.OUTPUT),
        Claim("(b) Sparse, half of all match: PSTHash, a quarter.",
              ratio("scan", "PSTHash", 4.0, panel=1, at=0.5),
              why=reasons.OUTPUT),
        Claim("(b) PSTBloom, a quarter.", ratio("scan", "PSTBloom", 4.0, panel=1, at=0.5),
              why=reasons.OUTPUT),
        Claim("(a) BE-Tree then takes about as long as a scan.", similar("BE-Tree", "scan", 1.3, at=0.5)),
        Claim("(a) So does OpIndex.", similar("OpIndex", "scan", 1.3, at=0.5)),
    ),
    shape="All but the scan rise. When half of all subscriptions match, BE-Tree and OpIndex reach the "
    "scan, and PSTBloom and PSTHash take a quarter of its time.",
)  # fmt: skip
FIGURE_13 = Figure(
    "13",
    "Matching by share of equalities",
    _both("share of equalities", "equality", *_RATIOS),
    (
        Claim("(a) More equalities make all faster, here PSTHash.",
              growth("PSTHash", 0.0, 1 / CLEAR, "falls")),
        Claim("(a) Dense: PSTHash is always first.", first("PSTHash", PAPERS),
              why=reasons.CACHE),
        Claim("(b) Sparse: more equalities make PSTBloom faster.",
              growth("PSTBloom", 0.0, 1 / CLEAR, "falls", panel=1)),
    ),
    note="Propagation, which gains most from equalities in the paper, has no counterpart among our engines.",
    shape="All fall with the share of equalities. On dense data PSTHash is lowest everywhere.",
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
              saving("BE-Tree", "PSTBloom", 0.94, most=True), why=reasons.RUNS),
        Claim("(b) … and up to 99 % less than OpIndex.",
              saving("OpIndex", "PSTBloom", 0.99, panel=1, most=True),
              why=reasons.RECORDS),
        Claim("(a) PSTBloom's memory grows slower than OpIndex's.", slower_growth("PSTBloom", "OpIndex"),
              why=reasons.LEVELS),
        Claim("(a) So does PSTHash's.", slower_growth("PSTHash", "OpIndex"),
              why=reasons.LEVELS),
        Claim("(b) The memory of BE-Tree does not depend on the length of subscriptions.",
              growth("BE-Tree", 0.8, 1.25, "stable", panel=1)),
        Claim("(b) Longer subscriptions need more memory with OpIndex …",
              growth("OpIndex", CLEAR, 1e9, "grows", panel=1)),
        Claim("(b) … and not more with PSTHash.", growth("PSTHash", 0.0, CLEAR, "falls", panel=1)),
    ),
    note="Bytes of the engine's own arrays; the subscriptions themselves, which all engines share, are not "
    "counted. BE-Tree needs little here since its leaves are runs of the shared clauses.",
    shape="PSTBloom and PSTHash rise more slowly with subscriptions than OpIndex and BE-Tree. With "
    "longer subscriptions OpIndex and k-index rise, BE-Tree is flat, and PSTBloom and PSTHash "
    "fall.",
)  # fmt: skip

FIGURES = (
    FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_10, FIGURE_11, FIGURE_12, FIGURE_13, FIGURE_14,
)  # fmt: skip
