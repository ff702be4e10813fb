"""Provide ``python -m bench service``."""

from __future__ import annotations

from pathlib import Path

import click

from bench.options import json_file
from bench.report import ROOT, report_figures


@click.group("service", context_settings={"show_default": True})
def service_command() -> None:
    """Measure the service."""


@service_command.command("load")
@click.option("-n", "--subscriptions", type=click.IntRange(1), default=1_000_000)
@click.option("--events", type=click.IntRange(1), default=2_000, help="Events published per second.")
@click.option("--changes", type=click.IntRange(0), default=1_000, help="Changes of subscriptions per second.")
@click.option("--seconds", type=click.FloatRange(10), default=180.0)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=ROOT / "build" / "load",
    show_default=False,
    help="Folder of the service; its subscriptions are reused.",
)
@json_file("Write the figures here.")
def load_command(
    subscriptions: int, events: int, changes: int, seconds: float, folder: Path, file: Path | None
) -> None:
    """Hold a load for minutes: rates, lag, memory."""
    from bench.service.load import hold

    report_figures(hold(folder, subscriptions, events, changes, seconds), file)
