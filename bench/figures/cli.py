"""Provide ``python -m bench figures``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bench.figures.spec import Job, Paper
    from bench.figures.store import Store


@click.command("figures")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--scale", type=click.IntRange(1), default=1, help="Divide the number of subscriptions by this."
)
@click.option(
    "--budget",
    type=click.FloatRange(0),
    default=None,
    help="Minutes; points not measured by then are left out.",
)
@click.option("--redraw", is_flag=True, help="Measure nothing; draw the stored points.")
@click.option(
    "--again", is_flag=True, help="Measure everything again, for example after a change of an engine."
)
@click.option(
    "--results", type=click.Path(path_type=Path, file_okay=False), default=None,
    help="Folder of the measured points.  [default: bench/results/figures]",
)  # fmt: skip
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("build/report.html"),
    help="HTML file to write.",
)
@click.option(
    "--docs", type=click.Path(path_type=Path, file_okay=False), default=None,
    help="Also write pictures, tables and verdicts of the figures into this folder, as docs/papers.",
)  # fmt: skip
def figures_command(
    names: tuple[str, ...],
    scale: int,
    budget: float | None,
    redraw: bool,
    again: bool,
    results: Path | None,
    out: Path,
    docs: Path | None,
) -> None:
    """Redraw the figures of the papers with our engines, as one HTML page.

    A NAME is a paper (opindex, bestar, presearch, pstree, yandex) or one of its figures (opindex-7,
    pstree-table-2). Without names, all figures are drawn.

    Every measured point is kept. A stopped run continues where it was, and only --again measures points
    again.
    """
    from bench import overview
    from bench.figures.page import write
    from bench.figures.pages import sections
    from bench.figures.papers import chosen, jobs
    from bench.figures.store import FOLDER, Store
    from bench.run import Disagreement

    try:
        papers = chosen(names, scale)
    except ValueError as unknown:
        raise click.BadParameter(str(unknown)) from None
    store, wanted = Store(results or FOLDER), jobs(papers)
    try:
        left = 0 if redraw else measured(store, wanted, budget, again=again)
    except Disagreement as different:
        raise click.ClickException(f"the engines disagree: {different}") from None
    known = store.all(wanted)
    write(overview.sections(sections(papers, known, scale), store.folder.parent), out)
    click.echo(f"{len(known)} of {len(wanted)} points drawn in {out}")
    if docs is not None:
        _write_docs(docs, papers, known, scale)
    if left:
        click.echo(f"the time was spent; run it again to measure the other {left}")


def _write_docs(folder: Path, papers: list[Paper], known: dict[str, Any], scale: int) -> None:
    from bench.figures.docs.write import known_figures, unexplained, write_docs
    from bench.figures.papers import PAPERS

    every = list(PAPERS.values())
    try:
        new = write_docs(folder, papers, known, scale, every)
        missing = unexplained(known_figures(folder, every))
    except ValueError as wrong:
        raise click.ClickException(str(wrong)) from None
    click.echo(f"{len(new)} figures kept in {folder}: {', '.join(new) or 'none is measured completely'}")
    if missing:
        click.echo("these claims do not hold, and their `why` is empty:\n  " + "\n  ".join(missing))


def measured(store: Store, wanted: list[Job], budget: float | None, *, again: bool = False) -> int:
    """Measure the jobs that the store lacks, or all of them ``again``; return the number left over."""
    from tqdm import tqdm

    from bench.figures.measure import measure

    todo = [job for job in wanted if again or store.get(job) is None]
    deadline = time.monotonic() + 60 * budget if budget is not None else None
    with tqdm(
        total=sum(map(effort, todo)), unit="", bar_format=_BAR, dynamic_ncols=True, disable=not todo
    ) as bar:
        for at, job in enumerate(todo):
            if deadline is not None and time.monotonic() > deadline:
                return len(todo) - at
            bar.set_description_str(f"{at + 1}/{len(todo)} {job.workload} {job.subscriptions:,}")
            store.put(job, measure(job))
            bar.update(effort(job))
    return 0


_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed} so far, about {remaining} left"


def effort(job: Job) -> float:
    """Return the rough duration of a job, in arbitrary units: a part per engine, and one per subscription."""
    if job.kind == "service":
        return 120.0
    per_engine = 1.2 + job.subscriptions / 100_000 * (2.5 if job.workload == "w3" else 0.8)
    return 1 + max(1, len(job.engines)) * per_engine
