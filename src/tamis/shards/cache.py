"""Caches files of remote locations, fetched once per host and mapped by every process on it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tamis.index.manifest import check_names
from tamis.segment.verified import cache_folder
from tamis.shards.location import Location
from tamis.shards.manifest import Manifest, Shard


def home_of(location: Location) -> Path:
    """Return the local folder for the files of a location."""
    if location.local is not None:
        return location.local
    return cache_folder() / hashlib.sha256(location.uri.encode()).hexdigest()[:24]


def fetch(location: Location, shard: Shard) -> Path:
    """Return the folder with all files of a shard; missing files are fetched, by one process at a time."""
    check_names([shard])  # a forged name could write elsewhere
    home = home_of(location)
    missing = [name for name in shard.files() if not (home / name).exists()]
    if location.local is None and missing:
        home.mkdir(parents=True, exist_ok=True)
        with _locked(home / f"shard-{shard.number}.lock"):
            for name in (name for name in missing if not (home / name).exists()):
                _fetch_one(location, name, home / name)
    return home


def _fetch_one(location: Location, name: str, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part-{uuid.uuid4().hex}")
    try:
        location.fetch(name, part)
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)


def prune(location: Location, kept: list[Manifest]) -> int:
    """Delete the fetched files that none of these versions needs; return their number."""
    home = home_of(location)
    if location.local is not None or not home.is_dir():
        return 0
    needed = {name.split("/")[0] for manifest in kept for shard in manifest.shards for name in shard.files()}
    gone = [item for item in home.iterdir() if item.name not in needed and item.suffix != ".lock"]
    for item in gone:
        shutil.rmtree(item, ignore_errors=True) if item.is_dir() else item.unlink(missing_ok=True)
    return len(gone)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
