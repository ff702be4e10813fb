"""Reads events: lines from a pipe or a file, or a Parquet file.

Lines are read in portions of what has arrived, so that a slow pipe is answered at once and a fast one is
matched in large batches.
"""

from __future__ import annotations

import contextlib
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import click

from tamis.contract.on_error import ON_ERROR as CHOICES
from tamis.limits import DEFAULT_LIMITS

PORTION = 1 << 22

EVENTS = click.argument(
    "events",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
    default="-",
    metavar="[EVENTS]",
)


ON_ERROR = click.option(
    "--on-error",
    type=click.Choice(CHOICES),
    default="report",
    show_default=True,
    help="For a refused event: count it on stderr, stop with its error, or skip it silently.",
)


AUDIT = click.option(
    "--audit",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    metavar="SHARE",
    help="Match this share of the events again with the tree evaluator; a difference is an error.",
)


class Portion(NamedTuple):
    """Consecutive events: their source for the matcher, their lines if any, and the number of the first."""

    source: Any
    lines: list[bytes] | None
    first: int


def portions(path: Path) -> Iterator[Portion]:
    """Yield the events of ``path`` (``-`` for stdin) as they become available."""
    if path.suffix == ".parquet":
        yield from _parquet(path)
        return
    first = 0
    with _binary(path) as stream:
        for lines in line_batches(stream, DEFAULT_LIMITS.event_bytes):
            yield Portion(lines, lines, first)
            first += len(lines)


def _parquet(path: Path) -> Iterator[Portion]:
    from tamis.columns.tables import parquet_batches

    first = 0
    for batch in parquet_batches(path):
        yield Portion(batch, None, first)
        first += batch.num_rows


@contextlib.contextmanager
def _binary(path: Path) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield sys.stdin.buffer
    elif path.suffix == ".gz":
        import gzip

        with gzip.open(path, "rb") as unzipped:
            yield unzipped  # type: ignore[misc]
    else:
        with path.open("rb") as file:
            yield file


def line_batches(stream: IO[bytes], longest: int) -> Iterator[list[bytes]]:
    """Yield the lines that have arrived, again and again, without blank ones.

    A line longer than ``longest`` and a portion is truncated, to a length that is still refused.
    """
    rest = b""
    while chunk := _arrived(stream):
        if len(rest) > longest:  # in the middle of an overlong line: skip to its end
            _, newline, chunk = chunk.partition(b"\n")
            chunk = newline + chunk
        *lines, rest = (rest + chunk).split(b"\n")
        rest = rest[: longest + 1]
        if found := [line for line in lines if line.strip()]:
            yield found
    if rest.strip():
        yield [rest]


def _arrived(stream: IO[bytes]) -> bytes:
    """Return the bytes available without waiting, up to a portion; wait only if there are none yet."""
    read = getattr(stream, "read1", stream.read)
    parts = [read(PORTION)]
    size = len(parts[0])
    while parts[-1] and size < PORTION and _ready(stream):
        parts.append(read(PORTION - size))
        size += len(parts[-1])
    return b"".join(parts)


def _ready(stream: IO[bytes]) -> bool:
    """Return whether a read would not wait."""
    try:
        return bool(select.select([stream.fileno()], [], [], 0)[0])
    except (OSError, ValueError):
        return False
