"""Provide ``python -m bench gpu``."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import click

Started = tuple[Any, Path, "subprocess.Popen[bytes]"]  # a book, its folder, and the process that prepares it


@click.command("gpu")
@click.option("--scale", type=click.IntRange(1), default=1, help="Divide subscriptions and events by this.")
@click.option("--books", default="", help="Comma-separated names; all if empty.")
@click.option(
    "--duels", type=click.IntRange(0), default=200, help="Random books that card and processor match."
)
@click.option("--sweep", is_flag=True, help="Also try launch parameters.")
@click.option("--seconds", type=click.IntRange(1), default=540, help="Begin nothing new after this time.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="The folder of the report; default: $OUT, or here."
)
def gpu_command(scale: int, books: str, duels: int, sweep: bool, seconds: int, out: Path | None) -> None:
    """Duel a graphics card with the processor, and measure it on every workload."""
    from bench.gpu import books as all_books
    from bench.gpu.duel import duel
    from bench.gpu.measure import measured
    from bench.gpu.stages import stages

    begin = time.monotonic()
    folder = out or Path(os.environ.get("OUT", "."))
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [name.strip() for name in books.split(",") if name.strip()]
    chosen = [book for book in all_books.scaled(scale) if not wanted or book.name in wanted]
    with (folder / "gpu.jsonl").open("a") as report, tempfile.TemporaryDirectory() as place:

        def say(row: dict[str, Any]) -> None:
            line = json.dumps({"at": round(time.monotonic() - begin, 1)} | row, default=float)
            report.write(line + "\n")
            report.flush()
            click.echo(line)

        say(_about())
        started: list[Started] = []
        for book in chosen:
            (own := Path(place) / book.name.replace(" ", "-")).mkdir()
            started.append((book, own, all_books.start(book, own)))
        decisions = wrong = done = 0
        for seed in range(duels):
            if time.monotonic() - begin > seconds / 4:
                break
            found = duel(seed, "cuda", 60, 24)
            decisions, wrong, done = decisions + found[0], wrong + found[1], done + 1
        say({"what": "random duels", "books": done, "decisions": decisions, "differences": wrong})
        while started:
            book, own, process = _next_done(started)
            say({"book": book.name, "what": "prepared", "status": process.returncode})
            if process.returncode == 0 and time.monotonic() - begin < seconds:
                stages(book, own, say, sweep=sweep)
                measured(book, own, "cuda", say)


def _next_done(started: list[Started]) -> Started:
    """Wait for the next process that has prepared its book, and take it from the list."""
    while True:
        for at, (_, _, process) in enumerate(started):
            if process.poll() is not None:
                return started.pop(at)
        time.sleep(0.1)


def _about() -> dict[str, Any]:
    """Return the card and the versions."""
    from importlib.metadata import version

    from bench import report
    from tamis.gpu.device import device

    card = device(0)
    packages = ("numba", "numba-cuda", "numpy", "cuda-bindings")
    found = {name: version(name) for name in packages}
    return {"what": "about", "card": card.name, "memory": card.memory(), "versions": found} | report.machine()
