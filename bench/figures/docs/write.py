"""Write docs/papers from measured points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.figures.docs import tables
from bench.figures.docs.markdown import PICTURES, Known, index_part, paper_part, skeleton, with_generated
from bench.figures.docs.picture import picture
from bench.figures.spec import Paper
from bench.figures.verdicts import FAILS

INDEX = "README"


def write_docs(
    folder: Path, measured: Sequence[Paper], results: Mapping[str, Any], scale: int, every: Sequence[Paper]
) -> list[str]:
    """Keep the new points, then redraw all pictures and pages from the kept ones; return the new names.

    ``measured`` are the chosen papers at this ``scale``, and ``every`` all papers at their full size. A
    figure with missing points keeps its old table.
    """
    new = _keep(folder / tables.FOLDER, measured, results, scale, [name for p in every for name in p.named()])
    known = known_figures(folder, every)
    for paper in every:
        for name in paper.named():
            if name in known:
                _write(folder / PICTURES / f"{name}.svg", picture(known[name].figure, known[name].data))
        _rewrite(folder / f"{paper.name}.md", paper.title, paper_part(paper, known))
    _rewrite(folder / f"{INDEX}.md", "The papers", index_part(every, known))
    return new


def known_figures(folder: Path, papers: Iterable[Paper]) -> Known:
    """Return the kept points of every figure that has some, with their record, by name."""
    data = folder / tables.FOLDER
    records, kept = tables.read_records(data), {}
    named = {name: figure for paper in papers for name, figure in paper.named().items()}
    for name, whole in named.items():
        if name in records:
            figure = whole.scaled(records[name]["scale"])
            points = tables.read_points(data / f"{name}.csv", figure)
            kept[name] = tables.Kept(figure, points, records[name])
    return kept


def unexplained(known: Known) -> list[str]:
    """Return the claims that do not hold and have no explanation, each with the name of its figure."""
    return [
        f"{name}: {claim.text}"
        for name, (figure, data, _) in known.items()
        for claim, answer in zip(figure.claims, figure.answers(data), strict=True)
        if answer.verdict == FAILS and not claim.why
    ]


def _keep(
    folder: Path, papers: Iterable[Paper], results: Mapping[str, Any], scale: int, order: Iterable[str]
) -> list[str]:
    """Write the points and records of the figures that are measured completely; return their names."""
    records, new = tables.read_records(folder), []
    for paper in papers:
        for name, figure in paper.named().items():
            if figure.panels and all(job.key() in results for job in figure.jobs()):
                tables.write_points(folder / f"{name}.csv", figure, figure.series(results))
                records[name] = tables.record_of(figure, results, scale)
                new.append(name)
    if new:
        tables.write_records(folder, records, order)
    return new


def _rewrite(file: Path, title: str, part: str) -> None:
    """Replace the generated part of a page; the rest is written by hand and stays."""
    page = file.read_text(encoding="utf-8") if file.exists() else skeleton(title)
    _write(file, with_generated(page, part))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
