"""``tamis match``: finds the matches of events."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import click

from tamis.cli.events import AUDIT, EVENTS, ON_ERROR, Portion, portions
from tamis.cli.support import INDEX, counted, json_line, note, open_index, output, print_json, progress
from tamis.cli.writers import WRITERS, Found
from tamis.errors import EventError

_KEPT = 65_536  # bytes of a refused line that are quarantined


@click.command(short_help="Find the subscriptions that match events.")
@INDEX
@EVENTS
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write here instead of stdout.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "tsv", "parquet"]),
    default="jsonl",
    show_default=True,
    help="jsonl: a line per event with matches; tsv and parquet: a row per (event, subscription).",
)
@click.option("--all", "every", is_flag=True, help="With jsonl, also a line for events without matches.")
@click.option("--with-event", is_flag=True, help="With jsonl, put the event itself into its line.")
@click.option("--threads", type=click.IntRange(1), help="The default is all cores.")
@click.option(
    "--device",
    default="cpu",
    show_default=True,
    help="What matches: cpu, cuda (a graphics card, cuda:1 for the second), or auto.",
)
@click.option(
    "--quarantine",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write refused events here, as JSON lines.",
)
@ON_ERROR
@AUDIT
@click.option("--json", "as_json", is_flag=True, help="Print the totals as JSON to stdout; needs --output.")
def match(
    index: Path,
    events: Path,
    target: Path | None,
    form: str,
    every: bool,
    with_event: bool,
    threads: int | None,
    device: str,
    quarantine: Path | None,
    on_error: str,
    audit: float | None,
    as_json: bool,
) -> None:
    """Find the subscriptions of INDEX that match EVENTS (JSON lines or Parquet; stdin by default).

    An event that cannot be read is reported on stderr and left out, unless --on-error says otherwise. Events
    are numbered from 0.
    """
    if target is None and (form == "parquet" or as_json):
        raise click.UsageError("--format parquet and --json need --output FILE")
    opened = open_index(index)
    totals = Totals(opened, threads, on_error, audit, device)
    with output(target) as out, _optional(quarantine) as kept, progress("matching", " events") as shown:
        writer = WRITERS[form](out, every, with_event)
        for portion in portions(events):
            found = totals.match(portion)
            _quarantine(kept, portion, totals.latest)
            writer.write(found)
            shown(totals.events, None)
        writer.close()
    totals.report(as_json)


class Totals:
    """Matches portions of events, and keeps the totals of the run."""

    def __init__(
        self, index: Any, threads: int | None, on_error: str, audit: float | None, device: str
    ) -> None:
        from tamis.index.audit import Audit
        from tamis.index.unseen import AttributeWatch

        self._index, self._threads, self._on_error, self._device = index, threads, on_error, device
        self._audit = None if audit is None else Audit(audit)
        self._watch = AttributeWatch()
        self.events = self.pairs = 0
        self.codes: Counter[str] = Counter()
        self.latest: list[tuple[int, EventError]] = []
        self.first: tuple[int, EventError] | None = None

    def match(self, portion: Portion) -> Found:
        """Return the matches of one portion, and count its events."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from tamis.index.refused_events import Refusal, placed

        tables, refused = [_no_pairs()], []
        for batch in self._index.match_batches(
            portion.source,
            threads=self._threads,
            on_error="skip",
            audit=self._audit,
            watch=self._watch,
            device=self._device,
        ):
            tables.append(batch.table)
            refused += [Refusal(portion.first + row, error) for row, error in batch.refused]
        if refused and self._on_error == "raise":
            raise placed(refused[0])
        count = portion.source.num_rows if portion.lines is None else len(portion.lines)
        pairs = pa.concat_tables(tables)
        pairs = pairs.set_column(0, "event", pc.add(pairs.column("event"), portion.first))
        self._count(count, pairs.num_rows, refused)
        return Found(portion.first, count, pairs, portion.lines, frozenset(row for row, _ in refused))

    def _count(self, events: int, pairs: int, refused: Sequence[tuple[int, EventError]]) -> None:
        self.events += events
        self.pairs += pairs
        self.codes.update(error.code for _, error in refused)
        self.latest = list(refused)
        self.first = self.first or next(iter(refused), None)

    def report(self, as_json: bool) -> None:
        """Report the number of refused events and likely mistakes; print all totals as JSON if requested."""
        advice = self._watch.advice()
        if as_json:
            totals: dict[str, Any] = {"events": self.events, "matches": self.pairs}
            totals |= {"refused": self.codes.total(), "refused_by_code": dict(self.codes), "advice": advice}
            if self._audit is not None:
                totals |= {"audited": self._audit.events, "decisions": self._audit.decisions}
            print_json(totals)
        if self.first and self._on_error == "report":
            number, error = self.first
            reasons = ", ".join(f"{code} {count:,}" for code, count in self.codes.most_common())
            note(f"{self.codes.total():,} of {counted(self.events, 'event')} refused: {reasons}")
            note(f"first: event {number}: {error}")
        for line in advice:
            note(line)
        if self._audit is not None:
            decided = counted(self._audit.decisions, "decision")
            note(f"audit: {counted(self._audit.events, 'event')} matched again, {decided}, no difference")


def _no_pairs() -> Any:
    import pyarrow as pa

    return pa.table({"event": pa.array([], pa.int64()), "subscription": pa.array([], pa.string())})


@contextlib.contextmanager
def _optional(path: Path | None) -> Iterator[IO[bytes] | None]:
    if path is None:
        yield None
    else:
        with path.open("wb") as file:
            yield file


def _quarantine(file: IO[bytes] | None, portion: Portion, refused: list[tuple[int, EventError]]) -> None:
    """Write refused events with their reasons; a very long line is truncated."""
    for number, error in refused if file else ():
        row: dict[str, Any] = {"event": number, **error.as_dict()}
        if portion.lines is not None:
            row["line"] = portion.lines[number - portion.first][:_KEPT].decode("utf-8", "replace")
        file.write(json_line(row))  # type: ignore[union-attr]
