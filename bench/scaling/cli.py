"""``python -m bench scaling``."""

from __future__ import annotations

from pathlib import Path

import click

from bench.options import chosen, json_file


@click.command("scaling")
@click.option("--curves", "names", default="", help="Comma-separated; all of them unless given.")
@click.option("--scale", type=click.IntRange(1), default=1, help="Use so many times fewer subscriptions.")
@click.option("--most", type=click.IntRange(1), default=None, help="Leave larger books out.")
@json_file("Write the report here.  [default: bench/results/scaling.json]")
def scaling_command(names: str, scale: int, most: int | None, file: Path | None) -> None:
    """Cost against subscriptions, event size, attributes and selectivity; and against the hardware.

    Books that do not fit into memory are built in pieces and memory-mapped. The report is written after
    every curve, and keeps those of the same scale that it has.
    """
    from bench.scaling.curves import CURVES
    from bench.scaling.summary import LATEST, outcome, summary

    curves = chosen(names, {curve.name: curve for curve in CURVES})
    click.echo(summary(outcome(curves, scale, most, file or LATEST)))
