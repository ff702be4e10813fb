"""``tamis build``: builds an index from a file of subscriptions."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from tamis.cli.analysers import analyser_option, read_analysers
from tamis.cli.limits import limit_option, parameter, read_limits
from tamis.cli.subscriptions import FORMATS, subscriptions
from tamis.cli.support import counted, json_line, note, print_json, progress
from tamis.errors import InputError

_SHOWN = 20


@click.command(short_help="Build an index of subscriptions.")
@click.argument(
    "source",
    metavar="SUBSCRIPTIONS",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
)
@click.option(
    "-o", "--output", "target", type=click.Path(path_type=Path), required=True, help="The index to write."
)
@click.option("--engine", default="hybrid", show_default=True, help="The search engine; auto tries them all.")
@click.option(
    "--parameter",
    "parameters",
    metavar="NAME=VALUE",
    multiple=True,
    help="A parameter of the engine; repeatable.",
)
@analyser_option
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="The format, if the file's name does not show it.",
)
@click.option(
    "--sample",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Typical events (.jsonl or .parquet), which show the index the frequent values.",
)
@click.option("--skip-errors", is_flag=True, help="Leave out invalid subscriptions and report them.")
@click.option(
    "--refused",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the refused subscriptions here, as JSON lines.",
)
@click.option(
    "--ignore",
    metavar="FIELD",
    multiple=True,
    help="A field or column to ignore; other unknown ones are refused. Repeatable; '*' ignores all.",
)
@limit_option
@click.option("--force", is_flag=True, help="Replace an existing index.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def build(
    source: Path,
    target: Path,
    engine: str,
    parameters: tuple[str, ...],
    analysers: tuple[str, ...],
    form: str | None,
    sample: Path | None,
    skip_errors: bool,
    refused: Path | None,
    ignore: tuple[str, ...],
    limits: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Build an index of SUBSCRIPTIONS (JSON lines, CSV or Parquet; - for stdin).

    JSON lines and CSV have an id and an expression each: {"id": "s1", "expression": "price <= 580"}.
    """
    import tamis

    if target.exists() and not force:
        raise InputError(f"{target} exists; --force replaces it")
    start = time.perf_counter()
    skip = skip_errors or refused is not None
    with progress("building", " subscriptions") as shown:
        index = tamis.Index.build(
            subscriptions(source, form, ignore),
            engine=engine,
            parameters=dict(map(parameter, parameters)),
            analysers=read_analysers(analysers),
            sample=sample,
            on_error="skip" if skip else "raise",
            ignore=ignore,
            limits=read_limits(limits),
            progress=shown,
        )
    index.save(target)
    bad = [{"id": name, **error.as_dict()} for name, error in index.refused]
    if refused:
        refused.write_bytes(b"".join(map(json_line, bad)))
    _summary(index, target, bad, time.perf_counter() - start, as_json)


def _summary(index: Any, target: Path, refused: list[dict[str, Any]], spent: float, as_json: bool) -> None:
    if as_json:
        print_json({"index": str(target), "subscriptions": len(index), "refused": refused, "seconds": spent})
        return
    for entry in refused[:_SHOWN]:
        place = "line" if "line" in entry else "row"
        note(f"refused {entry['id']} ({place} {entry[place]}): {entry['code']}: {entry['message']}")
    if len(refused) > _SHOWN:
        note(f"… and {len(refused) - _SHOWN:,} more (--refused FILE lists them all)")
    left_out = f", {len(refused):,} refused" if refused else ""
    note(f"{target}: {counted(len(index), 'subscription')}{left_out}, built in {spent:.1f} s")
