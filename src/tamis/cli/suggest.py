"""``tamis suggest``: finds expressions that separate wanted events from others."""

from __future__ import annotations

from pathlib import Path

import click

from tamis.cli.support import print_json

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(short_help="Find expressions that match some events and not others.")
@click.argument("wanted", type=_FILE, metavar="WANTED")
@click.argument("others", type=_FILE, metavar="OTHERS")
@click.option(
    "-n", "most", type=click.IntRange(1), default=5, show_default=True, help="Expressions to print."
)
@click.option(
    "--longest", type=click.IntRange(1, 5), default=3, show_default=True, help="Predicates in a conjunction."
)
@click.option("--ignore", multiple=True, metavar="ATTRIBUTE", help="Leave this attribute out; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def suggest(
    wanted: Path, others: Path, most: int, longest: int, ignore: tuple[str, ...], as_json: bool
) -> None:
    """Propose short expressions that match the events of WANTED and not those of OTHERS.

    Both are JSON lines or Parquet. Each expression stands beside the number of events that it matches.
    """
    from tamis.planning.suggest import suggest as run

    found = run(wanted, others, most=most, longest=longest, ignore=ignore)
    if as_json:
        print_json([one.as_dict() for one in found])
        return
    for one in found:
        click.echo(str(one))
