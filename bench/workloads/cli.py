"""Provide ``python -m bench generate``: write a workload to files."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from bench.options import changed_workload, known_workload, settings
from bench.workloads import Workload
from bench.workloads.files import FORMATS

SAMPLE, SAMPLE_EVENTS = 50_000, 100  # size of the sample for the match probability


@click.command("generate")
@click.argument("workload", callback=known_workload)
@click.option("--subscriptions", "-n", type=click.IntRange(1), default=100_000)
@click.option("--events", "-m", type=click.IntRange(1), default=10_000)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="PARAM=VALUE",
    callback=settings,
    help="Set a parameter of the workload; repeatable.",
)
@click.option("--seed", type=click.IntRange(0), default=1)
@click.option("--out", "folder", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--format", "form", type=click.Choice(FORMATS), default="parquet")
@click.option("--force", is_flag=True, help="Replace existing files.")
def generate_command(
    workload: Workload,
    subscriptions: int,
    events: int,
    changes: dict[str, str],
    seed: int,
    folder: Path,
    form: str,
    force: bool,
) -> None:
    """Write WORKLOAD to subscriptions.FORMAT and events.FORMAT, for `tamis build` and `tamis match`.

    The files are written piece by piece, so any number fits. A workload that columns cannot express in full
    is written as expressions.
    """
    from bench.workloads.files import write_events, write_subscriptions
    from bench.workloads.synthetic import Synthetic

    chosen = changed_workload(workload, changes)
    if not isinstance(chosen, Synthetic):
        raise click.ClickException(f"{workload.name} cannot be made in pieces")
    folder.mkdir(parents=True, exist_ok=True)
    book, stream = (folder / f"{name}.{form}" for name in ("subscriptions", "events"))
    for file in (book, stream):
        if file.exists() and not force:
            raise click.ClickException(f"{file} exists; --force replaces it")
    try:
        _written(book, subscriptions, lambda bar: write_subscriptions(chosen, subscriptions, seed, book, bar))
        _written(stream, events, lambda bar: write_events(chosen, events, seed, subscriptions, stream, bar))
    except ValueError as wrong:
        raise click.ClickException(str(wrong)) from None
    click.echo(_probability(chosen, subscriptions, events, seed))


def _written(file: Path, count: int, write: Callable[[Callable[[int], object]], None]) -> None:
    from tqdm import tqdm

    start = time.perf_counter()
    with tqdm(total=count, unit_scale=True, desc=file.name, disable=None) as bar:
        write(bar.update)
    spent, size = time.perf_counter() - start, file.stat().st_size / 1e6
    click.echo(f"{file}: {count:,}, {size:,.1f} MB, written in {spent:.1f} s")


def _probability(workload: Any, subscriptions: int, events: int, seed: int) -> str:
    """Return the measured match probability beside the requested one."""
    from bench.describe import matches_per_event, wanted

    count, some = min(subscriptions, SAMPLE), min(events, SAMPLE_EVENTS)
    stream = workload.events(some, seed, subscriptions)
    found = matches_per_event(workload.subscriptions(count, seed), workload.texts(count, seed), stream)
    sample = f"measured on {count:,} subscriptions and {some:,} events"
    return f"match probability {found / count:.3g}{wanted(workload)}, {sample}"
