"""From a name on the command line to a DataFrame, and back to files."""

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
    """Return the format that was given, that the name says, or that the files of a folder have."""
    found = given or _by_ending(source) or _by_files(source)
    if found is None:
        raise InputError(f"{source}: the name says no format; add --format {'|'.join(_ENDINGS)}")
    return found


def _by_ending(name: str) -> str | None:
    return next((form for form, endings in _ENDINGS.items() if name.rstrip("/").endswith(endings)), None)


def _by_files(source: str) -> str | None:
    """Return a folder on this machine is looked into; one elsewhere is not, since that may take long."""
    folder = Path(source.removeprefix("file://"))
    if not folder.is_dir():
        return None
    return next(filter(None, map(_by_ending, sorted(entry.name for entry in folder.iterdir()))), None)


def whole(path: str) -> str:
    """Return a path on this machine from its root: workers may stand in another folder. A URI stays as it
    is."""
    return path if "://" in path else str(Path(path).absolute())


def write(frame: Any, target: str, form: str, overwrite: bool) -> None:
    """Write ``frame`` as files into the folder ``target``; ``_SUCCESS`` appears there last."""
    writer = frame.write.mode("overwrite" if overwrite else "error").format(form)
    if form == "csv":
        writer = writer.option("header", True)
    writer.save(target)
