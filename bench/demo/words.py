"""Print the demonstration's text, and keep its measurements."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click


@dataclass
class Show:
    """The measurements of the demonstration, for the tables and the picture."""

    searches: int
    listings: int
    rates: dict[str, float] = field(default_factory=dict)
    latencies: dict[str, list[float]] = field(default_factory=dict)  # µs, one listing at a time
    waits: list[tuple[float, float]] = field(default_factory=list)  # seconds: when sent, and delay to outbox


def step(title: str) -> None:
    """Print a heading."""
    click.echo("\n" + click.style(title, bold=True))


def paragraph(text: str) -> None:
    """Print a paragraph."""
    click.echo(textwrap.indent(textwrap.fill(text, 96), "   "))


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Print a message, run the block, then print how long it took."""
    start = time.perf_counter()
    click.echo(f"   {text} …", nl=False)
    yield
    click.echo(f" {time.perf_counter() - start:.1f} s")
