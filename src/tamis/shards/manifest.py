"""Manifests of an index at a place: the versions that are there, the one in force, the next one.

A version is created, never replaced: committing happens whole or not at all on every file system, and of two
builders that want the same number one is told so. ``tamis.index.manifest`` says what a version holds.
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
from tamis.shards.place import Place

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


def numbers(place: Place) -> list[int]:
    """Return all versions that are there, oldest first."""
    return numbers_in(info.base_name for info in place.names())


def latest(place: Place) -> Manifest | None:
    """Return the version in force; ``None`` if nothing was ever committed."""
    there = numbers(place)
    return read(place, there[-1]) if there else None


def current(place: Place, number: int | None = None) -> Manifest:
    """Return a version, or the one in force; an error that says so if there is none."""
    found = latest(place) if number is None else read(place, number)
    if found is None:
        raise IndexNotFound(
            f"there is no index at {place.uri}; 'tamis build', 'tamis spark build', tamis.Index.save or "
            "tamis.spark.build makes one"
        )
    return found


def read(place: Place, number: int) -> Manifest:
    """Return the version with this number."""
    name = name_of(number)
    return decode(place.read(name), place.path(name), number, index_key())


def commit(place: Place, manifest: Manifest) -> None:
    """Put a version in force; :class:`~tamis.errors.IndexConflict` if its number is taken."""
    failpoint("shards.before_commit")
    place.write_new(name_of(manifest.number), encode(manifest, index_key()))
    failpoint("shards.after_commit")
