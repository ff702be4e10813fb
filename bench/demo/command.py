"""The demonstration, step by step."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import click

from bench.demo.words import Show, step
from bench.report import ROOT


@click.command(context_settings={"show_default": True})
@click.option("--searches", type=click.IntRange(1_000), default=250_000)
@click.option("--listings", type=click.IntRange(1_000), default=100_000, help="In the log that is matched.")
@click.option("--rate", type=click.IntRange(1), default=1_000, help="Listings that arrive in a second.")
@click.option(
    "--seconds", "lasting", type=click.FloatRange(1), default=20.0, help="How long listings arrive."
)
@click.option("--seed", type=click.IntRange(0), default=1)
@click.option("--master", default="local[*]", help="Where Spark runs.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=ROOT / "build" / "demo",
    show_default=False,
    help="Where store, index and picture go; replaced.",
)
def demo(
    searches: int, listings: int, rate: int, lasting: float, seed: int, master: str, folder: Path
) -> None:
    """A marketplace, live: saved searches, a stream of listings, and who hears of which."""
    from bench.demo.library import Library
    from bench.demo.pipeline import Pipeline
    from bench.demo.plot import draw

    start = time.perf_counter()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    show = Show(searches, listings)
    pipeline = Pipeline(folder, show, seed, master)
    pipeline.invent()
    pipeline.profile()
    pipeline.build()
    pipeline.stream(rate, lasting)
    pipeline.match()
    Library(pipeline.index, show, seed).run()
    step("8. A picture")
    draw(show, folder / "demo.png")
    click.echo(f"   {os.path.relpath(folder / 'demo.png')}")
    click.echo(f"\nThat was everything, in {time.perf_counter() - start:.0f} s.")
