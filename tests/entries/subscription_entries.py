"""List every entry point for subscriptions of the library and the command line, with its outcome."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import tamis
from tamis.contract.change import Change
from tests.entries.event_entries import _command, _said
from tests.entries.outcome import Outcome, needs, refused
from tests.entries.strange_subscriptions import Kind

EVENT = {"x": 1}
Verdict = bool | Outcome


class Entry(NamedTuple):
    """An entry point: its name, and its function from a subscription to an outcome."""

    name: str
    run: Callable[[Kind, Path], Verdict]


def row_of(kind: Kind) -> dict[str, Any]:
    """Return the subscription as an object."""
    return {"id": kind.id, "expression": kind.expression, **(kind.fields or {})}


def line_of(kind: Kind) -> bytes:
    """Return the subscription as a line of JSON."""
    needs(kind.is_json, "JSON has no such value")
    return json.dumps(row_of(kind)).encode()


def _built(source: Any) -> Verdict:
    """Build, skipping errors; every refused row must be listed with its position."""
    index = tamis.Index.build(source, on_error="skip")
    if index.refused:
        ((_, error),) = index.refused
        assert "row" in error.details or "line" in error.details
        return refused(error.code, error.message)
    assert len(index) == 1
    return list(index) == index.match(EVENT)


def _raised(source: Any) -> Verdict:
    return tamis.Index.build(source).match(EVENT) != []


def _mapping(kind: Kind, folder: Path) -> Verdict:
    needs(kind.fields is None, "a dictionary of expressions has no other fields")
    return _built({kind.id: kind.expression})


def _pairs(kind: Kind, folder: Path) -> Verdict:
    fields = kind.fields or {}
    needs(set(fields) <= {"priority"}, "a tuple has no names")
    return _built([(kind.id, kind.expression, *fields.values())])


def _object(kind: Kind, folder: Path) -> Verdict:
    fields = kind.fields or {}
    needs(set(fields) <= {"priority"}, "the class has no such field")
    return _built([tamis.Subscription(kind.id, kind.expression, **fields)])


def _file(kind: Kind, folder: Path, name: str) -> Path:
    line = line_of(kind) + b"\n"
    path = folder / name
    path.write_bytes(gzip.compress(line) if name.endswith(".gz") else line)
    return path


def _csv(kind: Kind, folder: Path) -> Path:
    fields = kind.fields or {}
    needs(isinstance(kind.id, str) and isinstance(kind.expression, str), "CSV holds text")
    needs(kind.is_json or not fields, "CSV holds text")
    needs(kind.name not in ("surrogate in the id", "surrogate in the expression"), "CSV is UTF-8")
    needs(not isinstance(fields.get("priority"), bool), "CSV has no booleans")
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["id", "expression", *fields])
    writer.writerow([kind.id, kind.expression, *fields.values()])
    path = folder / "book.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def _table(kind: Kind) -> pa.Table:
    needs(not isinstance(kind.expression, dict | list) or not kind.expression, "a struct is no text")
    try:
        return pa.table({name: pa.array([value]) for name, value in row_of(kind).items()})
    except (pa.ArrowException, OverflowError, UnicodeEncodeError) as bad:
        needs(False, f"Arrow does not take it: {bad}")
        raise


def _parquet(kind: Kind, folder: Path) -> Verdict:
    path = folder / "book.parquet"
    try:
        pq.write_table(_table(kind), path)
    except pa.ArrowException as bad:
        needs(False, f"Parquet does not take it: {bad}")
    return _built(path)


def _frame(kind: Kind, folder: Path) -> Verdict:
    needs(kind.name != "NaN priority", "in a frame NaN is missing, as it is in events")
    return _built(
        pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in row_of(kind).items()})
    )


def _added(kind: Kind, folder: Path) -> Verdict:
    fields = kind.fields or {}
    needs(set(fields) <= {"priority"}, "add has no such argument")
    needs(kind.expression is not None, "without an expression add takes a source")
    index = tamis.Index.build({"other": "x = 9"})
    index.add(kind.id, kind.expression, **fields)
    return index.match(EVENT) != []


def _added_source(kind: Kind, folder: Path) -> Verdict:
    index = tamis.Index.build({"other": "x = 9"})
    index.add([row_of(kind)])
    return index.match(EVENT) != []


def _updated(kind: Kind, folder: Path) -> Verdict:
    fields = kind.fields or {}
    needs(isinstance(kind.id, str) and kind.id == "s", "only a known id can be updated")
    needs(set(fields) <= {"priority"}, "update has no such argument")
    index = tamis.Index.build({"s": "x = 9"})
    index.update(kind.id, kind.expression, **fields)
    return index.match(EVENT) != []


def _applied(kind: Kind, folder: Path) -> Verdict:
    needs(isinstance(kind.id, str) and kind.fields is None, "a change of a log has a name and an expression")
    needs(isinstance(kind.expression, str) and kind.is_json, "a log holds texts")
    index = tamis.Index.build({})
    bad = index.apply([Change(1, kind.id, kind.expression)])
    if bad:
        return refused(bad[0][1].code, bad[0][1].message)
    return index.match(EVENT) != []


def _parsed(kind: Kind, folder: Path) -> Verdict:
    needs(isinstance(kind.expression, str) and kind.id == "s" and kind.fields is None, "parse takes a text")
    return tamis.Index.build({"s": tamis.parse(kind.expression)}).match(EVENT) != []


def _from_json(kind: Kind, folder: Path) -> Verdict:
    needs(isinstance(kind.expression, dict), "from_json takes an object")
    return tamis.Index.build({"s": tamis.from_json(kind.expression)}).match(EVENT) != []


def _advised(kind: Kind, folder: Path) -> Verdict:
    needs(kind.id == "s" and kind.fields is None, "advise takes an expression")
    sample = [EVENT] * 20
    return tamis.advise(kind.expression, sample).selectivity.matched > 0


def _command_built(source: Path | str, folder: Path, *more: str, stdin: bytes = b"") -> Verdict:
    target = folder / "book.index"
    result = _command("build", source, "-o", target, "--force", *more, stdin=stdin)
    if result.exit_code:
        return _said(result)
    return tamis.Index.open(target).match(EVENT) != []


SUBSCRIPTION_ENTRIES = (
    Entry("Index.build, dictionary", _mapping),
    Entry("Index.build, tuples", _pairs),
    Entry("Index.build, objects", _object),
    Entry("Index.build, dictionaries", lambda kind, folder: _built([row_of(kind)])),
    Entry("Index.build, raises", lambda kind, folder: _raised([row_of(kind)])),
    Entry("Index.build, lines", lambda kind, folder: _built([line_of(kind)])),
    Entry("Index.build, .jsonl", lambda kind, folder: _built(_file(kind, folder, "book.jsonl"))),
    Entry("Index.build, .jsonl.gz", lambda kind, folder: _built(_file(kind, folder, "book.jsonl.gz"))),
    Entry("Index.build, .csv", lambda kind, folder: _built(_csv(kind, folder))),
    Entry("Index.build, Arrow", lambda kind, folder: _built(_table(kind))),
    Entry("Index.build, Polars", lambda kind, folder: _built(pl.DataFrame(_table(kind)))),
    Entry("Index.build, pandas", _frame),
    Entry("Index.build, .parquet", _parquet),
    Entry("Index.add", _added),
    Entry("Index.add, source", _added_source),
    Entry("Index.update", _updated),
    Entry("Index.apply", _applied),
    Entry("parse", _parsed),
    Entry("from_json", _from_json),
    Entry("advise", _advised),
    Entry("tamis build", lambda kind, folder: _command_built("-", folder, stdin=line_of(kind))),
    Entry(
        "tamis build, .jsonl", lambda kind, folder: _command_built(_file(kind, folder, "book.jsonl"), folder)
    ),
    Entry("tamis build, .csv", lambda kind, folder: _command_built(_csv(kind, folder), folder)),
)
