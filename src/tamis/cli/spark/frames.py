"""Reads names on the command line as DataFrames, and writes DataFrames to files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tamis.errors import InputError

_ENDINGS = {
    "parquet": (".parquet", ".pq"),
    "json": (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz"),
    "csv": (".csv", ".csv.gz"),
}


def format_of(source: str, given: str | None = None) -> str:
    """Return the given format, or that of the name, or that of the files in a folder."""
    found = given or _by_ending(source) or _by_files(source)
    if found is None:
        raise InputError(f"{source}: the name says no format; add --format {'|'.join(_ENDINGS)}")
    return found


def _by_ending(name: str) -> str | None:
    return next((form for form, endings in _ENDINGS.items() if name.rstrip("/").endswith(endings)), None)


def _by_files(source: str) -> str | None:
    """Return the format of the files in a local folder; listing a remote one may take long."""
    folder = Path(source.removeprefix("file://"))
    if not folder.is_dir():
        return None
    return next(filter(None, map(_by_ending, sorted(entry.name for entry in folder.iterdir()))), None)


def absolute(path: str) -> str:
    """Return an absolute path, since workers may run in another folder; a URI stays unchanged."""
    return path if "://" in path else str(Path(path).absolute())


def write(frame: Any, target: str, form: str, overwrite: bool) -> None:
    """Write ``frame`` as files into the folder ``target``; ``_SUCCESS`` appears there last."""
    writer = frame.write.mode("overwrite" if overwrite else "error").format(form)
    if form == "csv":
        writer = writer.option("header", True)
    writer.save(target)
