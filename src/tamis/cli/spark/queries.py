"""Shared parts of the commands that run a streaming query: options, monitoring, a clean stop."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import click

from tamis.cli.spark.progress_line import ProgressLine
from tamis.cli.support import note, stop_requested


def query_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the store, the checkpoint, the trigger and metrics."""
    for option in (
        click.option(
            "--metrics-port", type=click.IntRange(0, 65535), help="Serve Prometheus metrics on this port."
        ),
        click.option(
            "--metrics-address",
            default="127.0.0.1",
            show_default=True,
            help="The address to serve metrics on.",
        ),
        click.option("--once", is_flag=True, help="Process the available data, then stop."),
        click.option("--every", metavar="INTERVAL", help="The interval between batches, such as '1 second'."),
        click.option(
            "--name", default="tamis", show_default=True, help="The query's name in store and metrics."
        ),
        click.option(
            "--checkpoint", metavar="DIR", required=True, help="The folder of the query's progress."
        ),
        click.option(
            "--store", metavar="URL", required=True, help="sqlite:///file.db, postgresql+psycopg://…"
        ),
    ):
        command = option(command)
    return command


def trigger_of(every: str | None, once: bool) -> dict[str, Any] | None:
    """Return the trigger for Spark's writer."""
    if once:
        return {"availableNow": True}
    return {"processingTime": every} if every else None


def without_password(url: str) -> str:
    """Return a store's address without its password."""
    from tamis.store.database import read_address

    return read_address(url).render_as_string(hide_password=True)


@contextlib.contextmanager
def monitored(spark: Any, port: int | None, address: str) -> Iterator[tuple[ProgressLine, Any]]:
    """Show batches as they end, and serve metrics for Prometheus if a port is given."""
    from tamis.spark.metrics import StreamMetrics

    line = ProgressLine()
    metrics = StreamMetrics(line)
    with contextlib.ExitStack() as stack:
        stack.enter_context(metrics.watch(spark))
        if port is not None:
            served = stack.enter_context(metrics.serve(port, address))
            note(f"metrics at http://{address}:{served}/metrics")
        yield line, metrics


def run(query: Any) -> None:
    """Wait until the query ends, or stop it at Ctrl-C or SIGTERM."""
    with stop_requested() as stop:
        while not stop.is_set():
            if query.awaitTermination(0.5):  # raises the query's failure
                return
        note("stopping")
        query.stop()
