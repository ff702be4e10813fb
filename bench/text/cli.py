"""Provide ``python -m bench text``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bench.workloads.w3 import W3


@click.command("text")
@click.option("--queries", "-n", type=click.IntRange(100), default=100_000)
@click.option(
    "--documents", "-m", type=click.IntRange(16), default=500, help="In each round, all of them new."
)
@click.option("--rounds", type=click.IntRange(1), default=6)
@click.option("--engine", "-e", default="hybrid")
@click.option("--only", default="", help="Beside plain words, the cases whose names hold this.")
@click.option("--rules", type=click.IntRange(1), default=10_000, help="LIKE patterns with an inner %.")
@click.option("--lucene", type=click.IntRange(1), help="Instead: Lucene Monitor on at most so many.")
@click.option("--batch", type=click.IntRange(1), default=100, help="Documents that Lucene takes at a time.")
@click.option("--seconds", type=click.FloatRange(1), default=60.0, help="Processor time for Lucene.")
def text_command(
    queries: int,
    documents: int,
    rounds: int,
    engine: str,
    only: str,
    rules: int,
    lucene: int,
    batch: int,
    seconds: float,
) -> None:
    """Measure what phrases, accents and other terms cost beside plain words, in processor time."""
    from bench.text.measure import as_table, inner_wildcards, measure
    from bench.workloads.w3 import W3

    if lucene:
        click.echo(_against_lucene(W3(), queries, lucene, batch, seconds))
        return
    found = inner_wildcards(rules, 200)
    click.echo(
        f"{found.rules:,} rules LIKE '%a%b%': {found.microseconds:,.0f} µs an event, "
        f"{found.first_s:.2f} s for the first, {found.matches:.2f} matches"
    )
    rows = measure(W3(), queries, documents, rounds, engine, only, lambda text: click.echo(text, err=True))
    click.echo("\n" + as_table(rows))


def _against_lucene(texts: W3, queries: int, documents: int, batch: int, seconds: float) -> str:
    from bench.text.lucene import against_lucene

    pair = against_lucene(texts, queries, documents, batch, seconds)
    return (
        f"{queries:,} queries, {pair.documents:,} documents, the same {pair.matches:,.1f} matches in each\n"
        f"Tamis          {pair.tamis:>10,.0f} documents/s   build {pair.tamis_build_s:.1f} s\n"
        f"Lucene Monitor {pair.lucene:>10,.0f} documents/s   build {pair.lucene_build_s:.1f} s\n"
        f"ratio          {pair.ratio:>10,.1f}"
    )
