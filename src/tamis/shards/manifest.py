"""Manifests: which segments make up each shard, version by version.

A version is one file, ``manifest-0000000012.json``, sealed and never changed; the highest number is in
force. Committing is creating the next file, so it happens whole or not at all on every file system, and
of two builders that want the same number one is told so.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tamis.errors import IndexCorrupt, IndexNotFound, IndexVersion
from tamis.failpoint import failpoint
from tamis.index.segment.sealed import seal, unseal
from tamis.matcher.storage import Entry
from tamis.shards.place import Place

FORMAT = "tamis-shards"
VERSION = 1
_NAME = re.compile(r"manifest-(\d{10})\.json")


class Shard(msgspec.Struct):
    """One shard: its segments, and what is kept about the subscriptions in it."""

    number: int
    segments: list[Entry]
    subscriptions: int
    bytes: int
    fingerprint: str = ""  # of the rows it was built from; empty once changes were applied one by one
    book: str = ""  # ids and marks of those rows
    refused: int = 0
    quarantine: str = ""  # rows that were refused

    def files(self) -> list[str]:
        """Every file that the shard needs for matching."""
        parts = [
            f"{entry.folder}/{name}" for entry in self.segments for name in ("segment.json", "arrays.bin")
        ]
        return parts + [entry.dead for entry in self.segments if entry.dead]


class Settings(msgspec.Struct):
    """What all shards were built with; rows are kept from one version to the next only under equal ones."""

    shards: int
    engine: str = "hybrid"
    parameters: dict[str, Any] = {}
    limits: dict[str, int] = {}  # those that differ from the defaults
    profile: str = ""


class Manifest(msgspec.Struct):
    """One version of a sharded index."""

    number: int
    created: str
    settings: Settings
    shards: list[Shard]
    applied: int = 0  # the last change of the store's log that is in it

    @property
    def subscriptions(self) -> int:
        """How many subscriptions are in force."""
        return sum(shard.subscriptions for shard in self.shards)

    @property
    def bytes(self) -> int:
        """What all shards take when they are mapped."""
        return sum(shard.bytes for shard in self.shards)


def name_of(number: int) -> str:
    """The file of a version."""
    return f"manifest-{number:010d}.json"


def numbers(place: Place) -> list[int]:
    """All versions that are there, oldest first."""
    found = (_NAME.fullmatch(info.base_name) for info in place.names())
    return sorted(int(name.group(1)) for name in found if name)


def latest(place: Place) -> Manifest | None:
    """The version in force; ``None`` if nothing was ever committed."""
    there = numbers(place)
    return read(place, there[-1]) if there else None


def current(place: Place, number: int | None = None) -> Manifest:
    """A version, or the one in force; an error that says so if there is none."""
    found = latest(place) if number is None else read(place, number)
    if found is None:
        raise IndexNotFound(
            f"there is no sharded index at {place.uri}; 'tamis spark build' or tamis.spark.build makes one"
        )
    return found


def read(place: Place, number: int) -> Manifest:
    """The version with this number."""
    path = place.path(name_of(number))
    body = unseal(place.read(name_of(number)), path)
    if body.get("format") != FORMAT or body.get("version") != VERSION:
        raise IndexVersion(
            f"{path} is of format {body.get('format')!r} version {body.get('version')!r}; this version reads "
            f"{FORMAT!r} version {VERSION}; build the index again"
        )
    try:
        return msgspec.convert(body["manifest"], Manifest)
    except (KeyError, msgspec.ValidationError) as bad:
        raise IndexCorrupt(f"{path} is damaged: {bad}") from None


def commit(place: Place, manifest: Manifest) -> None:
    """Put a version in force; :class:`~tamis.errors.IndexConflict` if its number is taken."""
    failpoint("shards.before_commit")
    body = {"format": FORMAT, "version": VERSION, "manifest": msgspec.to_builtins(manifest)}
    place.write_new(name_of(manifest.number), seal(body))
    failpoint("shards.after_commit")
