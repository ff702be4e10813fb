"""What the demonstration says, and what it measured."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click


@dataclass
class Show:
    """What the demonstration measured, for the tables and the picture."""

    searches: int
    listings: int
    rates: dict[str, float] = field(default_factory=dict)
    latencies: dict[str, list[float]] = field(default_factory=dict)  # µs, one listing at a time
    waits: list[tuple[float, float]] = field(default_factory=list)  # seconds: when sent, until in the outbox


def step(title: str) -> None:
    """A heading."""
    click.echo("\n" + click.style(title, bold=True))


def tell(text: str) -> None:
    """A paragraph for people."""
    click.echo(textwrap.indent(textwrap.fill(text, 96), "   "))


class Line:
    """A line that is written over on a terminal; elsewhere some of its states, one below the other."""

    EVERY = 8

    def __init__(self) -> None:
        self._number, self._live = -1, sys.stdout.isatty()

    def show(self, number: int, text: str) -> None:
        """State ``number``, unless it was shown."""
        if number == self._number:
            return
        self._number = number
        if self._live:
            click.echo(f"\r\x1b[K   {text[: shutil.get_terminal_size().columns - 4]}", nl=False)
        elif not number % self.EVERY:
            click.echo(f"   {text}")

    def end(self) -> None:
        """Go on below."""
        if self._live:
            click.echo()


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Say what goes on, then how long it took."""
    start = time.perf_counter()
    click.echo(f"   {text} …", nl=False)
    yield
    click.echo(f" {time.perf_counter() - start:.1f} s")
