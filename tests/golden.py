"""Read golden files: an input, then a line that starts with ``=>`` and the result."""

from __future__ import annotations

from pathlib import Path


def golden_pairs(file: Path) -> list[tuple[str, str]]:
    """Return the (input, expected) pairs; a ``#`` opens a comment line, and blank lines separate."""
    pairs: list[tuple[str, str]] = []
    previous = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("=> "):
            pairs.append((previous, line.removeprefix("=> ")))
        previous = "" if line.startswith("#") else line
    return pairs
