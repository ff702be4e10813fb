"""``tamis serve``: runs the whole service in one process."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import click

from tamis.cli.analysers import analyser_option, read_analysers
from tamis.cli.data import INDEX, data_options, locked, process_options, store_url
from tamis.cli.limits import read_limits
from tamis.cli.notify_options import notify_options, notify_settings
from tamis.errors import InputError
from tamis.extras import needs_extra

FILES = "notifications"  # subfolder for deliveries to files
AUDITS = "audits"  # subfolder for differences found by an audit
BOOTSTRAP = "admin"  # the owner of the first key


@click.command(short_help="Run the service: HTTP API, matcher, notifier.")
@data_options
@notify_options
@click.option(
    "--keep",
    type=click.FloatRange(0, min_open=True),
    metavar="DAYS",
    help="Delete finished rows older than this; without this option nothing is deleted.",
)
@click.option("--no-notify", is_flag=True, help="Leave deliveries to tamis notify.")
@click.option(
    "--deliveries",
    type=click.Choice(["warn", "strict"]),
    default="warn",
    show_default=True,
    help="For a subscription whose delivery cannot be sent: warn, or refuse it.",
)
@click.option(
    "--audit",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    metavar="SHARE",
    help="Match this share of the events again with the tree evaluator; a difference is logged as an error.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="0 chooses a free port."
)
@click.option("--engine", default="hybrid", show_default=True, help="The search engine.")
@click.option(
    "--head", default="pstree", show_default=True, help="The structure that new subscriptions go into."
)
@analyser_option
@click.option("--open-metrics", is_flag=True, help="Serve /metrics without a key.")
@process_options
def serve(
    data: Path | None,
    url: str | None,
    host: str,
    port: int,
    engine: str,
    head: str,
    analysers: tuple[str, ...],
    open_metrics: bool,
    limits: tuple[str, ...],
    log_format: str,
    log_level: str,
    no_notify: bool,
    deliveries: Any,
    audit: float | None,
    keep: float | None,
    **given: Any,
) -> None:
    """Run the service until it is stopped; SIGTERM and Ctrl-C stop it in order.

    At the first start it prints an API key for administration, only once.
    """
    with needs_extra("tamis serve", "service"):
        from tamis.service import Service, Settings, server
    from tamis.contract.addresses import read_networks
    from tamis.index.audit import Audit
    from tamis.live import Live
    from tamis.live.retention import RetentionWorker
    from tamis.service.logs import configure
    from tamis.store import Store

    if data is None:
        raise InputError("say where the service keeps its files: --data DIR")
    configure(log_format, log_level)
    server.allow_connections()
    with contextlib.ExitStack() as stack:
        stack.enter_context(locked(data))
        listening = stack.enter_context(server.listen(host, port))
        declared = read_analysers(analysers)
        store = stack.enter_context(Store.open(store_url(data, url), read_limits(limits), declared))
        watch = None if audit is None else Audit(audit, data / AUDITS, raises=False)
        live = stack.enter_context(Live.open(store, data / INDEX, engine, head, watch))
        settings = Settings(open_metrics, read_networks(given["allow_network"]), deliveries)
        service = Service(store, live, settings)
        if keep is not None:
            stack.enter_context(RetentionWorker(store, keep))
        if not no_notify:
            given["folder"] = given["folder"] or data / FILES
            stack.enter_context(_notifier(service, given))
        server.serve(service, listening, lambda: _announce(store, server.address_of(listening)))


def _notifier(service: Any, given: dict[str, Any]) -> Any:
    """Return a notifier that is woken by new matches, with its metrics among the service's."""
    from tamis.notify import Notifier
    from tamis.notify.metrics import NotifyMetrics

    settings = notify_settings(given, service.limits)
    notifier = Notifier(service.store, settings, NotifyMetrics(service.metrics.registry))
    service.live.on_matches(lambda _: notifier.wake())
    service.delivery_checker.use(notifier.check)
    return notifier


def _announce(store: Any, address: str) -> None:
    click.echo(f"Tamis serves {address}/ (console) and {address}/docs (API)")
    if key := _first_key(store):
        click.echo(f"The first key, for administration, shown this once: {key}")
    sys.stdout.flush()


def _first_key(store: Any) -> str | None:
    """Return a key for administration if there is no key yet."""
    from tamis.store import keys
    from tamis.store.bulk import lock_counter
    from tamis.store.tables import CHANGE_ORDER

    with store.database.writing() as connection:
        lock_counter(connection, CHANGE_ORDER)  # two services that start together must not both create one
        if not keys.is_empty(connection):
            return None
        return keys.create(connection, BOOTSTRAP, keys.SCOPES, "made at the first start")[1]
