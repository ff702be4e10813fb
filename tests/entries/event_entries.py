"""List every entry point for events of the library and the command line, with its outcome."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner, Result

import tamis
from tamis.cli import main
from tamis.index.results import MatchTable
from tests.entries.book import BOOK, NOTHING
from tests.entries.outcome import Outcome, needs, refused

Run = Callable[["Places", Any], Iterable[str]]


class Places(NamedTuple):
    """An index in memory, the same index saved, and a folder for files."""

    index: tamis.Index
    saved: Path
    folder: Path


class Entry(NamedTuple):
    """An entry point: its name, the form that it takes, and its function from an event to an outcome."""

    name: str
    form: str  # object, line or table
    run: Run
    differs: Mapping[str, Outcome] = MappingProxyType({})  # kinds with another meaning here
    leaves_out: Mapping[str, str] = MappingProxyType({})  # kinds that cannot be written in this form, and why


def _many(found: MatchTable) -> Iterable[str]:
    """Return the outcome of the only event of a batch."""
    if found.refused:
        (one,) = found.refused
        assert one.position == 0
        assert found.num_rows == 0
        return refused(one.code, one.message)
    return list(found["subscription"].to_pylist())


def _batches(places: Places, event: Any) -> Iterable[str]:
    (batch,) = places.index.match_batches([event])
    if batch.refused:
        return refused(batch.refused[0].code, batch.refused[0].message)
    return list(batch.table["subscription"].to_pylist())


def _pairs(places: Places, event: Any) -> Iterable[str]:
    (batch,) = places.index.match_pairs([event])
    if batch.refused:
        return refused(batch.refused[0].code, batch.refused[0].message)
    return [name for part in batch.parts for name in part.ids().to_pylist()]


def _explained(places: Places, event: Any) -> Iterable[str]:
    return [name for name in BOOK if places.index.explain(name, event).matched]


def _among_others(places: Places, event: Any) -> Iterable[str]:
    """Match a strange event between two plain ones, which must match in any case."""
    found = places.index.match_many([{"x": 1}, event, {"x": 1}])
    rows = found.to_pydict()
    by_event = {at: set() for at in range(3)}
    for at, name in zip(rows["event"], rows["subscription"], strict=True):
        by_event[at].add(name)
    assert by_event[0] == by_event[2] == {"one", "has", "always"}
    if found.refused:
        return refused(found.refused[0].code, found.refused[0].message)
    return by_event[1]


def _sampled(places: Places, event: Any) -> Iterable[str]:
    """Build with the event as sample; it only steers the layout, and an invalid sample is reported."""
    index = tamis.Index.build(BOOK, sample=[event, {"x": 1}])
    assert set(index.match({"x": 1})) == {"one", "has", "always"}
    return index.match(event)


def _advised(places: Places, event: Any) -> Iterable[str]:
    advice = [tamis.advise(text, [event]) for text in BOOK.values()]
    if not all(one.selectivity.events for one in advice):
        return places.index.match(event)  # raises: the event was left out of the sample
    return [name for name, one in zip(BOOK, advice, strict=True) if one.selectivity.matched]


def _backtested(places: Places, event: Any) -> Iterable[str]:
    found = {name: tamis.backtest(text, [{"x": 1}, event]) for name, text in BOOK.items()}
    if found["always"].refused:
        (one,) = found["always"].first_refused
        assert one.position == 1
        return refused(one.code, one.message)
    return [name for name, one in found.items() if 1 in [row for row, _ in one.examples.first]]


def _frame(places: Places, event: Any) -> Iterable[str]:
    needs(isinstance(event, dict) and event, "a frame has columns")
    columns = {name: pd.Series([value], dtype=object) for name, value in event.items()}
    return _many(places.index.match_many(pd.DataFrame(columns)))


def _polars(places: Places, table: pa.Table) -> Iterable[str]:
    try:
        frame = pl.DataFrame(table)
    except Exception as bad:  # Polars itself does not take the table
        needs(False, f"Polars does not take it: {bad}")
    return _many(places.index.match_many(frame))


def _written(places: Places, line: bytes, name: str) -> Path:
    file = places.folder / name
    file.write_bytes(gzip.compress(line + b"\n") if name.endswith(".gz") else line + b"\n")
    return file


def _parquet(places: Places, table: pa.Table) -> Path:
    file = places.folder / "events.parquet"
    try:
        pq.write_table(table, file)
    except (pa.ArrowException, ValueError) as bad:
        needs(False, f"Parquet does not take it: {bad}")
    return file


def _command(*arguments: Any, stdin: bytes = b"") -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


def _said(result: Result) -> Outcome:
    """Return the code and message of a command that ended with an error."""
    assert result.exit_code == 1, result.output
    _, code, message = result.stderr.strip().split(": ", 2)
    return refused(code, message)


def _matched(result: Result) -> Iterable[str]:
    """Return the matches that ``tamis match --json`` wrote."""
    if result.exit_code:
        return _said(result)
    lines = result.stdout.splitlines()
    if "refused" in result.stderr:
        code = result.stderr.split("refused: ")[1].split()[0]
        return refused(code, result.stderr)
    assert len(lines) == 1, result.output
    return list(json.loads(lines[0])["subscriptions"])


def _top(places: Places, line: bytes) -> Iterable[str]:
    result = _command("top", places.saved, "-k", 50, stdin=line)
    if "refused" in result.stderr:
        return refused(result.stderr.split("refused: ")[1].split(":")[0], result.stderr)
    return [one["id"] for one in json.loads(result.stdout)["top"]]


def _explain(places: Places, line: bytes) -> Iterable[str]:
    found = []
    for name in BOOK:
        result = _command("explain", places.saved, name, "--json", stdin=line)
        if result.exit_code:
            return _said(result)
        if json.loads(result.stdout)["matched"]:
            found.append(name)
    return found


_NO_POLARS = {
    "repeated name": "a frame has a name once",
    "UUID": "Polars makes bytes of it",
    "time outside the calendar": "Polars lets it overflow before we see it",
}
_NO_FRAME = {"NaN": NOTHING}  # pandas writes missing numbers as NaN

EVENT_ENTRIES = (
    Entry("Index.match", "object", lambda places, event: places.index.match(event)),
    Entry("Index.top_k", "object", lambda places, event: [name for name, _ in places.index.top_k(event, 50)]),
    Entry("Index.explain", "object", _explained),
    Entry("Index.match_many, list", "object", lambda places, event: _many(places.index.match_many([event]))),
    Entry(
        "Index.match_many, iterator",
        "object",
        lambda places, event: _many(places.index.match_many(iter([event]))),
    ),
    Entry("Index.match_many, among others", "object", _among_others),
    Entry("Index.match_many, pandas", "object", _frame, _NO_FRAME),
    Entry("Index.match_batches", "object", _batches),
    Entry("Index.match_pairs", "object", _pairs),
    Entry("Index.build, sample", "object", _sampled),
    Entry("advise, sample", "object", _advised),
    Entry("backtest", "object", _backtested),
    Entry("Index.match_many, lines", "line", lambda places, line: _many(places.index.match_many([line]))),
    Entry("Index.match_json", "line", lambda places, line: places.index.match_json(line)),
    Entry(
        "Index.match_many, .jsonl",
        "line",
        lambda places, line: _many(places.index.match_many(_written(places, line, "e.jsonl"))),
    ),
    Entry(
        "Index.match_many, .jsonl.gz",
        "line",
        lambda places, line: _many(places.index.match_many(_written(places, line, "e.jsonl.gz"))),
    ),
    Entry(
        "tamis match",
        "line",
        lambda places, line: _matched(_command("match", places.saved, "--all", stdin=line)),
    ),
    Entry(
        "tamis match, file",
        "line",
        lambda places, line: _matched(
            _command("match", places.saved, _written(places, line, "e.jsonl"), "--all")
        ),
    ),
    Entry(
        "tamis match --on-error raise",
        "line",
        lambda places, line: _matched(
            _command("match", places.saved, "--all", "--on-error", "raise", stdin=line)
        ),
    ),
    Entry("tamis top", "line", _top),
    Entry("tamis explain", "line", _explain),
    Entry("Index.match_many, Arrow", "table", lambda places, table: _many(places.index.match_many(table))),
    Entry(
        "Index.match_many, record batch",
        "table",
        lambda places, table: _many(places.index.match_many(table.combine_chunks().to_batches()[0])),
    ),
    Entry(
        "Index.match_many, reader",
        "table",
        lambda places, table: _many(places.index.match_many(table.to_reader())),
    ),
    Entry("Index.match_many, Polars", "table", _polars, leaves_out=_NO_POLARS),
    Entry(
        "Index.match_many, .parquet",
        "table",
        lambda places, table: _many(places.index.match_many(_parquet(places, table))),
    ),
    Entry(
        "tamis match, .parquet",
        "table",
        lambda places, table: _matched(_command("match", places.saved, _parquet(places, table), "--all")),
    ),
)
