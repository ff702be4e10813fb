"""Shared parts of the Spark commands: options, the session, and errors in one line."""

from __future__ import annotations

import contextlib
import logging
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import click

from tamis.cli.support import note
from tamis.errors import InputError, TamisError

FORMATS = ("parquet", "json", "csv")


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options ``--master``, ``--conf`` and ``--debug``."""
    for option in (
        click.option(
            "--debug",
            is_flag=True,
            envvar="TAMIS_DEBUG",
            help="Show the whole trace of a failure; TAMIS_DEBUG=1 does the same.",
        ),
        click.option(
            "--conf", "conf", metavar="KEY=VALUE", multiple=True, help="A setting of Spark; repeatable."
        ),
        click.option(
            "--master", help="local[N], spark://host:7077, yarn, k8s://…, or sc://host.  [local[*]]"
        ),
    ):
        command = option(command)
    return command


@contextlib.contextmanager
def spark_session(
    master: str | None, conf: tuple[str, ...], debug: bool, bar: bool = True, level: int = logging.WARNING
) -> Iterator[Any]:
    """Provide a session that ends with the command, unless it existed before; report failures in one line.

    ``bar`` shows Spark's progress bar on a terminal; log records from level ``level`` on are shown to the
    user.
    """
    settings = dict(map(_setting, conf))
    if bar and sys.stderr.isatty():
        settings.setdefault("spark.ui.showConsoleProgress", "true")
    with _logged(logging.DEBUG if debug else level), _failures(debug):
        from tamis.spark.session import active_session, session

        kept = active_session()
        started = session(master, conf=settings)
        try:
            yield started
        finally:
            if kept is None:
                started.stop()


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError(f"--conf takes KEY=VALUE, not {text!r}")
    return key, value


@contextlib.contextmanager
def _logged(level: int) -> Iterator[None]:
    log = logging.getLogger("tamis")
    handler = _Notes()
    before = log.level
    log.addHandler(handler)
    log.setLevel(level)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextlib.contextmanager
def _failures(debug: bool) -> Iterator[None]:
    try:
        yield
    except (TamisError, click.ClickException, click.exceptions.Exit, OSError) as known:
        if debug and isinstance(known, TamisError):
            traceback.print_exc()
        raise
    except Exception as failure:
        if debug:
            traceback.print_exc()
        from tamis.cli.spark.failures import error_of

        raise error_of(failure) from failure
