"""Run ``python -m bench.pstree``: the comparison in one dimension."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import click
import numpy as np

from bench import report
from bench.pstree._kernels import scan_intervals
from bench.pstree.trees import FrozenPSTree, IntervalTree, Ints, Pairs, SegmentTree
from bench.timing import seconds, timed

DOMAIN = 1 << 30
STRUCTURES: dict[str, Callable[[Ints, Ints], Any]] = {
    "PS-Tree": FrozenPSTree,
    "segment tree": SegmentTree,
    "interval tree": IntervalTree,
}
HEADINGS = ("structure", "query ms", "ns a point", "× PS-Tree", "build ms", "MB")
SCANNED = 200  # number of points on which a scan is timed


class Disagreement(Exception):
    """Two structures gave different pairs."""


def material(intervals: int, points: int, around: float, seed: int) -> tuple[Ints, Ints, Ints]:
    """Return points, and intervals so long that a point lies in ``around`` of them on average."""
    rng = np.random.default_rng([seed, intervals, points])
    low = rng.integers(0, DOMAIN, intervals)
    length = rng.integers(0, int(2 * around * DOMAIN / intervals) + 1, intervals)
    return low, low + length, rng.integers(0, DOMAIN, points)


class Row(NamedTuple):
    """The times of a structure; a scan builds nothing."""

    name: str
    query_s: float
    build_s: float = 0.0
    nbytes: int = 0


def compare(intervals: int, points: int, around: float, seed: int, repeats: int) -> list[list[str]]:
    """Return a row of text for each structure; raise :class:`Disagreement` unless all pairs are equal."""
    rows = structures(intervals, points, around, seed, repeats)
    return [_text(row, points, rows[0].query_s) for row in rows]


def structures(intervals: int, points: int, around: float, seed: int, repeats: int) -> list[Row]:
    """Return a row for each structure; raise :class:`Disagreement` unless all find the same pairs."""
    low, high, at = material(intervals, points, around, seed)
    rows: list[Row] = []
    expected: set[Any] | None = None
    for name, make in STRUCTURES.items():
        make(low[:10], high[:10]).pairs(at[:10])  # compile before the clock starts
        build_s = min(seconds(partial(make, low, high))[0] for _ in range(repeats))
        structure = make(low, high)
        found = canonical(structure.pairs(at))
        if expected is not None and found != expected:
            raise Disagreement(f"{name} finds other pairs than {next(iter(STRUCTURES))}")
        expected = found
        rows.append(Row(name, min(timed(partial(structure.pairs, at), repeats)), build_s, structure.nbytes()))
        if isinstance(structure, FrozenPSTree):
            rows.append(Row("  locating alone", min(timed(partial(structure.locate, at), repeats))))
    scan_intervals(at[:1], low[:1], high[:1])
    spent = seconds(lambda: scan_intervals(at[:SCANNED], low, high))[0] * points / min(SCANNED, points)
    return [*rows, Row(f"scan (from {min(SCANNED, points)} points)", spent)]


def canonical(pairs: Pairs) -> set[Any]:
    """Return the pairs in a canonical order."""
    point, interval = pairs
    return set((point * (1 << 32) + interval).tolist())


def _text(row: Row, points: int, best: float) -> list[str]:
    figure = report.figure
    return [
        row.name,
        figure(1e3 * row.query_s),
        figure(1e9 * row.query_s / points),
        figure(row.query_s / best),
        figure(1e3 * row.build_s) if row.build_s else "–",
        figure(row.nbytes / 1e6) if row.nbytes else "–",
    ]


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("--intervals", "-n", type=click.IntRange(1), default=100_000)
@click.option("--points", "-m", type=click.IntRange(1), default=100_000)
@click.option(
    "--around",
    type=click.FloatRange(0.0, 1000.0),
    default=10.0,
    help="Mean number of intervals around a point.",
)
@click.option("--seed", type=click.IntRange(0), default=1)
@click.option("--repeats", type=click.IntRange(1), default=3)
def main(intervals: int, points: int, around: float, seed: int, repeats: int) -> None:
    """Ask each structure for all intervals around each point; all must find the same."""
    try:
        rows = compare(intervals, points, around, seed, repeats)
    except Disagreement as different:
        raise click.ClickException(str(different)) from None
    click.echo(f"{intervals:,} intervals, {points:,} points, about {around:g} intervals around a point")
    click.echo(report.table(HEADINGS, rows))


if __name__ == "__main__":
    main(prog_name="python -m bench.pstree")
