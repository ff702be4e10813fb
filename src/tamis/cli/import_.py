"""``tamis import``: imports rules of other systems as subscriptions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tamis.cli.limits import limit_option, read_limits
from tamis.cli.support import counted, json_line, note, output, print_json, progress
from tamis.errors import InputError

SOME_REFUSED = 3
_SHOWN = 10
# Repeated here, because the library is slow to import.
FORMATS = (
    "sigma",
    "elasticsearch",
    "mongodb",
    "jsonlogic",
    "unleash",
    "growthbook",
    "cql2",
    "cesql",
    "cel",
    "eventbridge",
    "lucene",
    "sql",
)


@click.command("import", short_help="Import rules of other systems.")
@click.argument("form", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("source", metavar="RULES", type=click.Path(path_type=Path, exists=True))
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the subscriptions here, as JSON lines, instead of stdout.",
)
@click.option(
    "--report",
    "reports",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    help="Write a report: a web page (.html) or JSON (.json). Repeatable.",
)
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the format; @FILE reads the value from a JSON file. Repeatable.",
)
@limit_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.pass_context
def import_(
    context: click.Context,
    form: str,
    source: Path,
    target: Path | None,
    reports: tuple[Path, ...],
    options: tuple[str, ...],
    limits: tuple[str, ...],
    as_json: bool,
) -> None:
    """Import RULES, a file or a folder, written in FORMAT, as subscriptions for tamis build.

    Each rule is imported, imported with a stated difference, or refused with a reason. The exit
    status is 0 if all rules were imported, 3 if some were refused, and 1 if the import failed.
    """
    from tamis import rules

    for path in reports:
        if path.suffix not in (".html", ".json"):
            raise InputError(f"a report is written as .html or .json, not as {path.name}")
    if as_json and target is None:
        raise InputError(
            "--json prints the summary to stdout; name a file for the subscriptions with --output"
        )
    chosen = dict(map(_option, options))
    with progress("importing", " files") as shown:
        found = rules.read(form, source, limits=read_limits(limits), progress=shown, **chosen)
    if not found.rules and not found.refused:
        raise InputError(f"{source} holds no rule")
    with output(target) as out:
        for rule in found.rules:
            out.write(json_line(rule.as_dict()))
    for path in reports:
        _write_report(path, found)
    _summary(found, target, as_json)
    if found.refused:
        context.exit(SOME_REFUSED)


def _option(text: str) -> tuple[str, Any]:
    """Return NAME=VALUE as a name and a text, or the content of the JSON file behind ``@``."""
    import msgspec

    name, sign, value = text.partition("=")
    if not sign or not name:
        raise InputError(f"--option takes NAME=VALUE, not {text[:80]!r}")
    if not value.startswith("@"):
        return name, value
    try:
        return name, msgspec.json.decode(Path(value[1:]).read_bytes())
    except msgspec.DecodeError as bad:
        raise InputError(f"{value[1:]} is not JSON: {bad}") from None


def _write_report(path: Path, found: Any) -> None:
    from tamis.rules.report import html_report

    if path.suffix == ".json":
        path.write_bytes(json_line(found.as_dict()))
    else:
        path.write_text(html_report(found), encoding="utf-8")


def _summary(found: Any, target: Path | None, as_json: bool) -> None:
    counts = found.summary()
    if as_json:
        print_json({"format": found.format, **counts})
        return
    for one in found.refused[:_SHOWN]:
        note(f"refused {one.title or one.id} ({one.place}): {one.error.code}: {one.error.message}")
    if len(found.refused) > _SHOWN:
        note(f"… and {len(found.refused) - _SHOWN:,} more (--report FILE lists them all)")
    where = f"{target}: " if target is not None else ""
    note(
        f"{where}{counted(counts['rules'], 'rule')}: {counts['imported']:,} imported, "
        f"{counts['with_difference']:,} with a stated difference, {counts['refused']:,} refused"
    )
