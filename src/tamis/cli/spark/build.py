"""``tamis spark build``: builds a sharded index of subscriptions."""

from __future__ import annotations

from typing import Any

import click

from tamis.cli.analysers import analyser_option, read_analysers
from tamis.cli.limits import parameter
from tamis.cli.spark.frames import absolute, write
from tamis.cli.spark.support import FORMATS, session_options, spark_session
from tamis.cli.support import counted, note, progress


@click.command(short_help="Build an index in shards.")
@click.argument("source", metavar="SUBSCRIPTIONS")
@click.option("-o", "--output", "target", metavar="INDEX", required=True, help="The location of the index.")
@click.option(
    "--shards", type=click.IntRange(1, 1024), help="The number of shards; chosen by size by default."
)
@click.option("--engine", default="hybrid", show_default=True, help="The search engine; auto tries them all.")
@click.option(
    "--parameter",
    "parameters",
    metavar="NAME=VALUE",
    multiple=True,
    help="A parameter of the engine; repeatable.",
)
@analyser_option
@click.option(
    "--profile",
    metavar="PROFILE",
    help="A profile from tamis spark profile, which shows the frequent values.",
)
@click.option("--full", is_flag=True, help="Rebuild all shards, including unchanged ones.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="The format, if the name does not show it."
)
@click.option("--quarantine", metavar="PATH", help="Write refused subscriptions here, as JSON.")
@session_options
def build(
    source: str,
    target: str,
    shards: int | None,
    engine: str,
    parameters: tuple[str, ...],
    analysers: tuple[str, ...],
    profile: str | None,
    full: bool,
    form: str | None,
    quarantine: str | None,
    master: str | None,
    conf: tuple[str, ...],
    debug: bool,
) -> None:
    """Build INDEX from SUBSCRIPTIONS: Parquet, JSON lines or CSV, a file or a folder, or the URL of a store.

    An existing index is brought up to date: only shards with changed subscriptions are built.
    """
    chosen, declared = dict(map(parameter, parameters)), read_analysers(analysers)
    with spark_session(master, conf, debug, bar=False) as spark:
        from tamis.spark.build import build as build_shards
        from tamis.spark.subscriptions import subscriptions

        note(f"building {target} from {source} with the engine {engine}")
        applied = _last_change(source)
        frame = subscriptions(source, spark=spark, format=form, analysers=declared).rows
        with progress("building", " shards") as shown:
            done = build_shards(
                frame,
                absolute(target),
                shards=shards,
                engine=engine,
                parameters=chosen,
                analysers=declared,
                profile=absolute(profile) if profile else None,
                incremental=not full,
                applied=applied,
                progress=shown,
            )
        if quarantine and done.refused:
            write(done.quarantine, quarantine, "json", overwrite=True)
        _summary(done, target, quarantine)


def _last_change(source: str) -> int:
    """Return a change that the rows include; it is read before them, so that no change is missed."""
    if not source.startswith(("sqlite:", "postgresql:", "postgresql+")):
        return 0
    from tamis.store import Store

    with Store.open(source) as store:
        return store.last_change()


def _summary(done: Any, target: str, quarantine: str | None) -> None:
    left_out = f", {done.refused:,} refused" if done.refused else ""
    held = counted(done.subscriptions, "subscription")
    shards = f"{done.built} of {counted(len(done.manifest.shards), 'shard')} built"
    note(f"{target}: {held}{left_out}, version {done.manifest.number}, {shards} in {done.seconds:.1f} s")
    if done.refused:
        where = (
            f"they are in {quarantine}" if quarantine else "--quarantine PATH keeps them with their reasons"
        )
        note(f"{counted(done.refused, 'row')} cannot be used; {where}")
