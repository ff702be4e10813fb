"""Run the demonstration step by step."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path
from typing import Any

import click

from bench.demo.words import Show, paragraph, step, waiting
from bench.report import ROOT


@click.command(context_settings={"show_default": True})
@click.option("--searches", type=click.IntRange(1_000), default=100_000)
@click.option("--listings", type=click.IntRange(1_000), default=100_000, help="Listings in the log to match.")
@click.option("--rate", type=click.IntRange(1), default=1_000, help="Listings that arrive per second.")
@click.option(
    "--seconds", "lasting", type=click.FloatRange(1), default=20.0, help="Seconds for which listings arrive."
)
@click.option("--seed", type=click.IntRange(0), default=1)
@click.option("--master", default="local[*]", help="Spark master.")
@click.option("--live", is_flag=True, help="Continue until Ctrl-C, to try the console.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=ROOT / "build" / "demo",
    show_default=False,
    help="Folder for store, index and picture; it is replaced.",
)
def demo(
    searches: int, listings: int, rate: int, lasting: float, seed: int, master: str, live: bool, folder: Path
) -> None:
    """Show a marketplace live: saved searches, a stream of listings, and the notifications they cause."""
    from bench.demo.pipeline import Pipeline
    from bench.demo.post import post_office
    from bench.demo.service import Service

    start = time.perf_counter()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    show = Show(searches, listings)
    with contextlib.ExitStack() as stack:
        post = stack.enter_context(post_office(folder))
        service = Service(folder / "service", post)
        stack.callback(service.stop)
        pipeline = Pipeline(folder, show, seed, master, service)
        service.start()
        pipeline.invent()
        pipeline.profile()
        pipeline.build()
        if live:
            _until_stopped(pipeline, service, rate)
            return
        pipeline.stream(rate, lasting)
        _what_arrived(service, post)
    _measure(pipeline, show, seed, folder)
    click.echo(f"\nFinished in {time.perf_counter() - start:.0f} s.")


def _until_stopped(pipeline: Any, service: Any, rate: int) -> None:
    click.echo(f"\n   Open {service.address}/ and sign in with {service.key}; Ctrl-C ends it.")
    with contextlib.suppress(KeyboardInterrupt):
        pipeline.stream(rate, 1e6)


def _what_arrived(service: Any, post: Any) -> None:
    step("7. Delivered notifications")
    with waiting("until the last digest is out"):
        service.settle()
    paragraph(
        f"{len(post.hooks):,} signed webhooks, and {post.mails:,} mails in "
        f"{os.path.relpath(post.file)}; the last one: “{post.last_subject}”"
    )
    service.notify_at_once()


def _measure(pipeline: Any, show: Show, seed: int, folder: Path) -> None:
    from bench.demo.library import Library
    from bench.demo.plot import draw

    pipeline.match()
    Library(pipeline.index, show, seed).run()
    step("10. A picture")
    draw(show, folder / "demo.png")
    click.echo(f"   {os.path.relpath(folder / 'demo.png')}")
    click.echo("   make demo-live continues until you stop it, and serves a console")
