"""Test docs/papers: pictures and tables from points, pages that keep what was written by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.figures.docs import tables
from bench.figures.docs.markdown import BEGIN, END, NOT_YET, with_generated
from bench.figures.docs.picture import picture
from bench.figures.docs.write import known_figures, unexplained, write_docs
from bench.figures.papers import PAPERS
from bench.figures.spec import Claim, Data, Figure
from bench.figures.store import Store
from bench.figures.verdicts import OPEN

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs" / "papers"
NAMED = {name: figure for paper in PAPERS.values() for name, figure in paper.named().items()}
DRAWN = {name: figure for name, figure in NAMED.items() if figure.panels}
MACHINE = {"processor": "abacus", "cores": 2, "memory_gb": 8.0, "system": "Linux", "load": 0.1}


def points(figure: Figure) -> Data:
    """Return a value for every place of every curve."""
    return [
        {
            curve.label: {x: 10.0 * (number + 1) + at for at, (x, _) in enumerate(panel.points)}
            for number, curve in enumerate(panel.curves)
        }
        for panel in figure.panels
    ]


def results(figure: Figure) -> dict[str, Any]:
    """Return the results that a store would have for the figure."""
    found: dict[str, Any] = {}
    for panel in figure.panels:
        for number, curve in enumerate(panel.curves):
            for at, (x, job) in enumerate(panel.points):
                kept = found.setdefault(job.key(), _result())["results"].setdefault(curve.engine_at(x), {})
                kept[curve.measure or panel.measure] = 10.0 * (number + 1) + at
    return found


def _result() -> dict[str, Any]:
    about = {"date": "2026-11-18", "machine": MACHINE, "versions": {"python": "3"}, "commit": "abc"}
    return {"results": {}, "seconds": 30.0, **about}


# -- pictures and tables ---------------------------------------------------------------------------------
@pytest.mark.parametrize("name", DRAWN)
def test_picture_is_small_complete_xml_without_references(name: str) -> None:
    figure = DRAWN[name]
    svg = picture(figure, points(figure))
    root = ElementTree.fromstring(svg)
    texts = {"".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {panel.title for panel in figure.panels} <= texts
    assert len(svg.encode()) < 40_000
    assert not re.search(r"href|url\(|<script|<style|<image", svg)
    assert 'fill="#ffffff"' in svg


def test_picture_marks_the_values_of_the_paper() -> None:
    figure = DRAWN["pstree-table-2"]
    without = replace(figure, panels=tuple(replace(panel, paper={}) for panel in figure.panels))
    assert "stated in the paper" in picture(figure, points(figure))
    assert "stated in the paper" not in picture(without, points(figure))


@pytest.mark.parametrize("name", DRAWN)
def test_points_survive_the_table(tmp_path: Path, name: str) -> None:
    figure = DRAWN[name]
    tables.write_points(tmp_path / "points.csv", figure, points(figure))
    assert tables.read_points(tmp_path / "points.csv", figure) == points(figure)


def test_table_of_another_figure_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    tables.write_points(file, DRAWN["pstree-6"], points(DRAWN["pstree-6"]))
    with pytest.raises(ValueError, match="Figure 8 has no curve"):
        tables.read_points(file, DRAWN["bestar-8"])


# -- pages -----------------------------------------------------------------------------------------------
def test_generated_part_is_replaced_and_the_rest_is_kept() -> None:
    page = f"by hand\n{BEGIN}\nold\n{END}\nalso by hand\n"
    once = with_generated(page, "new")
    assert once == f"by hand\n{BEGIN}\n\nnew\n\n{END}\nalso by hand\n"
    assert with_generated(once, "new") == once
    with pytest.raises(ValueError, match="lacks the line"):
        with_generated("by hand", "new")


def test_docs_have_picture_table_verdicts_and_origin(tmp_path: Path) -> None:
    (tmp_path / "pstree.md").write_text(f"# By hand\n\n{BEGIN}\n{END}\n\nThe end.\n", encoding="utf-8")
    bare = tuple(Claim(claim.text, claim.judge) for claim in DRAWN["pstree-6"].claims)
    figure = replace(DRAWN["pstree-6"], claims=bare)
    every = [replace(PAPERS["pstree"], figures=(figure,))]
    small = every[0].scaled(10)
    new = write_docs(tmp_path, [small], results(small.figures[0]), 10, every)
    page = (tmp_path / "pstree.md").read_text(encoding="utf-8")
    assert new == ["pstree-6"]
    assert page.startswith("# By hand\n")
    assert page.endswith("The end.\n")
    assert "](pictures/pstree-6.svg)" in page
    assert "`python -m bench figures pstree-6 --scale 10`: w4-dense, w4-sparse, 3,000 to 100,000" in page
    assert "2026-11-18, abacus, 2 cores, 8.0 GB, commit abc" in page
    assert page.count("**does not hold**") == 5
    assert "| [PS-Tree](pstree.md) | 1 of 1 |" in (tmp_path / "README.md").read_text(encoding="utf-8")
    known = known_figures(tmp_path, every)
    assert list(known) == ["pstree-6"]
    assert len(unexplained(known)) == 5


def test_figure_without_points_is_announced(tmp_path: Path) -> None:
    write_docs(tmp_path, [], {}, 1, list(PAPERS.values()))
    assert NOT_YET in (tmp_path / "pstree.md").read_text(encoding="utf-8")


def test_docs_are_rebuilt_from_their_tables(tmp_path: Path) -> None:
    every = list(PAPERS.values())
    write_docs(tmp_path, [PAPERS["yandex"]], _results_of("yandex"), 1, every)
    before = _texts(tmp_path)
    for file in (*tmp_path.rglob("*.svg"), *tmp_path.rglob("*.md")):
        file.unlink()
    assert write_docs(tmp_path, [], {}, 1, every) == []
    assert _texts(tmp_path) == before


def test_figure_with_missing_points_keeps_its_old_table(tmp_path: Path) -> None:
    every, measured = list(PAPERS.values()), _results_of("yandex")
    write_docs(tmp_path, [PAPERS["yandex"]], measured, 1, every)
    before = _texts(tmp_path)
    service = next(key for key in measured if key.startswith("service"))
    assert write_docs(tmp_path, [PAPERS["yandex"]], {service: measured[service]}, 1, every) == [
        "yandex-8", "yandex-9",
    ]  # fmt: skip
    assert _texts(tmp_path) == before


def _results_of(paper: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for figure in PAPERS[paper].figures:
        for key, result in results(figure).items():
            kept = found.setdefault(key, _result())["results"]
            for engine, measures in result["results"].items():
                kept.setdefault(engine, {}).update(measures)
    return found


def _texts(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text(encoding="utf-8") for file in folder.rglob("*.*")}


def test_explanation_stands_beside_a_verdict_other_than_holds(tmp_path: Path) -> None:
    figure = DRAWN["pstree-table-3"]
    claims = tuple(Claim(claim.text, claim.judge, "Because of us.") for claim in figure.claims)
    paper = replace(PAPERS["pstree"], figures=(replace(figure, claims=claims),))
    write_docs(tmp_path, [paper], results(figure), 1, [paper])
    rows = [row for row in (tmp_path / "pstree.md").read_text(encoding="utf-8").split("\n") if "**" in row]
    assert len(rows) == len(claims)
    for row in rows:
        assert ("Because of us." in row) != ("**holds**" in row)


def test_command_writes_docs_from_stored_points(tmp_path: Path) -> None:
    figure, store = DRAWN["pstree-table-3"], Store(tmp_path / "results")
    for job in figure.jobs():
        store.put(job, results(figure)[job.key()])
    options = ["--results", str(store.folder), "--out", str(tmp_path / "page.html")]
    command = ["figures", "pstree-table-3", "--redraw", *options, "--docs", str(tmp_path / "docs")]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert "1 figures kept" in done.output
    assert (tmp_path / "docs" / "data" / "pstree-table-3.csv").exists()


def test_page_without_marks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "opindex.md").write_text("by hand", encoding="utf-8")
    command = ["figures", "--redraw", "--out", str(tmp_path / "page.html"), "--docs", str(tmp_path)]
    done = CliRunner().invoke(main, [*command, "--results", str(tmp_path)])
    assert done.exit_code == 1
    assert "lacks the line" in done.output


# -- the committed folder --------------------------------------------------------------------------------
def test_every_paper_has_a_page_with_a_generated_part() -> None:
    for name in (*PAPERS, "README"):
        page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        assert page.count(BEGIN) == page.count(END) == 1, name


def test_every_committed_file_belongs_to_a_figure_and_has_its_picture() -> None:
    recorded = set(tables.read_records(DOCS / "data"))
    assert recorded <= set(DRAWN)
    assert {file.stem for file in DOCS.glob("data/*.csv")} == recorded
    assert {file.stem for file in DOCS.glob("pictures/*.svg")} == recorded
    assert all(file.stat().st_size < 40_000 for file in DOCS.glob("pictures/*.svg"))


def test_committed_pages_follow_from_the_committed_tables(tmp_path: Path) -> None:
    """A change of a claim or of the drawing needs a redraw."""
    if not tables.read_records(DOCS / "data"):
        pytest.skip("no figure is measured yet")
    for file in DOCS.rglob("*.*"):
        copy = tmp_path / file.relative_to(DOCS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    write_docs(tmp_path, [], {}, 1, list(PAPERS.values()))
    assert _texts(tmp_path) == _texts(DOCS), "run python -m bench figures --redraw --docs docs/papers"


def test_every_claim_has_its_figure_and_every_failed_one_an_explanation() -> None:
    known = known_figures(DOCS, PAPERS.values())
    assert [name for name, figure in NAMED.items() if figure.claims and not figure.panels] == []
    answers = {name: kept.figure.answers(kept.data) for name, kept in known.items()}
    assert [name for name, found in answers.items() if OPEN in {answer.verdict for answer in found}] == []
    assert unexplained(known) == []


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_every_path_on_the_page_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
    named = re.findall(r"`((?:src|bench|tests|docs|tools)/[\w./-]+)`", text)
    assert [path for path in named if not (ROOT / path).exists()] == []
