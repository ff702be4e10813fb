"""Provide ``python -m bench text``."""

from __future__ import annotations

import click


@click.command("text")
@click.option("--queries", "-n", type=click.IntRange(100), default=100_000)
@click.option(
    "--documents", "-m", type=click.IntRange(16), default=500, help="In each round, all of them new."
)
@click.option("--rounds", type=click.IntRange(1), default=6)
@click.option("--engine", "-e", default="hybrid")
@click.option("--rules", type=click.IntRange(1), default=10_000, help="LIKE patterns with an inner %.")
def text_command(queries: int, documents: int, rounds: int, engine: str, rules: int) -> None:
    """Measure what phrases, accents and other terms cost beside plain words, in processor time."""
    from bench.text.measure import as_table, inner_wildcards, measure
    from bench.workloads.w3 import W3

    rows = measure(W3(), queries, documents, rounds, engine, lambda text: click.echo(text, err=True))
    click.echo(as_table(rows))
    found = inner_wildcards(rules, 200)
    click.echo(
        f"\n{found.rules:,} rules LIKE '%a%b%': {found.microseconds:,.0f} µs an event, "
        f"{found.first_s:.2f} s for the first, {found.matches:.2f} matches"
    )
