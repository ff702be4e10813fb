"""Provide ``python -m bench changes``."""

from __future__ import annotations

import click

from bench.options import known_workload
from bench.workloads import Workload
from tamis.head.structures import DEFAULT, NAMES


def _numbers(_context: click.Context, _parameter: click.Parameter, text: str) -> list[int]:
    try:
        return [int(part.replace("_", "")) for part in text.split(",") if part.strip()]
    except ValueError:
        raise click.BadParameter(f"write whole numbers with commas between them, not {text!r}") from None


@click.command("changes")
@click.argument("workload", default="w4-dense", callback=known_workload)
@click.option("--sizes", default="0,100000,1000000", callback=_numbers, help="Indexes that are changed.")
@click.option("--changes", type=click.IntRange(100), default=10_000, help="Changes of each kind.")
@click.option("--heads", default="1000,10000,100000", callback=_numbers, help="Fresh subscriptions to match.")
@click.option("--head", type=click.Choice(NAMES), default=DEFAULT, help="The structure of the head.")
@click.option("--events", "-m", type=click.IntRange(16), default=4_000)
def changes_command(
    workload: Workload, sizes: list[int], changes: int, heads: list[int], head: str, events: int
) -> None:
    """Measure changes against a parse of the same text, and fresh subscriptions against a segment.

    Times are processor time. A ratio compares two figures of the same run.
    """
    from bench.changes.measure import change_cost, match_cost, warm_up

    warm_up(workload, head)
    click.echo(f"{workload.name}: cost of a change in parses")
    click.echo(f"{'index':>10} {'parse µs':>9} {'add':>6} {'update':>7} {'remove':>7} {'apply':>6}")
    for size in sizes:
        cost = change_cost(workload, size, changes, head)
        parses = cost.in_parses()
        click.echo(
            f"{size:>10,} {cost.parse:>9.1f} {parses['add']:>6.1f} {parses['update']:>7.1f}"
            f" {parses['remove']:>7.1f} {parses['apply']:>6.1f}"
        )
    click.echo(f"\n{workload.name}: µs an event, fresh subscriptions beside the same ones in a segment")
    pair = f" {'head':>8} {'segment':>8} {'ratio':>6}"
    click.echo(f"{'fresh':>10}{pair}{pair}   (in tables; one by one)")
    for count in heads:
        match = match_cost(workload, count, events, head)
        click.echo(
            f"{count:>10,} {match.head_table:>8.2f} {match.segment_table:>8.2f}"
            f" {match.head_table / match.segment_table:>6.2f} {match.head_one:>8.1f}"
            f" {match.segment_one:>8.1f} {match.head_one / match.segment_one:>6.2f}"
        )
