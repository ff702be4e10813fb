"""``tamis spark profile``: profiles events, for a better index."""

from __future__ import annotations

import time
from typing import Any

import click

from tamis.cli.analysers import analyser_option, read_analysers
from tamis.cli.spark.frames import absolute
from tamis.cli.spark.sources import Shape, batch_events, shape_options
from tamis.cli.spark.support import session_options, spark_session
from tamis.cli.support import counted, note


@click.command(short_help="Profile a log of events.")
@click.argument("source", metavar="EVENTS")
@click.option("-o", "--output", "target", metavar="PROFILE", required=True, help="The folder to write.")
@click.option("--sample", type=click.IntRange(1), help="The number of events to keep complete.")
@analyser_option
@shape_options
@session_options
def profile(
    source: str,
    target: str,
    sample: int | None,
    analysers: tuple[str, ...],
    master: str | None,
    conf: tuple[str, ...],
    debug: bool,
    **shape: Any,
) -> None:
    """Read EVENTS (Parquet, JSON lines or CSV; a file or a folder) once and write their PROFILE.

    tamis spark build --profile PROFILE then knows the frequent attributes, values and words.
    """
    with spark_session(master, conf, debug) as spark:
        from tamis.spark.profiling import profile as profiled

        note(f"profiling {source}")
        start = time.perf_counter()
        given: Any = {} if sample is None else {"sample": sample}
        given["analysers"] = read_analysers(analysers)
        made = profiled(batch_events(spark, source, Shape(**shape)), absolute(target), **given)
        spent = time.perf_counter() - start
        left_out = f", {made.refused:,} refused" if made.refused else ""
        note(f"{target}: the profile of {counted(made.events, 'event')}{left_out}, in {spent:.1f} s")
