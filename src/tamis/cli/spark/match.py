"""``tamis spark match``: writes the matches of many events to files."""

from __future__ import annotations

import logging
import time
from typing import Any

import click

from tamis.cli.events import AUDIT, ON_ERROR
from tamis.cli.spark.frames import absolute, write
from tamis.cli.spark.sources import ALL, Shape, batch_events, shape_options
from tamis.cli.spark.support import FORMATS, session_options, spark_session
from tamis.cli.support import counted, note
from tamis.errors import InputError


@click.command(short_help="Match files of events.")
@click.argument("source", metavar="EVENTS")
@click.argument("index", metavar="INDEX")
@click.option(
    "-o", "--output", "target", metavar="OUT", required=True, help="The folder to write matches to."
)
@click.option(
    "--plan",
    type=click.Choice(["auto", "replicated", "sharded"]),
    default="auto",
    show_default=True,
    help="Split the events or the index; auto decides by size and memory.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="K",
    help="Find only the K best matches of an event, with scores.",
)
@click.option(
    "--carry",
    metavar="NAME",
    multiple=True,
    help="Copy this column or JSON field of the event to its matches; repeatable; all: every column.",
)
@click.option("--arrays", is_flag=True, help="Write one row per event with all its subscriptions.")
@click.option(
    "--format",
    "written",
    type=click.Choice(FORMATS),
    default="parquet",
    show_default=True,
    help="The format of OUT.",
)
@click.option("--overwrite", is_flag=True, help="Replace the content of OUT.")
@click.option("--quarantine", metavar="PATH", help="Write refused events here, as JSON.")
@click.option(
    "--explain",
    is_flag=True,
    help="Match nothing: show the chosen plan and the reason, and print Spark's plan.",
)
@ON_ERROR
@AUDIT
@shape_options
@session_options
def match(
    source: str,
    index: str,
    target: str,
    plan: str,
    top: int | None,
    carry: tuple[str, ...],
    arrays: bool,
    written: str,
    overwrite: bool,
    quarantine: str | None,
    explain: bool,
    on_error: str,
    audit: float | None,
    master: str | None,
    conf: tuple[str, ...],
    debug: bool,
    **shape: str | None,
) -> None:
    """Match the events of EVENTS (Parquet, JSON lines or CSV; a file or a folder) against INDEX.

    Each match is a row: event_id, subscription_id, version, and with --top the score.
    """
    if arrays and written == "csv":
        raise InputError("CSV has no arrays: leave out --arrays, or write --format parquet or json")
    with spark_session(master, conf, debug, level=logging.INFO) as spark:  # shows the plan and the reason
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        from tamis.spark.events import refused_events
        from tamis.spark.match import match as matches

        note(f"matching {source} against {index}")
        events = batch_events(spark, source, Shape(**shape), carry)
        work, written_out = Observation("work"), Observation("written")
        form = "arrays" if arrays else "pairs"
        taken = _carried(events.columns) if ALL in carry else carry
        stage = matches(
            absolute(index),
            plan=plan,
            k=top,
            shape=form,
            carry=taken,
            work=work,
            on_error=on_error,
            audit=audit,
        )
        found = events.transform(stage)
        if explain:
            found.explain()
            return
        start = time.perf_counter()
        write(found.observe(written_out, F.count(F.lit(1)).alias("rows")), target, written, overwrite)
        _summary(target, work.get | written_out.get, time.perf_counter() - start)
        if not work.get["refused"]:
            return
        if quarantine:
            write(events.transform(refused_events()), quarantine, "json", overwrite)
        note(f"refused events {f'are in {quarantine}' if quarantine else 'are kept by --quarantine PATH'}")


def _carried(columns: list[str]) -> list[str]:
    """Return every column but the id and the attributes, which contain the others."""
    return [name for name in columns if name not in ("event_id", "attributes")]


def _summary(target: str, work: dict[str, Any], spent: float) -> None:
    names = ("events", "matches", "refused", "rows")
    events, matches, refused, rows = (int(work[name] or 0) for name in names)
    found = f"{counted(matches, 'match', 'matches')} of {counted(events, 'event')}"
    found += f" in {counted(rows, 'row')}" if rows != matches else ""
    left_out = f", {refused:,} refused" if refused else ""
    note(f"{target}: {found}{left_out}, in {spent:.1f} s")
