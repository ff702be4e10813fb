"""The data folder of a service: its database unless that is elsewhere, its index, and its lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from tamis.cli.limits import limit_option
from tamis.errors import DataInUse, InputError

DATABASE, INDEX, LOCK = "tamis.db", "index", "lock"


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options ``--data`` and ``--store``."""
    for option in (
        click.option("--store", "url", metavar="URL", help="The database, if it is not in the folder."),
        click.option(
            "--data",
            type=click.Path(path_type=Path, file_okay=False),
            help="The folder of the service; it is created if it does not exist.",
        ),
    ):
        command = option(command)
    return command


def process_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of long-running processes: ``--limit``, ``--log-format`` and ``--log-level``."""
    formats, levels = ["json", "logfmt"], ["debug", "info", "warning", "error"]
    for option in (
        click.option("--log-level", type=click.Choice(levels), default="info", show_default=True),
        click.option("--log-format", type=click.Choice(formats), default="json", show_default=True),
        limit_option,
    ):
        command = option(command)
    return command


def store_url(data: Path | None, url: str | None) -> str:
    """Return the URL of the database."""
    if url is not None:
        return url
    if data is None:
        raise InputError("say which service: --data DIR, or --store URL")
    data.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{data.absolute() / DATABASE}"


@contextlib.contextmanager
def locked(data: Path) -> Iterator[None]:
    """Lock the folder for this process; the lock ends with the process in any case."""
    data.mkdir(parents=True, exist_ok=True)
    with (data / LOCK).open("a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            by = file.read(20).strip() or "another"
            raise DataInUse(
                f"{data} is served by process {by} already; stop that one, or give another --data",
                folder=str(data),
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
