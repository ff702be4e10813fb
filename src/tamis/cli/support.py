"""Shared parts of all commands: errors, progress, opening an index, writing lines."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import IO, Any

import click

from tamis.errors import TamisError
from tamis.extras import extra_missing

Progress = Callable[[int, int | None], None]

BROKEN_PIPE = 141  # the status that a shell reports after SIGPIPE


class Failure(click.ClickException):
    """A Tamis error as a message on stderr and exit status 1."""

    exit_code = 1

    def __init__(self, error: TamisError) -> None:
        super().__init__(str(error))
        self.error = error

    def show(self, file: IO[Any] | None = None) -> None:
        """Print ``tamis: expression-syntax: …``, with the position in the text below."""
        click.echo(f"tamis: {self.error.code}: {self.message}", file=file or sys.stderr)


class TamisGroup(click.Group):
    """Turns errors into messages and a closed pipe into a silent exit."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except TamisError as error:
            raise Failure(error) from None
        except ModuleNotFoundError as missing:
            found = extra_missing("this command", "all", missing)
            raise (Failure(found) if isinstance(found, TamisError) else found) from None
        except BrokenPipeError:
            _abandon_stdout()
            ctx.exit(BROKEN_PIPE)
        except OSError as failure:
            raise click.ClickException(_about(failure)) from None
        return result


def _about(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def _abandon_stdout() -> None:
    """Discard stdout after its reader has gone, so that buffered output does not fail when Python exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


INDEX = click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")


def open_index(path: Path) -> Any:
    """Return the index at ``path``."""
    import tamis

    return tamis.Index.open(path)


def note(text: str) -> None:
    """Print a line for the user to stderr."""
    click.echo(text, err=True)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: ``1 event``, ``2,000 events``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@contextlib.contextmanager
def progress(what: str, unit: str) -> Iterator[Progress]:
    """Provide a progress bar on stderr if that is a terminal; otherwise show nothing."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from tqdm import tqdm

    with tqdm(desc=what, unit=unit, unit_scale=True, file=sys.stderr, leave=False) as bar:

        def show(done: int, total: int | None) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


@contextlib.contextmanager
def output(path: Path | None) -> Iterator[IO[bytes]]:
    """Open the file at ``path``, or stdout."""
    if path is None:
        yield sys.stdout.buffer
    else:
        with path.open("wb") as file:
            yield file


def json_line(value: Any) -> bytes:
    """Return ``value`` as one line of JSON."""
    import msgspec

    return msgspec.json.encode(value) + b"\n"


def print_json(value: Any) -> None:
    """Print ``value`` as readable JSON to stdout."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


@contextlib.contextmanager
def stop_requested() -> Iterator[threading.Event]:
    """Provide an event that Ctrl-C or SIGTERM sets, so that the command can stop in order."""
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        stop.set()

    kept = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
