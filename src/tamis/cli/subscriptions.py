"""Reads subscriptions from JSON lines, CSV or Parquet, a pipe or a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

FORMATS = ("jsonl", "csv", "parquet")  # repeated here, so that help need not load the readers


def subscriptions(path: Path, form: str | None, ignore: tuple[str, ...] = ()) -> Any:
    """Return a source for ``Index.build``; ``path`` may be ``-`` for stdin."""
    from tamis.index.readers import form_of, open_source

    piped = str(path) == "-"
    if form is None:
        form = "jsonl" if piped else form_of(path, f"add --format {'|'.join(FORMATS)}")
    named, stream = (Path("stdin"), sys.stdin.buffer) if piped else (path, None)
    return open_source(named, form, stream, frozenset(ignore))
