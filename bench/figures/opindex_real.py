"""Define figures 11 and 12 of the OpIndex paper: stand-ins for its search log and its products."""

from __future__ import annotations

from functools import partial

from bench.figures import reasons
from bench.figures.claims import ahead, first, growth, ratio, similar, slower_growth
from bench.figures.opindex import CURVES, ENGINES, INDEXES, PAPERS
from bench.figures.spec import Claim, Figure, Job, Panel, job, sweep
from bench.figures.verdicts import CLEAR

AOL = {"dimensions": 50_000, "alpha": 1.0, "size": 3, "spread": 1, "one_sided": 0.0}
EBAY = {"dimensions": 10_204, "alpha": 0.4}
_AOL_NOTE = (
    "Stand-in: neither the AOL log nor the tweets and Wikipedia pages are here. Drawn are 50,000 "
    "Zipf-distributed attributes (words), subscriptions of 2–4 of them, events of 5 (a tweet) or 123 (an "
    "article) words; = with one value, or an interval of 20 counts."
)
_EBAY_NOTE = (
    "Stand-in: the crawled Ebay products are not here. Drawn are 10,204 attributes of mildly skewed "
    "popularity (Zipf 0.4), = on W1 and sets (IN) on the shape of the advertisements, events of up to 20 "
    "attributes."
)

_IN_ONE_GO = (
    "The paper's BE-Tree inserts one by one. Our segments never change, so our tree is built in one go from "
    "all subscriptions. Figure 9 has the tree that grows one by one."
)


def _aol(size: int, equal: bool, event_size: int) -> Job:
    domain = {"equality": 1.0, "cardinality": 1} if equal else {"equality": 0.0, "cardinality": 20}
    return job("w4-sparse", size, ENGINES, **AOL, **domain, event_size=event_size)


def _aol_panels() -> tuple[Panel, ...]:
    sizes = (100_000, 300_000)
    kinds = [
        (True, 5, "tweets, ="),
        (False, 5, "tweets, ∈"),
        (True, 123, "articles, ="),
        (False, 123, "articles, ∈"),
    ]
    builds = (
        Panel(f"({at}) built, {name}", "subscriptions", "build_s",
              sweep(partial(_aol, equal=equal, event_size=5), *sizes), INDEXES)
        for at, equal, name in (("a", True, "="), ("b", False, "∈"))
    )  # fmt: skip
    matched = (
        Panel(f"({at}) {name}", "subscriptions", "us",
              sweep(partial(_aol, equal=equal, event_size=words), *sizes), CURVES)
        for at, (equal, words, name) in zip("cdef", kinds, strict=True)
    )  # fmt: skip
    return (*builds, *matched)


def _ebay(size: int, sets: bool, most: int = 8) -> Job:
    if sets:
        mix = {"members": 1.0, "equality": 0.0, "mean": most / 2 + 0.5, "most": most}
        return job("w4-ads", size, ENGINES, **EBAY, **mix)
    return job("w1", size, ENGINES, **EBAY, equality=1.0, most_predicates=most, most_attributes=20)


def _ebay_panels() -> tuple[Panel, ...]:
    sizes, predicates = (100_000, 300_000), (4, 12, 20)
    panels = []
    for letters, sets, sign in (("ace", False, "="), ("bdf", True, "∈")):
        by_size = sweep(partial(_ebay, sets=sets), *sizes)
        by_most = sweep(partial(_ebay, 100_000, sets), *predicates)
        panels += [
            Panel(f"({letters[0]}) built, {sign}", "subscriptions", "build_s", by_size, INDEXES),
            Panel(f"({letters[1]}) {sign}, by N", "subscriptions", "us", by_size, CURVES),
            Panel(f"({letters[2]}) {sign}, by Γmax", "most predicates", "us", by_most, CURVES),
        ]
    return tuple(sorted(panels, key=lambda panel: panel.title))


FIGURE_11 = Figure(
    "11",
    "Search log (AOL) against tweets and articles",
    _aol_panels(),
    (
        Claim("(c) Tweets, =: OpIndex is 4–9 times as fast as BE-Tree.",
              ratio("BE-Tree", "OpIndex", 4, panel=2),
              why=reasons.STRONG),
        Claim("(c) Tweets, =: two orders of magnitude faster than k-index.",
              ratio("k-index", "OpIndex", 100, panel=2),
              why=reasons.STRONG),
        Claim("(e) Articles, =: OpIndex is still the fastest of the paper's indexes.",
              first("OpIndex", PAPERS, panel=4),
              why=reasons.PROBES),
        Claim("(f) Articles, ∈: OpIndex is still the fastest of the paper's indexes.",
              first("OpIndex", PAPERS, panel=5),
              why=reasons.PROBES),
        Claim("(a) With = alone k-index is built about as fast as OpIndex.",
              similar("k-index", "OpIndex", 1.3)),
        Claim("(b) With intervals k-index takes longer to build.",
              ahead("k-index", "OpIndex", "longer", panel=1),
              why=reasons.CELLS),
        Claim("(a) BE-Tree takes two orders of magnitude longer to build than OpIndex.",
              ratio("BE-Tree", "OpIndex", 100), why=_IN_ONE_GO),
    ),
    note=_AOL_NOTE,
    shape="BE-Tree is built two orders of magnitude more slowly than OpIndex; k-index is close to "
    "OpIndex with equalities and slower with intervals. OpIndex is lowest in all four panels of "
    "matching.",
)  # fmt: skip
FIGURE_12 = Figure(
    "12",
    "Products (Ebay)",
    _ebay_panels(),
    (
        Claim("(c) =: OpIndex is the fastest of the paper's indexes at every size.",
              first("OpIndex", PAPERS, panel=2),
              why=reasons.STRONG),
        Claim("(d) ∈: so it is with sets.", first("OpIndex", PAPERS, panel=3),
              why=reasons.STRONG),
        Claim("(a) =: k-index is built about as fast as OpIndex.", similar("k-index", "OpIndex", 1.3)),
        Claim("(a) =: BE-Tree takes orders of magnitude longer to build.",
              ratio("BE-Tree", "OpIndex", 100), why=_IN_ONE_GO),
        Claim("(e) =: the longer the subscriptions, the larger the lead of OpIndex over BE-Tree.",
              slower_growth("OpIndex", "BE-Tree", panel=4)),
        Claim("(f) ∈: longer subscriptions slow BE-Tree down.",
              growth("BE-Tree", CLEAR, 1e9, "grows", panel=5),
              why=reasons.LONG),
    ),
    note=_EBAY_NOTE,
    shape="OpIndex and k-index are built in similar times, and BE-Tree takes orders of magnitude "
    "longer. OpIndex is lowest in all panels of matching, and BE-Tree rises clearly with the "
    "length of subscriptions that use sets.",
)  # fmt: skip
