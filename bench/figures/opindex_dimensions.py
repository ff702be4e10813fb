"""Define figures 1 and 7 of the OpIndex paper: the number of attributes, and the leaf capacity of BE-Tree."""

from __future__ import annotations

from functools import partial

from bench.figures import reasons
from bench.figures.claims import ahead, first, grown, slower_growth
from bench.figures.opindex import BETREE, CURVES, ENGINES, GROWN, INDEXES, ONE_BY_ONE, PAPERS, SLOWLY_BUILT
from bench.figures.spec import Claim, Curve, Figure, Job, Panel, job, sweep

N = SLOWLY_BUILT
DIMENSIONS = (20_000, 30_000, 40_000, 50_000, 60_000)
LEAVES = (5, 20, 50, 100, 150, 250)
_LEAF = "bestar:split=0:leaf={x}"


def _by_dimensions(dimensions: int) -> Job:
    return job("w1", N, (*ENGINES, ONE_BY_ONE), dimensions=dimensions)


def _by_leaf(leaves: tuple[int, ...]) -> Job:
    engines = (
        code.replace("{x}", str(leaf)) for leaf in leaves for code in (_LEAF, f"{_LEAF}:incremental=1")
    )
    return job("w1", N, tuple(engines))


_SWEEP = sweep(_by_dimensions, *DIMENSIONS)
_CAPACITY = tuple((leaf, _by_leaf(LEAVES)) for leaf in LEAVES)
_BUILT = partial(Panel, x_label="leaf capacity", points=_CAPACITY, log_x=True)
_TREES = (Curve(_LEAF, BETREE.label), Curve(f"{_LEAF}:incremental=1", GROWN.label))

FIGURE_1 = Figure(
    "1",
    "Construction and matching by number of attributes d",
    (
        Panel("(a) construction", "attributes", "build_s", _SWEEP, (*INDEXES, GROWN)),
        Panel("(b) matching", "attributes", "us", _SWEEP, CURVES),
    ),
    (
        Claim("(a) k-index is built much faster than BE-Tree, which inserts one by one.",
              ahead(GROWN.label, "k-index", "much faster")),
        Claim("(a) OpIndex is built faster than both.", first("OpIndex", ("k-index", GROWN.label)),
              why=reasons.SHARED_BUILD),
        Claim("(b) k-index scales better with the number of attributes than BE-Tree.",
              slower_growth("k-index", "BE-Tree", panel=1)),
        Claim("(b) OpIndex is the fastest of the paper's indexes for any number of attributes.",
              first("OpIndex", PAPERS, panel=1),
              why=reasons.STRONG),
    ),
    note="This is the paper's sweep over d, the number of dimensions of its table 3. Memory, where the text "
    "puts BE-Tree ahead of k-index, is in figure 8.",
    shape="From 20,000 to 60,000 attributes BE-Tree takes far longer to build than the others, and its "
    "matching time scales worse than that of k-index. OpIndex is lowest in both panels.",
)  # fmt: skip
FIGURE_7 = Figure(
    "7",
    "Leaf capacity of BE-Tree",
    (_BUILT("(a) construction", measure="build_s", curves=_TREES),
     _BUILT("(b) matching", measure="us", curves=_TREES)),
    (
        Claim("(a) With leaves of 150 instead of 5, construction one by one is 15 times as fast …",
              grown(GROWN.label, 1 / 15, start=5, end=150),
              why=f"{reasons.SMALL_PART} {reasons.SHARED_BUILD}"),
        Claim("(b) … and matching takes 15 times as long.",
              grown(GROWN.label, 15, panel=1, start=5, end=150),
              why=reasons.LEAVES),
    ),
    note="Both trees have the rigid split of BE-Tree; one is built in one go, the other one by one.",
    shape="Over a leaf capacity of 5 to 250 construction falls and matching rises: both by a factor of 15 "
    "between 5 and 150.",
)  # fmt: skip
