"""Where subscriptions come from: JSON lines, CSV or Parquet, a pipe or a file.

``Index.build`` reads ``.jsonl``, ``.jsonl.gz`` and ``.parquet`` files itself; everything else is
brought into one of these forms, so that there is one reader and one set of messages.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tamis.errors import InputError

FORMATS = {
    "jsonl": (".jsonl", ".ndjson", ".jsonl.gz"),
    "csv": (".csv", ".csv.gz"),
    "parquet": (".parquet", ".pq"),
}
_READ_BY_BUILD = (".jsonl", ".jsonl.gz", ".parquet")


@contextlib.contextmanager
def subscriptions(path: Path, form: str | None) -> Iterator[Any]:
    """Something that ``Index.build`` takes; ``path`` may be ``-`` for stdin."""
    piped = str(path) == "-"
    form = form or ("jsonl" if piped else _form_of(path))
    if form == "csv":
        yield _csv(path)
    elif not piped and path.name.endswith(_READ_BY_BUILD) and _form_of(path) == form:
        yield path
    else:
        with tempfile.TemporaryDirectory() as folder:
            named = Path(folder) / f"subscriptions.{form}"
            if piped:
                with named.open("wb") as file:
                    shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                named.symlink_to(path.resolve())
            yield named


def _form_of(path: Path) -> str:
    for form, endings in FORMATS.items():
        if path.name.endswith(endings):
            return form
    raise InputError(f"the name {path.name!r} says no format; add --format {'|'.join(FORMATS)}")


def _csv(path: Path) -> Any:
    """A table of the columns id, expression and, if there is one, priority."""
    import pyarrow as pa
    from pyarrow import csv

    types = {"id": pa.string(), "expression": pa.string(), "priority": pa.float64()}
    convert = csv.ConvertOptions(column_types=types, strings_can_be_null=False)
    source = sys.stdin.buffer if str(path) == "-" else path
    try:
        table = csv.read_csv(
            source, convert_options=convert, parse_options=csv.ParseOptions(newlines_in_values=True)
        )
    except pa.ArrowInvalid as bad:
        raise InputError(f"the subscriptions cannot be read as CSV: {bad}") from None
    missing = [name for name in ("id", "expression") if name not in table.column_names]
    if missing:
        found = ", ".join(table.column_names)
        raise InputError(f"CSV of subscriptions needs the column {missing[0]!r}; it has {found}")
    return table.select([name for name in types if name in table.column_names])
