"""``tamis notify``: runs a notifier in its own process; any number may share a store."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

import click

from tamis.cli.analysers import analyser_option, read_analysers
from tamis.cli.data import data_options, process_options, store_url
from tamis.cli.limits import read_limits
from tamis.cli.notify_options import notify_options, notify_settings
from tamis.cli.support import note, stop_requested
from tamis.errors import InputError


@click.command(short_help="Deliver notifications.")
@data_options
@notify_options
@analyser_option
@click.option("--once", is_flag=True, help="Deliver everything that is due, then exit.")
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    help="Serve Prometheus metrics on this port; 0 chooses one.",
)
@process_options
def notify(
    data: Path | None,
    url: str | None,
    analysers: tuple[str, ...],
    once: bool,
    metrics_port: int | None,
    limits: tuple[str, ...],
    log_format: str,
    log_level: str,
    **given: Any,
) -> None:
    """Deliver the notifications in a store's outbox until it is stopped.

    SIGTERM and Ctrl-C stop it in order. tamis serve has a notifier of its own; use this command for more of
    them, or for one elsewhere (tamis serve --no-notify).
    """
    from tamis.notify import Notifier
    from tamis.service.logs import configure
    from tamis.store import Store

    configure(log_format, log_level)
    bounds = read_limits(limits)
    settings, declared = notify_settings(given, bounds), read_analysers(analysers)
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(Store.open(store_url(data, url), bounds, declared))
        stop = stack.enter_context(stop_requested())
        notifier = stack.enter_context(Notifier(store, settings))
        if metrics_port is not None:
            port = _serve_metrics(notifier.metrics.registry, metrics_port)
            note(f"metrics at http://127.0.0.1:{port}/metrics")
        note(f"delivering for {store!r} as {notifier.name}")
        if once:
            _drain(notifier, stop)
        else:
            stop.wait()


def _drain(notifier: Any, stop: threading.Event) -> None:
    """Deliver until nothing is due or a stop is requested."""
    while not stop.is_set() and not notifier.drain(1.0):
        pass


def _serve_metrics(registry: Any, port: int) -> int:
    """Serve metrics until the process ends; return the port."""
    from prometheus_client import start_http_server

    try:
        server, _ = start_http_server(port, "127.0.0.1", registry)
    except OSError as refused:
        raise InputError(f"metrics cannot be served at port {port}: {refused.strerror or refused}") from None
    return int(server.server_port)
