"""``tamis export``: writes subscriptions as rules of another system."""

from __future__ import annotations

from pathlib import Path

import click

from tamis.cli.import_ import SOME_REFUSED
from tamis.cli.support import counted, json_line, note, output
from tamis.errors import InputError

_SHOWN = 10
# Repeated here, because the library is slow to import.
EXPORTS = ("eventbridge", "elasticsearch")


@click.command("export", short_help="Export subscriptions as rules of another system.")
@click.argument("form", metavar="FORMAT", type=click.Choice(EXPORTS))
@click.argument(
    "source", metavar="SUBSCRIPTIONS", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the rules here, as JSON lines, instead of stdout.",
)
@click.pass_context
def export(context: click.Context, form: str, source: Path, target: Path | None) -> None:
    """Export SUBSCRIPTIONS (JSON lines) as rules in FORMAT, each with its id.

    A rule is refused unless its import gives the same expression again. The exit status is 3 if some
    subscriptions were refused.
    """
    from tamis.index.readers import decode_line
    from tamis.rules.export import export as exported

    lines = [decode_line(line) for line in source.read_bytes().splitlines() if line.strip()]
    for number, line in enumerate(lines, 1):
        if not isinstance(line, dict):
            raise InputError(
                f"line {number} of {source} is no subscription: an object with id and expression"
            )
    found = exported(form, lines)
    with output(target) as out:
        for name, rule in found.rules:
            out.write(json_line({"id": name, "rule": rule}))
    for name, error in found.refused[:_SHOWN]:
        note(f"refused {name}: {error.code}: {error.message}")
    note(f"{counted(len(found.rules), 'rule')} exported, {len(found.refused):,} refused")
    if found.refused:
        context.exit(SOME_REFUSED)
