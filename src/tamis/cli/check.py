"""``tamis check`` and ``tamis info``: check an expression or an index, and describe an index."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from tamis.cli.support import INDEX, Failure, counted, open_index, print_json
from tamis.errors import TamisError

# Repeated here, because the library is slow to import.
FORMS = ("text", "json", "query-string", "search-box", "eventbridge", "lucene")
_SHORT = {"query": "query-string", "search": "search-box"}


@click.command(short_help="Check an expression or an index.")
@click.argument("subject", metavar="EXPRESSION|INDEX")
@click.option(
    "--form",
    type=click.Choice([*FORMS, *_SHORT]),
    help="The form of the expression; the default is text or JSON.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON form or the error, for programs.")
def check(subject: str, form: str | None, as_json: bool) -> None:
    """Check an EXPRESSION and print it in canonical form, or check every file of an INDEX.

    An expression may be SQL-like text, JSON, a query string (--form query), the input of a search
    box (--form search), an EventBridge pattern (--form eventbridge) or a Lucene query (--form
    lucene); - reads it from stdin.
    """
    path = Path(subject)
    try:
        if form is None and len(subject) < 4096 and path.exists():
            _check_index(path, as_json)
        else:
            text = sys.stdin.read() if subject == "-" else subject
            _check_expression(text, form, as_json)
    except TamisError as error:
        if as_json:
            print_json({"valid": False, "error": error.as_dict()})
        raise Failure(error) from None


def _check_index(path: Path, as_json: bool) -> None:
    import tamis

    start = time.perf_counter()
    index = tamis.Index.open(path, verify=True)
    index.check()
    spent = time.perf_counter() - start
    if as_json:
        print_json({"valid": True, "subscriptions": len(index), "seconds": spent})
    else:
        click.echo(f"{path}: {counted(len(index), 'subscription')}, sound")


def _check_expression(text: str, form: str | None, as_json: bool) -> None:
    from tamis import language

    tree = language.read(text, _SHORT.get(form or "", form))
    if as_json:
        print_json({"valid": True, "text": language.to_text(tree), "expression": language.to_json(tree)})
    else:
        click.echo(language.to_text(tree))


@click.command(short_help="Describe an index.")
@INDEX
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def info(index: Path, as_json: bool) -> None:
    """Describe INDEX: subscriptions, segments, engine, size."""
    found = open_index(index).info()
    if as_json:
        print_json(found)
    else:
        for line in _lines(found, ""):
            click.echo(line)


def _lines(found: dict[str, Any], indent: str) -> list[str]:
    """Return ``name: value`` lines; each object of a list becomes an indented block."""
    lines = []
    for name, value in found.items():
        label = f"{indent}{name.replace('_', ' ')}"
        if isinstance(value, dict):
            lines += [f"{label}:", *_lines(value, indent + "  ")]
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for number, item in enumerate(value, 1):
                lines += [f"{label.removesuffix('s')} {number}:", *_lines(item, indent + "  ")]
        else:
            lines.append(f"{label}: {value:,}" if type(value) is int else f"{label}: {value}")
    return lines
