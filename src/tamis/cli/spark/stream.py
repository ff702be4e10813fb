"""``tamis spark stream``: events matched as they arrive."""

from __future__ import annotations

from typing import Any

import click

from tamis.cli.events import ON_ERROR
from tamis.cli.spark.frames import whole
from tamis.cli.spark.queries import query_options, run, shown, trigger_of, watched
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

    SOURCE is a folder that files are put into, kafka:HOST:PORT/TOPIC, or socket:HOST:PORT. Changes of
    subscriptions in the store are taken up between batches. Stop with Ctrl-C; the same command goes on
    where this one stopped.
    """
    with spark_session(master, conf, debug, bar=False) as spark:
        from tamis.spark.stream import match_stream

        note(f"matching {source} against {index} into {shown(store)}; Ctrl-C stops")
        events = stream_events(spark, source, Shape(**shape))
        with watched(spark, metrics_port, metrics_address) as (line, metrics):
            query = match_stream(
                events,
                whole(index),
                store=store,
                checkpoint=whole(checkpoint),
                name=name,
                trigger=trigger_of(every, once),
                on_error=on_error,
            )
            run(query)
            metrics.poll(query)  # listeners are told a little after the end
        line.close(shown(store))
