"""Finds and commits the versions of an index at a location.

A version is created, never replaced, so a commit is atomic on every file system, and of two builders with the
same number one gets an error. ``tamis.index.manifest`` defines the content of a version.
"""

from __future__ import annotations

from tamis.errors import IndexNotFound
from tamis.failpoint import failpoint
from tamis.index.manifest import (
    Manifest,
    Sample,
    Settings,
    Shard,
    decode,
    encode,
    name_of,
    numbers_in,
)
from tamis.segment.sealed import index_key
from tamis.shards.location import Location

__all__ = [
    "Manifest",
    "Sample",
    "Settings",
    "Shard",
    "commit",
    "current",
    "latest",
    "name_of",
    "numbers",
    "read",
]


def numbers(location: Location) -> list[int]:
    """Return the numbers of all versions, oldest first."""
    return numbers_in(info.base_name for info in location.names())


def latest(location: Location) -> Manifest | None:
    """Return the current version, or ``None`` if nothing was ever committed."""
    there = numbers(location)
    return read(location, there[-1]) if there else None


def current(location: Location, number: int | None = None) -> Manifest:
    """Return a version, by default the current one; raise ``IndexNotFound`` if there is none."""
    found = latest(location) if number is None else read(location, number)
    if found is None:
        raise IndexNotFound(
            f"there is no index at {location.uri}; 'tamis build', 'tamis spark build', tamis.Index.save or "
            "tamis.spark.build makes one"
        )
    return found


def read(location: Location, number: int) -> Manifest:
    """Return the version with this number."""
    name = name_of(number)
    return decode(location.read(name), location.path(name), number, index_key())


def commit(location: Location, manifest: Manifest) -> None:
    """Commit a version; raise :class:`~tamis.errors.IndexConflict` if its number is taken."""
    failpoint("shards.before_commit")
    location.write_new(name_of(manifest.number), encode(manifest, index_key()))
    failpoint("shards.after_commit")
