"""All papers, and the choice among them and their figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bench.figures.bestar import BESTAR_PAPER
from bench.figures.opindex import OPINDEX_PAPER
from bench.figures.presearch import PRESEARCH_PAPER
from bench.figures.pstree import PSTREE_PAPER
from bench.figures.spec import Job, Paper

PAPERS = {paper.name: paper for paper in (OPINDEX_PAPER, BESTAR_PAPER, PRESEARCH_PAPER, PSTREE_PAPER)}


def chosen(names: str, only: str, scale: int) -> list[Paper]:
    """The papers in a comma-separated list (all if empty), with these figures alone if any.

    ``ValueError`` for an unknown one lists those there are.
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
    """Everything that must be measured, each job once."""
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
