"""``tamis backtest``: tries an expression on stored events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tamis.cli.analysers import analyser_option, read_analysers
from tamis.cli.support import open_index, print_json, progress

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(short_help="Count how many stored events an expression would have matched.")
@click.argument("expression")
@click.argument("events", type=_FILE, metavar="EVENTS")
@click.option("--against", metavar="EXPRESSION", help="The expression in force, to compare with.")
@click.option(
    "--index", type=click.Path(path_type=Path), help="Take the expression in force from this index."
)
@click.option("--id", "name", metavar="ID", help="The subscription of --index that is in force.")
@click.option("--time", metavar="ATTRIBUTE", help="Count by day (or hour) of this attribute.")
@click.option("--examples", type=click.IntRange(0), default=10, show_default=True, help="Events to show.")
@analyser_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def backtest(
    expression: str,
    events: Path,
    against: str | None,
    index: Path | None,
    name: str | None,
    time: str | None,
    examples: int,
    analysers: tuple[str, ...],
    as_json: bool,
) -> None:
    """Count how many of EVENTS (JSON lines or Parquet) EXPRESSION would have matched, with examples.

    EXPRESSION is text or JSON. With --against, or with --index and --id, the report has the difference to the
    expression in force.
    """
    from tamis.planning.backtest import backtest as run

    in_force: Any = against
    declared = read_analysers(analysers)
    if (index is None) != (name is None) or (index is not None and against is not None):
        raise click.UsageError("give --against, or --index together with --id, or none of them")
    if index is not None:
        opened = open_index(index)
        in_force, declared = opened.expression(name), {**opened.analysers, **declared}
    with progress("matching", " events") as shown:
        found = run(
            expression,
            events,
            against=in_force,
            time=time,
            examples=examples,
            analysers=declared,
            progress=shown,
        )
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(str(found))
