"""Test the specs: every figure of the papers is there, and everything it needs exists."""

from __future__ import annotations

import pytest

from bench.figures.measure import KINDS, plan_of
from bench.figures.papers import PAPERS, chosen, jobs
from bench.figures.spec import Curve, Figure, Job, Panel, job
from bench.figures.verdicts import FAILS, HOLDS, OPEN, ORDER

WANTED = {
    "opindex": {"1"} | {str(number) for number in range(7, 15)},
    "bestar": {str(number) for number in range(6, 10)} | {"Table II"},
    "presearch": {str(number) for number in range(11, 18)},
    "pstree": {str(number) for number in range(5, 16)} | {"Table 2", "Table 3"},
    "yandex": {"8", "9", "10"},
}
OWN_KINDS = ("intervals", "service")  # their results are not by engine
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
        if work.kind not in OWN_KINDS:
            assert [spec.known().text for spec in plan_of(work).specs()] == list(work.engines)


@pytest.mark.parametrize(("name", "figure"), FIGURES, ids=IDS)
def test_every_curve_is_measured_somewhere_and_hybrid_is_among_them(name: str, figure: Figure) -> None:
    for panel in figure.panels:
        for curve in panel.curves:
            measured = [curve.engine_at(x) in work.engines for x, work in panel.points]
            assert any(measured) or panel.jobs()[0].kind in OWN_KINDS, (panel.title, curve.label)
    engines = {engine for work in figure.jobs() for engine in work.engines}
    without = {"opindex-7", "bestar-Table II", "presearch-15", "pstree-Table 3", "yandex-8", "yandex-9"}
    assert "hybrid" in engines or f"{name}-{figure.number}" in without


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
        assert claim.judge(data).verdict in (HOLDS, ORDER, FAILS), claim.text
        assert claim.judge([{} for _ in data]).verdict == OPEN


def _measured(curve: Curve, x: float | str, work: Job) -> bool:
    return work.kind in OWN_KINDS or curve.engine_at(x) in work.engines


def test_equal_work_is_one_job() -> None:
    assert job("w1", 10, ("scan",), most_predicates=8).key() == job("w1", 10, ("scan",)).key()
    assert job("w1", 10, ("scan",), most_predicates=4).key() != job("w1", 10, ("scan",)).key()
    everything = jobs(chosen((), 1))
    assert len(everything) == len({work.key() for work in everything})


def test_scaled_panel_has_fewer_subscriptions_also_on_its_axis() -> None:
    work = job("w1", 100_000, ("scan",))
    panel = Panel("", "subscriptions", "us", ((100_000, work), (7, work)), ()).scaled(10)
    assert [(x, small.subscriptions) for x, small in panel.points] == [(10_000, 10_000), (7, 10_000)]
    assert work.scaled(1) == work


@pytest.mark.parametrize("name", ["nobody", "opindex-2", "bestar-table-2", "7"])
def test_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' is neither a paper nor a figure") as refused:
        chosen(("opindex", name), 1)
    assert "bestar: bestar-table-ii, bestar-6" in str(refused.value)


def test_papers_and_figures_can_be_chosen() -> None:
    papers = chosen(("BESTAR-Table-II", "opindex-11", "yandex"), 1)
    assert [name for paper in papers for name in paper.named()] == [
        "opindex-11", "bestar-table-ii", "yandex-8", "yandex-9", "yandex-10",
    ]  # fmt: skip
    assert len(chosen((), 1)) == len(PAPERS)


def test_values_of_the_paper_belong_to_curves_and_move_with_their_axis() -> None:
    for _, figure in FIGURES:
        for panel in figure.panels:
            labels = {curve.label for curve in panel.curves}
            assert set(panel.paper) <= labels
            small = panel.scaled(10)
            places = {x for x, _ in small.points}
            assert all(x in places for values in small.paper.values() for x in values), panel.title


@pytest.mark.parametrize(("name", "figure"), FIGURES, ids=IDS)
def test_figure_describes_the_shape_in_the_paper(name: str, figure: Figure) -> None:
    assert figure.shape or figure.reason
