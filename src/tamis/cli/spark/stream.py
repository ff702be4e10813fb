"""``tamis spark stream``: matches events as they arrive."""

from __future__ import annotations

from typing import Any

import click

from tamis.cli.events import ON_ERROR
from tamis.cli.spark.frames import absolute
from tamis.cli.spark.queries import monitored, query_options, run, trigger_of, without_password
from tamis.cli.spark.sources import Shape, shape_options, stream_events
from tamis.cli.spark.support import session_options, spark_session
from tamis.cli.support import note


@click.command(short_help="Match events as they arrive.")
@click.argument("source", metavar="SOURCE")
@click.argument("index", metavar="INDEX")
@query_options
@ON_ERROR
@shape_options
@session_options
def stream(
    source: str,
    index: str,
    store: str,
    checkpoint: str,
    name: str,
    every: str | None,
    once: bool,
    metrics_port: int | None,
    metrics_address: str,
    on_error: str,
    master: str | None,
    conf: tuple[str, ...],
    debug: bool,
    **shape: Any,
) -> None:
    """Match the events of SOURCE against INDEX and put the matches into the outbox of the store.

    SOURCE is a folder that receives files, kafka:HOST:PORT/TOPIC, or socket:HOST:PORT. Changes of
    subscriptions in the store are applied between batches. Stop with Ctrl-C; the same command continues where
    this one stopped.
    """
    with spark_session(master, conf, debug, bar=False) as spark:
        from tamis.spark.stream import match_stream

        note(f"matching {source} against {index} into {without_password(store)}; Ctrl-C stops")
        events = stream_events(spark, source, Shape(**shape))
        with monitored(spark, metrics_port, metrics_address) as (line, metrics):
            query = match_stream(
                events,
                absolute(index),
                store=store,
                checkpoint=absolute(checkpoint),
                name=name,
                trigger=trigger_of(every, once),
                on_error=on_error,
            )
            run(query)
            metrics.poll(query)  # listeners receive the last batch a little later
        line.close(without_password(store))
