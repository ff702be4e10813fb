"""Test the command end to end: a figure of each paper, resumed, redrawn, stopped by its budget."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench.__main__ import main
from bench.figures import measure as measuring
from bench.figures.papers import PAPERS, chosen, jobs
from bench.figures.spec import Paper
from bench.figures.store import Store
from bench.run import Disagreement

SCALE = 1_000


def figures(folder: Path, *options: str) -> Result:
    fixed = ["--results", str(folder / "results"), "--out", str(folder / "page.html"), "--scale", str(SCALE)]
    return CliRunner().invoke(main, ["figures", *fixed, *options])


@pytest.fixture(autouse=True)
def _short_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "CLOCK_S", 0.001)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("opindex-8", "values of an attribute"),
        ("bestar-6", "values of a dimension"),
        ("presearch-13", "extra terms"),
        ("pstree-12", "match probability"),
    ],
)
def test_figure_of_each_paper_is_measured_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    paper = _one_point(PAPERS[name.partition("-")[0]])
    monkeypatch.setitem(PAPERS, paper.name, paper)
    result = figures(tmp_path, name)
    assert result.exit_code == 0, result.output
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert words in html
    assert f"python -m bench figures {name} --scale {SCALE}" in html
    assert html.count("<figure>") == len(paper.named()[name].panels)
    assert "<svg" in html
    assert 'class="verdict' in html
    assert "Not measured yet" not in html


def _one_point(paper: Paper) -> Paper:
    """Return the paper with one place on every x axis, for speed."""
    return replace(
        paper,
        figures=tuple(
            replace(figure, panels=tuple(replace(panel, points=panel.points[:1]) for panel in figure.panels))
            for figure in paper.figures
        ),
    )


def test_measured_points_are_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "pstree-table-3"
    assert figures(tmp_path, name).exit_code == 0
    before = (tmp_path / "page.html").read_text(encoding="utf-8")
    monkeypatch.setattr(measuring, "measure", _must_not)
    again = figures(tmp_path, name)
    assert again.exit_code == 0, again.output
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == before
    assert isinstance(figures(tmp_path, name, "--again").exception, AssertionError)


def test_truncated_result_is_measured_again(tmp_path: Path) -> None:
    work = jobs(chosen(("pstree-table-3",), SCALE))[0]
    store = Store(tmp_path)
    store.put(work, {"results": {}})
    assert store.get(work) is not None
    file = next(tmp_path.iterdir())
    file.write_text(file.read_text(encoding="utf-8")[:-5], encoding="utf-8")
    assert store.get(work) is None


def test_redrawing_measures_nothing_and_shows_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "measure", _must_not)
    result = figures(tmp_path, "bestar", "--redraw")
    assert result.exit_code == 0, result.output
    assert "0 of " in result.output
    assert "Not measured yet" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_spent_budget_leaves_points_for_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "measure", _must_not)
    result = figures(tmp_path, "pstree-6", "--budget", "0")
    assert result.exit_code == 0, result.output
    assert "run it again to measure the other 2" in result.output


def test_disagreeing_engines_fail_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = measuring.pairs_of

    def forgetful(index: Any, events: Any) -> Any:
        pairs, work = honest(index, events)
        engine = index.info()["engine"]
        return (pairs.slice(1) if engine == "opindex" else pairs), work

    monkeypatch.setattr(measuring, "pairs_of", forgetful)
    work = jobs(chosen(("pstree-12",), SCALE))[0]
    with pytest.raises(Disagreement, match="scan finds it, opindex does not"):
        measuring.measure(work)


def test_differing_best_matches_fail_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis import Index

    honest = Index.top_k

    def upside_down(index: Any, event: Any, k: int = 10) -> Any:
        found = honest(index, event, k)
        if index.info()["engine"] == "bestar" and k > 1:
            found.reverse()
        return found

    monkeypatch.setattr(Index, "top_k", upside_down)
    work = jobs(chosen(("bestar-9",), SCALE))[3]
    with pytest.raises(Disagreement):
        measuring.measure(work)


def test_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    result = figures(tmp_path, "opindex-99")
    assert result.exit_code == 2
    assert "there are opindex: opindex-1, opindex-7" in " ".join(result.output.split())


def _must_not(job: Any) -> Any:
    raise AssertionError(f"{job} was measured")
