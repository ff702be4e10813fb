"""What the commands share that start a query and let it run: options, watching, a clean stop."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import click

from tamis.cli.spark.live import LiveLine
from tamis.cli.support import asked_to_stop, note


def query_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the store, the checkpoint, how often, and metrics."""
    for option in (
        click.option("--metrics-port", type=click.IntRange(0, 65535), help="Serve Prometheus here."),
        click.option("--metrics-address", default="127.0.0.1", show_default=True, help="Who may ask it."),
        click.option("--once", is_flag=True, help="Work off what is there, then stop."),
        click.option("--every", metavar="INTERVAL", help="Start a batch so often, such as '1 second'."),
        click.option(
            "--name", default="tamis", show_default=True, help="The query's name in store and metrics."
        ),
        click.option("--checkpoint", metavar="DIR", required=True, help="Where the query keeps its place."),
        click.option(
            "--store", metavar="URL", required=True, help="sqlite:///file.db, postgresql+psycopg://…"
        ),
    ):
        command = option(command)
    return command


def trigger_of(every: str | None, once: bool) -> dict[str, Any] | None:
    """Return the trigger as Spark's writer takes it."""
    if once:
        return {"availableNow": True}
    return {"processingTime": every} if every else None


def shown(url: str) -> str:
    """Return a store's address without its password."""
    from tamis.store.database import read_address

    return read_address(url).render_as_string(hide_password=True)


@contextlib.contextmanager
def watched(spark: Any, port: int | None, address: str) -> Iterator[tuple[LiveLine, Any]]:
    """Batches are shown as they end, and counted for Prometheus if a port is given."""
    from tamis.spark.metrics import StreamMetrics

    line = LiveLine()
    metrics = StreamMetrics(line)
    with contextlib.ExitStack() as stack:
        stack.enter_context(metrics.watch(spark))
        if port is not None:
            served = stack.enter_context(metrics.serve(port, address))
            note(f"metrics at http://{address}:{served}/metrics")
        yield line, metrics


def run(query: Any) -> None:
    """Wait until the query ends or somebody wants it to: Ctrl-C, or SIGTERM."""
    with asked_to_stop() as asked:
        while not asked.is_set():
            if query.awaitTermination(0.5):  # raises what the query failed with
                return
        note("stopping")
        query.stop()
