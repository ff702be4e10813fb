"""List all papers, and choose among them and their figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bench.figures import opindex, pstree
from bench.figures.bestar import BESTAR_PAPER
from bench.figures.opindex_real import FIGURE_11, FIGURE_12
from bench.figures.presearch import PRESEARCH_PAPER
from bench.figures.pstree_tables import FIGURE_15, TABLE_2, TABLE_3
from bench.figures.spec import Job, Paper

OPINDEX_PAPER = Paper(
    "opindex",
    "OpIndex",
    "An index for very many attributes: a pivot attribute, then lists by operator. The paper has 1 to 40 "
    f"million subscriptions on 128 GB; here mostly {opindex.N:,}, at most 1,000,000. 20,000 attributes, 1–8 "
    "predicates, events of up to 40 attributes, 40 % equalities, 200 values unless varied.",
    (
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

PAPERS = {paper.name: paper for paper in (OPINDEX_PAPER, BESTAR_PAPER, PRESEARCH_PAPER, PSTREE_PAPER)}


def chosen(names: str, only: str, scale: int) -> list[Paper]:
    """Return the papers in a comma-separated list (all if empty), with only these figures if any.

    For an unknown name, raise a ``ValueError`` that lists the known ones.
    """
    papers = [_paper(name) for name in _split(names)] or list(PAPERS.values())
    wanted = _split(only)
    for number in wanted:
        if not any(number in _numbers(paper) for paper in papers):
            known = "; ".join(f"{paper.name}: {', '.join(_numbers(paper).values())}" for paper in papers)
            raise ValueError(f"{number!r} is no figure here; there are {known}")
    kept = (_only(paper, wanted) for paper in papers)
    return [_scaled(paper, scale) for paper in kept if paper.figures]


def jobs(papers: Iterable[Paper]) -> list[Job]:
    """Return every job to measure, once."""
    return list(dict.fromkeys(job for paper in papers for figure in paper.figures for job in figure.jobs()))


def _split(text: str) -> list[str]:
    return [part.strip().casefold() for part in text.split(",") if part.strip()]


def _paper(name: str) -> Paper:
    if name not in PAPERS:
        raise ValueError(f"{name!r} is not one of {', '.join(PAPERS)}")
    return PAPERS[name]


def _numbers(paper: Paper) -> dict[str, str]:
    return {figure.number.casefold(): figure.number for figure in paper.figures}


def _only(paper: Paper, wanted: list[str]) -> Paper:
    figures = (figure for figure in paper.figures if not wanted or figure.number.casefold() in wanted)
    return replace(paper, figures=tuple(figures))


def _scaled(paper: Paper, scale: int) -> Paper:
    return replace(paper, figures=tuple(figure.scaled(scale) for figure in paper.figures))
