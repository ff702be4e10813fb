"""``tamis spark digest``: groups matches after the schedules of their subscriptions."""

from __future__ import annotations

import click

from tamis.cli.spark.queries import monitored, query_options, run, trigger_of, without_password
from tamis.cli.spark.sources import stream_matches
from tamis.cli.spark.support import FORMATS, session_options, spark_session
from tamis.cli.support import note


@click.command(short_help="Group matches into digests.")
@click.argument("source", metavar="SOURCE")
@click.option("--tick", default="1 minute", show_default=True, help="The precision of schedules.")
@click.option(
    "--lateness", default="30 seconds", show_default=True, help="How late a match may arrive out of order."
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="The format, if the name of SOURCE does not show it."
)
@query_options
@session_options
def digest(
    source: str,
    tick: str,
    lateness: str,
    form: str | None,
    store: str,
    checkpoint: str,
    name: str,
    every: str | None,
    once: bool,
    metrics_port: int | None,
    metrics_address: str,
    master: str | None,
    conf: tuple[str, ...],
    debug: bool,
) -> None:
    """Group the matches of SOURCE per subscription and put a row per digest into the outbox of the store.

    SOURCE has rows as tamis spark match writes them: a folder that receives files, or kafka:HOST:PORT/TOPIC
    with JSON. The schedules are those of the subscriptions in the store.
    """
    with spark_session(master, conf, debug, bar=False) as spark:
        from tamis.spark.digest import digest as digested

        note(f"digests of {source} into {without_password(store)}; Ctrl-C stops")
        matches = stream_matches(spark, source, form)
        with monitored(spark, metrics_port, metrics_address) as (line, metrics):
            query = digested(
                matches,
                store=store,
                checkpoint=checkpoint,
                name=name,
                tick=tick,
                lateness=lateness,
                trigger=trigger_of(every, once),
            )
            run(query)
            metrics.poll(query)  # listeners receive the last batch a little later
        line.close(without_password(store))
