"""``tamis spark generate``: generates a workload of any size."""

from __future__ import annotations

import time

import click

from tamis.cli.spark.support import session_options, spark_session
from tamis.cli.support import counted, note


@click.command(short_help="Generate a workload of any size.")
@click.argument("workload", metavar="WORKLOAD")
@click.option("-o", "--output", "target", metavar="DIR", required=True, help="The folder to write below.")
@click.option(
    "--subscriptions", type=click.IntRange(0), default=100_000, show_default=True, help="Their number."
)
@click.option("--events", type=click.IntRange(0), default=100_000, show_default=True, help="Their number.")
@click.option("--seed", type=int, default=1, show_default=True, help="The seed of the random numbers.")
@click.option("--as-text", is_flag=True, help="Write expressions as text, not as bulk columns.")
@click.option("--overwrite", is_flag=True, help="Replace the content of DIR.")
@session_options
def generate(
    workload: str,
    target: str,
    subscriptions: int,
    events: int,
    seed: int,
    as_text: bool,
    overwrite: bool,
    master: str | None,
    conf: tuple[str, ...],
    debug: bool,
) -> None:
    """Generate WORKLOAD (market, w4-dense …; a wrong name lists them all) and write it as Parquet."""
    with spark_session(master, conf, debug) as spark:
        from tamis.spark.generate import generate as drawn
        from tamis.spark.generate import workload_named

        wanted = f"{counted(subscriptions, 'subscription')} and {counted(events, 'event')}"
        note(f"generating {wanted} of {workload}")
        start = time.perf_counter()
        made = drawn(
            spark,
            workload_named(workload),
            target,
            subscriptions=subscriptions,
            events=events,
            seed=seed,
            as_text=as_text,
            overwrite=overwrite,
        )
        for path in filter(None, made):
            note(path)
        note(f"generated in {time.perf_counter() - start:.1f} s")
