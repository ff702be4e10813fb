"""List all papers, and choose among them and their figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bench.figures import opindex, pstree
from bench.figures.bestar import BESTAR_PAPER
from bench.figures.opindex_dimensions import FIGURE_1, FIGURE_7
from bench.figures.opindex_real import FIGURE_11, FIGURE_12
from bench.figures.presearch import PRESEARCH_PAPER
from bench.figures.pstree_tables import FIGURE_15, TABLE_2, TABLE_3
from bench.figures.spec import Job, Paper
from bench.figures.yandex import YANDEX_PAPER

OPINDEX_PAPER = Paper(
    "opindex",
    "OpIndex",
    "An index for very many attributes: a pivot attribute, then lists by operator. The paper has 1 to 40 "
    f"million subscriptions on 128 GB; here mostly {opindex.N:,}, at most 1,000,000. 20,000 attributes, 1–8 "
    "predicates, events of up to 40 attributes, 40 % equalities, 200 values unless varied.",
    (
        FIGURE_1,
        FIGURE_7,
        opindex.FIGURE_8,
        opindex.FIGURE_9,
        opindex.FIGURE_10,
        FIGURE_11,
        FIGURE_12,
        opindex.FIGURE_13,
        opindex.FIGURE_14,
    ),
)

PSTREE_PAPER = Paper(
    "pstree",
    "PS-Tree",
    "Predicate spaces: PSTBloom has one access predicate and signatures, PSTHash two access predicates "
    f"hashed together. {pstree.N:,} subscriptions (the paper: 1 million, up to 100 million), 100 or 30,000 "
    "dimensions, 100 values, 5 predicates, 20 % equalities, events of 30 pairs unless varied. BE-Tree is "
    "our BE*-Tree with the rigid split; Propagation has no counterpart here.",
    (*pstree.FIGURES, FIGURE_15, TABLE_2, TABLE_3),
)

_ALL = (OPINDEX_PAPER, BESTAR_PAPER, PRESEARCH_PAPER, PSTREE_PAPER, YANDEX_PAPER)
PAPERS = {paper.name: paper for paper in _ALL}


def chosen(names: Sequence[str], scale: int) -> list[Paper]:
    """Return the named papers (``opindex``) and figures (``opindex-7``), or everything if none is named.

    For an unknown name, raise a ``ValueError`` that lists the known ones.
    """
    wanted = {name.casefold() for name in names} or set(PAPERS)
    known = {paper.name: list(paper.named()) for paper in PAPERS.values()}
    for name in sorted(wanted):
        if name not in known and not any(name in figures for figures in known.values()):
            lists = "; ".join(f"{paper}: {', '.join(figures)}" for paper, figures in known.items())
            raise ValueError(f"{name!r} is neither a paper nor a figure; there are {lists}")
    kept = (_only(paper, wanted) for paper in PAPERS.values())
    return [paper.scaled(scale) for paper in kept if paper.figures]


def jobs(papers: Iterable[Paper]) -> list[Job]:
    """Return every job to measure, once."""
    return list(dict.fromkeys(job for paper in papers for figure in paper.figures for job in figure.jobs()))


def _only(paper: Paper, wanted: set[str]) -> Paper:
    if paper.name in wanted:
        return paper
    return replace(paper, figures=tuple(figure for name, figure in paper.named().items() if name in wanted))
