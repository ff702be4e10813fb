"""Provide ``python -m bench scaling``."""

from __future__ import annotations

from pathlib import Path

import click

from bench.options import chosen, json_file


@click.command("scaling")
@click.option("--curves", "names", default="", help="Comma-separated; all if empty.")
@click.option(
    "--scale", type=click.IntRange(1), default=1, help="Divide the number of subscriptions by this."
)
@click.option("--most", type=click.IntRange(1), default=None, help="Skip larger books.")
@json_file("Write the report here.  [default: bench/results/scaling.json]")
def scaling_command(names: str, scale: int, most: int | None, file: Path | None) -> None:
    """Measure cost against subscriptions, event size, attributes and selectivity, and against the hardware.

    Books that do not fit into memory are built in pieces and memory-mapped. The report is written after every
    curve, and keeps the curves of the same scale that it already has.
    """
    from bench.scaling.curves import CURVES
    from bench.scaling.summary import LATEST, outcome, summary

    curves = chosen(names, {curve.name: curve for curve in CURVES})
    click.echo(summary(outcome(curves, scale, most, file or LATEST)))
