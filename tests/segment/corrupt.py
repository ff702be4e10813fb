"""Make a small saved index and damaged copies of it, and check what opening one does."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tamis import Index
from tamis.errors import IndexCorrupt, IndexNotFound, IndexVersion
from tamis.segment.sealed import write_sealed
from tests.sealed import read_sealed

BOOK = {
    **{f"n{n}": f"price BETWEEN {n} AND {n + 3} AND city = 'c{n % 5}'" for n in range(60)},
    "like": "title LIKE '%x%' OR NOT brand IS NULL",
    "near": "at WITHIN BOX (0, 0, 2, 2)",
    "any": "TRUE",
    "weighted": "price > 3 ^ 2.5",
}
EVENTS: list[dict[str, Any]] = [
    {"price": 5, "city": "c3"},
    {"title": "axb", "price": 61.5},
    {"at": {"$point": [1, 1]}, "city": ["c1", "c2"], "price": [1, 7]},
    {},
]
REFUSALS = (IndexCorrupt, IndexVersion, IndexNotFound)


def saved(folder: Path, engine: str = "hybrid") -> Path:
    """Return an index on disk with two segments, one of them with removals."""
    index = Index.build(BOOK, engine=engine)
    index.add({f"m{n}": f"size > {n}" for n in range(8)})
    index.remove("n7")
    index.save(folder)
    assert len(list(folder.glob("segment-*"))) == 2
    assert len(list(folder.glob("dead-*"))) == 1
    return folder


def answers(index: Index) -> list[list[str]]:
    """Return the answers of the index to EVENTS."""
    return [sorted(index.match(event)) for event in EVENTS]


def damaged(original: Path, copy: Path, change: Callable[[Path], None]) -> Path:
    """Return a copy of an index after ``change``."""
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(original, copy)
    change(copy)
    return copy


def assert_refused_or_right(folder: Path, expected: list[list[str]], what: str) -> bool:
    """Assert that a damaged index is refused by name or, if the damage is harmless, answers rightly.

    Return whether it was refused.
    """
    try:
        index = Index.open(folder, verify=True)
    except REFUSALS as refusal:
        if str(folder) not in str(refusal):
            raise AssertionError(f"{what}: the file is not named") from refusal
        return True
    index.check()
    assert answers(index) == expected, what
    return False


def manifest_of(folder: Path) -> Path:
    """Return the manifest in force."""
    return max(folder.glob("manifest-*.json"))


def reseal(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the body of a sealed file and seal it again, as a hostile writer would."""
    body = read_sealed(path)
    change(body)
    write_sealed(path, body)
