"""Define the figures of the OpIndex paper: very many attributes (W1), and stand-ins for its real data."""

from __future__ import annotations

from functools import partial
from typing import Any

from bench.figures import reasons
from bench.figures.claims import (
    LAST,
    below,
    first,
    grown,
    growth,
    ratio,
    similar,
    similar_growth,
    slower_growth,
)
from bench.figures.curves import HYBRID, KINDEX, OPINDEX, SCAN
from bench.figures.spec import Claim, Curve, Figure, Job, Panel, job, sweep
from bench.figures.verdicts import CLEAR

N = 300_000
SIZES = (30_000, 100_000, 300_000, 1_000_000)
ENGINES = ("scan", "kindex", "opindex", "opindex:optimised=0", "bestar:split=0:leaf=5", "hybrid")
ONE_BY_ONE = "bestar:split=0:leaf=5:incremental=1"
SLOWLY_BUILT = 100_000  # number of subscriptions up to which BE-Tree is built one by one

PLAIN = Curve("opindex:optimised=0", "OpIndex-BS")
BETREE = Curve("bestar:split=0:leaf=5", "BE-Tree")
GROWN = Curve(ONE_BY_ONE, "BE-Tree, one by one")
CURVES = (SCAN, KINDEX, PLAIN, OPINDEX, BETREE, HYBRID)
INDEXES = CURVES[1:]
PAPERS = ("k-index", "OpIndex", "OpIndex-BS", "BE-Tree")


def _w1(value: Any, name: str = "", subscriptions: int = N, engines: tuple[str, ...] = ENGINES) -> Job:
    return job("w1", subscriptions, engines, **({name: value} if name else {}))


def _by_size(size: int) -> Job:
    grown = (ONE_BY_ONE,) if size <= SLOWLY_BUILT else ()
    return _w1(None, subscriptions=size, engines=(*ENGINES, *grown))


def _by_predicates(most: int) -> Job:
    return _w1(most, "most_predicates")


def _matching(title: str, x_label: str, name: str, *values: Any, log_x: bool = False) -> Panel:
    points = sweep(partial(_w1, name=name), *values)
    return Panel(title, x_label, "us", points, CURVES, log_x=log_x)


_MEMORY_SIZE = Panel(
    "(a) by subscriptions", "subscriptions", "engine_bytes", sweep(_by_size, *SIZES), INDEXES, log_x=True
)
_VALUES = (50, 200, 800, 3_200, 12_800)
_MEMORY_VALUES = Panel(
    "(b) by value space σ", "values of an attribute", "engine_bytes",
    sweep(partial(_w1, name="values"), *_VALUES), INDEXES, log_x=True,
    paper={"OpIndex": dict.fromkeys(_VALUES, 0.2e9), "BE-Tree": {50: 1e9, 12_800: 10e9}},
)  # fmt: skip
_BUILD_SIZE = Panel(
    "(a) by subscriptions", "subscriptions", "build_s", sweep(_by_size, *SIZES), (*INDEXES, GROWN), log_x=True
)
_BUILD_PREDICATES = Panel(
    "(b) by most predicates Γmax",
    "most predicates",
    "build_s",
    sweep(_by_predicates, 4, 8, 12, 16, 20),
    INDEXES,
)


def _normal_form(title: str, x_label: str, points: tuple[Any, ...], log_x: bool) -> Panel:
    """Return CNF and DNF in one plot; the workload of a point separates the engines of both jobs."""
    return Panel(title, x_label, "us", points, (OPINDEX, HYBRID), log_x=log_x)


def _form(value: int, form: str, clauses: bool = False) -> Job:
    engines = ("opindex", "hybrid")
    if clauses:
        return job(f"w1-{form}", 10_000, engines, most_clauses=value)
    return job(f"w1-{form}", value, engines)


def _form_panels() -> tuple[Panel, ...]:
    panels = []
    for form in ("dnf", "cnf"):
        by_size = sweep(partial(_form, form=form), 3_000, 10_000, 30_000)
        by_clauses = sweep(partial(_form, form=form, clauses=True), 1, 3, 5, 7, 9)
        panels += [
            _normal_form(f"(a) {form.upper()}, by subscriptions", "subscriptions", by_size, True),
            _normal_form(f"(b) {form.upper()}, by clauses", "most clauses", by_clauses, False),
        ]
    return tuple(panels)


def _prefix(value: Any, name: str) -> Job:
    share = {} if name == "prefix" else {"prefix": 0.5}
    return job("w1-prefix", N, ("opindex", "hybrid"), **{name: value}, **share)


_PREFIX = tuple(
    Panel(title, x_label, "us", sweep(partial(_prefix, name=name), *values), (OPINDEX, HYBRID))
    for title, x_label, name, values in (
        ("(a) by share of prefixes", "share of prefix operators", "prefix", (0.2, 0.4, 0.6, 0.8, 1.0)),
        ("(b) by length of the prefix", "letters of a prefix", "prefix_length", (1, 2, 3, 4, 5)),
    )
)

FIGURE_8 = Figure(
    "8",
    "Memory",
    (_MEMORY_SIZE, _MEMORY_VALUES),
    (
        Claim("k-index needs about seven times the memory of OpIndex: it writes ranges out.",
              ratio("k-index", "OpIndex", 7, at=LAST)),
        Claim("BE-Tree needs about twice the memory of OpIndex.",
              ratio("BE-Tree", "OpIndex", 2, at=LAST), why=reasons.RUNS),
        Claim("The memory of OpIndex does not depend on how many values there are.",
              growth("OpIndex", 0.8, 1.25, "unchanged", panel=1)),
        Claim("That of BE-Tree grows tenfold, from 1 to 10 GB.", grown("BE-Tree", 10, panel=1),
              why=reasons.CELLS),
        Claim("That of k-index grows with them until it runs out.",
              growth("k-index", 1.5, 1e9, "out of memory from 3,200 values on", panel=1),
              why=reasons.CELLS),
    ),
    note="Bytes of the engine's own arrays; the subscriptions themselves, which all engines share, are not "
    "counted. The values of an attribute are those that subscriptions name, so that far fewer than 12,800 "
    "count, and our k-index does not enumerate a condition over more than 16,384.",
    shape="From 1 to 40 million subscriptions, OpIndex and BE-Tree grow slowly and k-index steeply. By "
    "values, OpIndex stays at 0.2 GB, BE-Tree rises from 1 to 10 GB, and k-index runs out of "
    "memory.",
)  # fmt: skip
FIGURE_9 = Figure(
    "9",
    "Construction",
    (_BUILD_SIZE, _BUILD_PREDICATES),
    (
        Claim("OpIndex is built ten times as fast as k-index.", ratio("k-index", "OpIndex", 10),
              why=reasons.SHARED_BUILD),
        Claim("OpIndex is built a thousand times as fast as BE-Tree, which inserts one by one.",
              ratio("BE-Tree, one by one", "OpIndex", 1000, most=True),
              why=f"{reasons.INSERTS} {reasons.SHARED_BUILD}"),
        Claim("Directories and signatures cost little: OpIndex is built nearly as fast as OpIndex-BS.",
              similar("OpIndex", "OpIndex-BS", 1.3)),
    ),
    note="Everything from columns to a searchable index, normalisation included, which all engines share. "
    f"BE-Tree is built in one go, as our segments are; one by one only up to {SLOWLY_BUILT:,} "
    "subscriptions, as it is slow.",
    shape="BE-Tree lies three orders of magnitude above OpIndex and k-index one order, at every size. "
    "OpIndex lies slightly above OpIndex-BS.",
)  # fmt: skip
FIGURE_10 = Figure(
    "10",
    "Matching time",
    (
        Panel("(a) by subscriptions", "subscriptions", "us", sweep(_by_size, *SIZES), CURVES, log_x=True),
        _matching("(b) by most predicates Γmax", "most predicates", "most_predicates", 4, 8, 12, 16, 20),
        _matching("(c) by event size m", "most pairs of an event", "most_attributes", 20, 40, 80, 120),
        _matching("(d) by share of = (θ1)", "share of equalities", "equality", 0.2, 0.4, 0.6, 0.8, 1.0),
        _matching("(e) by value space σ", "values of an attribute", "values", *_VALUES, log_x=True),
        _matching("(f) by Zipf exponent", "Zipf exponent", "alpha", 0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    ),
    (
        Claim("(a) OpIndex is more than ten times as fast as k-index.",
              ratio("k-index", "OpIndex", 10, at=LAST), why=reasons.STRONG),
        Claim("(a) OpIndex is the fastest of the paper's indexes at every size.", first("OpIndex", PAPERS),
              why=reasons.STRONG),
        Claim("(a) Directories and signatures let it scale better than OpIndex-BS.",
              slower_growth("OpIndex", "OpIndex-BS")),
        Claim("(b) OpIndex scales best with the size of subscriptions; k-index grows with it.",
              slower_growth("OpIndex", "k-index", panel=1)),
        Claim("(b) BE-Tree degrades when subscriptions are long.",
              growth("BE-Tree", CLEAR, 1e9, "degrades", panel=1),
              why=reasons.LONG),
        Claim("(c) OpIndex scales with the size of events like BE-Tree.",
              similar_growth("OpIndex", "BE-Tree", 1.5, panel=2),
              why=reasons.PROBES),
        Claim("(c) k-index is the slowest and scales worst with the size of events.",
              slower_growth("OpIndex", "k-index", panel=2),
              why=reasons.PROBES),
        Claim("(d) More equalities make OpIndex faster.",
              growth("OpIndex", 0.0, 1 / CLEAR, "falls", panel=3)),
        Claim("(d) More equalities make k-index faster, more so than OpIndex.",
              slower_growth("k-index", "OpIndex", panel=3)),
        Claim("(e) The time of OpIndex does not depend on the number of values.",
              growth("OpIndex", 0.67, 1.5, "stable", panel=4)),
        Claim("(f) However skewed, OpIndex is the fastest of the paper's indexes.",
              first("OpIndex", PAPERS, panel=5),
              why=reasons.STRONG),
        Claim("(f) It scales better with skew than k-index.", slower_growth("OpIndex", "k-index", panel=5)),
    ),
    shape="OpIndex is lowest in every panel. k-index is highest and rises linearly with the length of "
    "subscriptions. All curves are flat over the number of values, fall with the share of "
    "equalities, and rise with the size of events.",
)  # fmt: skip
FIGURE_13 = Figure(
    "13",
    "Normal forms: DNF and CNF",
    _form_panels(),
    (
        Claim("(a) DNF scales better with the number of subscriptions than CNF.",
              slower_growth("OpIndex", "OpIndex", panels=(0, 2), names=("DNF", "CNF")),
              why=reasons.FIXED_COSTS),
        Claim("(b) CNF scales better with the number of clauses than DNF.",
              slower_growth("OpIndex", "OpIndex", panels=(3, 1), names=("CNF", "DNF"))),
    ),
    note="The paper has up to 20 million; these are written as text and parsed, so there are fewer here.",
    shape="Only OpIndex is drawn, because the other indexes cannot take these forms. Over subscriptions "
    "CNF rises faster than DNF; over clauses DNF rises faster.",
)  # fmt: skip
FIGURE_14 = Figure(
    "14",
    "The prefix operator",
    _PREFIX,
    (
        Claim("(a) Under 0.4 ms an event even if all predicates are prefixes.", below("OpIndex", 400, "µs")),
        Claim("(a) More prefixes take more time.", growth("OpIndex", CLEAR, 1e9, "grows"),
              why=reasons.PREFIXES),
        Claim("(b) The length of the prefix hardly matters; longer ones are slightly faster.",
              growth("OpIndex", 0.0, 1.1, "stable, slightly falling", panel=1)),
    ),
    note="The words are made up, as popular as Zipf's law says; the paper takes those of Wikipedia.",
    shape="Only OpIndex is drawn. Its time rises with the share of prefixes, to less than 0.4 ms, and "
    "is nearly flat over their length.",
)  # fmt: skip
