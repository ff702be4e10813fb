"""Provide ``python -m bench spark``: throughput, memory and streams of the Spark pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bench.options import json_file
from bench.report import report_figures

MASTER = click.option("--master", default="local[2]", help="Spark master.")


@click.group("spark", context_settings={"show_default": True})
def spark_command() -> None:
    """Measure the pipeline on Spark."""


def _session(master: str) -> Any:
    from tamis.spark import session

    return session(master, "tamis bench")


@spark_command.command("throughput")
@MASTER
@click.option("-n", "--subscriptions", type=click.IntRange(1), default=1_000_000)
@click.option("-m", "--events", type=click.IntRange(1), default=1_000_000)
@click.option("--repeats", type=click.IntRange(1), default=3)
@json_file("Write the figures here.")
def throughput_command(master: str, subscriptions: int, events: int, repeats: int, file: Path | None) -> None:
    """Measure events per second of match, and of match_many on as many cores."""
    from bench.spark.throughput import throughput

    report_figures(throughput(_session(master), subscriptions, events, repeats), file)


@spark_command.command("join")
@MASTER
@click.option("-n", "--subscriptions", type=click.IntRange(1), default=50_000)
@click.option("-m", "--events", type=click.IntRange(1), default=2_000)
@json_file("Write the figures here.")
def join_command(master: str, subscriptions: int, events: int, file: Path | None) -> None:
    """Do the same work by a join of Spark SQL, without an index."""
    from bench.spark.throughput import against_a_join

    report_figures(against_a_join(_session(master), subscriptions, events), file)


@spark_command.command("large")
@MASTER
@click.option("-n", "--subscriptions", type=click.IntRange(1), default=10_000_000)
@click.option("-m", "--events", type=click.IntRange(1), default=20_000)
@json_file("Write the figures here.")
def large_command(master: str, subscriptions: int, events: int, file: Path | None) -> None:
    """Build, open and match a large book: time, memory, and the pages that workers share."""
    from bench.spark.large import large

    outcome = large(_session(master), subscriptions, events)
    report_figures(outcome, file)
    shared = outcome["shared"]
    click.echo(f"  {shared['workers']} workers map the index")
    for name in ("resident_bytes", "proportional_bytes", "private_bytes"):
        click.echo(f"    {name:22} {', '.join(f'{size / 1e9:.3f} GB' for size in shared[name])}")


@spark_command.command("stream")
@MASTER
@click.option("-n", "--subscriptions", type=click.IntRange(1), default=1_000_000)
@click.option("--rate", type=click.FloatRange(1), default=2_000)
@click.option("--minutes", type=click.FloatRange(0.5), default=10)
@click.option("--churn", type=click.FloatRange(0), default=0, help="Subscriptions changed per second.")
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), default=Path("build/spark/stream.png")
)
@json_file("Write the figures here.")
def stream_command(
    master: str, subscriptions: int, rate: float, minutes: float, churn: float, plot: Path, file: Path | None
) -> None:
    """Hold a rate for minutes: time to the outbox, and memory."""
    from bench.spark.plot import draw_stream
    from bench.spark.stream import stream

    outcome = stream(_session(master), subscriptions, rate, minutes * 60, churn)
    report_figures(outcome, file)
    draw_stream(outcome, plot)
    click.echo(f"  {plot}")
