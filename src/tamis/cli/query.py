"""``tamis top`` and ``tamis explain``: the best matches of events, and the reasons of a match."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from tamis.cli.events import EVENTS, ON_ERROR, Portion, portions
from tamis.cli.support import INDEX, json_line, note, open_index, output, print_json
from tamis.errors import EventError, EventSyntax


@click.command(short_help="Find the best matches of events, with scores.")
@INDEX
@EVENTS
@click.option(
    "-k", type=click.IntRange(1), default=10, show_default=True, help="The greatest number of matches."
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write here instead of stdout.",
)
@ON_ERROR
def top(index: Path, events: Path, k: int, target: Path | None, on_error: str) -> None:
    """Find the K best matches of each of EVENTS with their scores, best first, as JSON lines."""
    from tamis.index.refused_events import Refusal, placed

    opened = open_index(index)
    refused = 0
    with output(target) as out:
        for portion in portions(events):
            for number, event in enumerate(_each(portion), portion.first):
                try:
                    best = opened.top_k(event(), k=k)
                except EventError as error:
                    if on_error == "raise":
                        raise placed(Refusal(number, error)) from None
                    refused += 1
                    if on_error == "report":
                        note(f"event {number} refused: {error.code}: {error}")
                    continue
                out.write(json_line({"event": number, "top": [{"id": name, "score": s} for name, s in best]}))
            out.flush()
    if refused and on_error == "report":
        note(f"{refused:,} refused")


def _each(portion: Portion) -> Iterator[Callable[[], Any]]:
    """Return the events of a portion as callables, so that each can be refused separately."""
    from tamis.limits import DEFAULT_LIMITS
    from tamis.space.table_row import event_of_row
    from tamis.values.event import decode_event

    if portion.lines is not None:
        return (partial(decode_event, line) for line in portion.lines)
    return (
        partial(event_of_row, portion.source, row, DEFAULT_LIMITS) for row in range(portion.source.num_rows)
    )


@click.command(short_help="Explain why a subscription matches an event or not.")
@INDEX
@click.argument("name", metavar="ID")
@click.argument("event", required=False, metavar="[EVENT]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def explain(index: Path, name: str, event: str | None, as_json: bool) -> None:
    """Explain, predicate by predicate, why subscription ID of INDEX matches EVENT or does not.

    EVENT is JSON text or the name of a file with it; without EVENT, stdin is read.
    """
    from tamis.values.event import decode_event

    explanation = open_index(index).explain(name, decode_event(_event_text(event)))
    if as_json:
        print_json(explanation.as_dict())
    else:
        click.echo(str(explanation))


def _event_text(event: str | None) -> bytes:
    if event is None or event == "-":
        return sys.stdin.buffer.read()
    if event.lstrip().startswith("{"):
        return event.encode("utf-8", "surrogatepass")
    if not Path(event).is_file():
        raise EventSyntax(f"{event[:80]!r} is neither a JSON object nor a file")
    return Path(event).read_bytes()
