"""Test the specs: every figure of the papers is there, and everything it needs exists."""

from __future__ import annotations

import pytest

from bench.figures.claims import HOLDS, NOT_SO, OPEN, WEAKER
from bench.figures.measure import KINDS, plan_of
from bench.figures.papers import PAPERS, chosen, jobs
from bench.figures.spec import Curve, Figure, Job, Panel, job

WANTED = {
    "opindex": {str(number) for number in range(8, 15)},
    "bestar": {str(number) for number in range(6, 10)} | {"Table II"},
    "presearch": {str(number) for number in range(11, 18)},
    "pstree": {str(number) for number in range(5, 16)} | {"Table 2", "Table 3"},
}
FIGURES = [(paper.name, figure) for paper in PAPERS.values() for figure in paper.figures]
IDS = [f"{name}-{figure.number}" for name, figure in FIGURES]


@pytest.mark.parametrize("name", WANTED)
def test_every_figure_of_the_paper_is_drawn_or_excused(name: str) -> None:
    figures = {figure.number: figure for figure in PAPERS[name].figures}
    assert set(figures) == WANTED[name]
    assert all(bool(figure.panels) != bool(figure.reason) for figure in figures.values())


@pytest.mark.parametrize(("name", "figure"), FIGURES, ids=IDS)
def test_every_job_can_be_run(name: str, figure: Figure) -> None:
    for work in figure.jobs():
        assert work.kind in KINDS
        if work.kind != "intervals":
            assert [spec.known().text for spec in plan_of(work).specs()] == list(work.engines)


@pytest.mark.parametrize(("name", "figure"), FIGURES, ids=IDS)
def test_every_curve_is_measured_somewhere_and_hybrid_is_among_them(name: str, figure: Figure) -> None:
    for panel in figure.panels:
        for curve in panel.curves:
            measured = [curve.engine_at(x) in work.engines for x, work in panel.points]
            assert any(measured) or panel.jobs()[0].kind == "intervals", (panel.title, curve.label)
    engines = {engine for work in figure.jobs() for engine in work.engines}
    inside_one_engine = {"bestar-Table II", "presearch-15", "pstree-Table 3"}
    assert "hybrid" in engines or f"{name}-{figure.number}" in inside_one_engine


@pytest.mark.parametrize(("name", "figure"), FIGURES, ids=IDS)
def test_every_claim_finds_the_curves_and_places_that_it_is_about(name: str, figure: Figure) -> None:
    data = [
        {
            curve.label: {
                x: 1.0 + at for at, (x, work) in enumerate(panel.points) if _measured(curve, x, work)
            }
            for curve in panel.curves
        }
        for panel in figure.panels
    ]
    for claim in figure.claims:
        assert claim.judge(data).verdict in (HOLDS, WEAKER, NOT_SO), claim.text
        assert claim.judge([{} for _ in data]).verdict == OPEN


def _measured(curve: Curve, x: float | str, work: Job) -> bool:
    return work.kind == "intervals" or curve.engine_at(x) in work.engines


def test_equal_work_is_one_job() -> None:
    assert job("w1", 10, ("scan",), most_predicates=8).key() == job("w1", 10, ("scan",)).key()
    assert job("w1", 10, ("scan",), most_predicates=4).key() != job("w1", 10, ("scan",)).key()
    everything = jobs(chosen("", "", 1))
    assert len(everything) == len({work.key() for work in everything})


def test_scaled_panel_has_fewer_subscriptions_also_on_its_axis() -> None:
    work = job("w1", 100_000, ("scan",))
    panel = Panel("", "subscriptions", "us", ((100_000, work), (7, work)), ()).scaled(10)
    assert [(x, small.subscriptions) for x, small in panel.points] == [(10_000, 10_000), (7, 10_000)]
    assert work.scaled(1) == work


@pytest.mark.parametrize(
    ("names", "only", "message"),
    [
        ("opindex,nobody", "", "'nobody' is not one of opindex, bestar, presearch, pstree"),
        ("bestar", "3", "'3' is no figure here; there are bestar: Table II, 6, 7, 8, 9"),
    ],
)
def test_unknown_paper_or_figure_lists_the_known_ones(names: str, only: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        chosen(names, only, 1)


def test_figures_can_be_chosen() -> None:
    papers = chosen("", "table ii, 11", 1)
    assert {(paper.name, figure.number) for paper in papers for figure in paper.figures} == {
        ("bestar", "Table II"), ("opindex", "11"), ("presearch", "11"), ("pstree", "11"),
    }  # fmt: skip
