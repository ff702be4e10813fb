"""Read and write manifests, which list the files of each version of an index.

The library, Spark and the command line share them. A version is one sealed file,
``manifest-0000000012.json``, that is never changed; the highest number is in force. It names the segments of
every shard; an index that the library saved has one shard. With a key (``TAMIS_INDEX_KEY``) it is signed and
holds a strong digest of every file that it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import msgspec

from tamis.engines.engines import NAMES
from tamis.errors import AnalyserError, IndexCorrupt, IndexVersion, TamisError
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.segment.sealed import seal, unseal
from tamis.values.analysis import clean_analysers

FORMAT = "tamis-index"
VERSION = 3
READABLE = (2, VERSION)
_NAME = re.compile(r"manifest-([0-9]{10})\.json")
_FILES = {
    "segment": re.compile(r"segment-[0-9a-f]{32}"),
    "dead": re.compile(r"dead-[0-9a-f]{32}\.bin"),
    "sample": re.compile(r"sample-[0-9a-f]{32}\.jsonl"),
    "book": re.compile(r"book-[0-9a-f]{32}\.parquet"),
    "refused": re.compile(r"refused-[0-9a-f]{32}\.parquet"),
}
PREFIXES = tuple(f"{kind}-" for kind in _FILES)
"""The prefixes of the names of all files of an index except manifests."""

Digests = dict[str, str]


class Entry(msgspec.Struct):
    """A segment as a manifest names it, with the list of its removed subscriptions."""

    folder: str
    subscriptions: int
    dead: str = ""
    dead_count: int = 0
    dead_crc32: int = 0
    digests: Digests = {}  # of its files and of the list, if the manifest is signed


class Shard(msgspec.Struct):
    """One shard: its segments, and the files about the subscriptions in it."""

    number: int
    segments: list[Entry]
    subscriptions: int
    bytes: int
    fingerprint: str = ""  # of the rows it was built from; empty after changes were applied one by one
    book: str = ""  # ids and marks of those rows
    refused: int = 0
    quarantine: str = ""  # rows that were refused
    digests: Digests = {}  # of book and quarantine, if the manifest is signed

    def files(self) -> list[str]:
        """Return every file that the shard needs for matching."""
        parts = [
            f"{entry.folder}/{name}" for entry in self.segments for name in ("segment.json", "arrays.bin")
        ]
        return parts + [entry.dead for entry in self.segments if entry.dead]


class Settings(msgspec.Struct):
    """The settings that all shards were built with; rows are kept between versions only if they are equal."""

    shards: int
    engine: str = "hybrid"
    parameters: dict[str, int | float] = {}
    limits: dict[str, int] = {}  # the limits that differ from the defaults
    profile: str = ""
    analysers: dict[str, Any] = {}  # names or settings, by attribute


class Sample(msgspec.Struct):
    """Typical events that the index was laid out for: a file of JSON lines."""

    file: str
    events: int
    crc32: int
    digest: str = ""


class Manifest(msgspec.Struct):
    """One version of an index."""

    number: int
    created: str
    settings: Settings
    shards: list[Shard]
    applied: int = 0  # the last change of the store's log that is in it
    sample: Sample | None = None
    notes: dict[str, Any] = {}  # saved with the index by a user of the library

    @property
    def subscriptions(self) -> int:
        """The number of subscriptions in force."""
        return sum(shard.subscriptions for shard in self.shards)

    @property
    def bytes(self) -> int:
        """The size of all shards when they are mapped."""
        return sum(shard.bytes for shard in self.shards)


def name_of(number: int) -> str:
    """Return the file name of a version."""
    return f"manifest-{number:010d}.json"


def numbers_in(names: Iterable[str]) -> list[int]:
    """Return the versions among the names of files, oldest first."""
    found = (_NAME.fullmatch(name) for name in names)
    return sorted(int(name.group(1)) for name in found if name)


def encode(manifest: Manifest, key: bytes | None) -> bytes:
    """Return the content of a version's file, signed if there is a ``key``."""
    body = {"format": FORMAT, "version": VERSION, "manifest": msgspec.to_builtins(manifest)}
    return seal(body, key)


def decode(raw: bytes, path: Any, number: int, key: bytes | None) -> Manifest:
    """Return the version in a file; every file name in it is checked before it is used."""
    body = unseal(raw, path, key)
    if body.get("format") != FORMAT or body.get("version") not in READABLE:
        raise IndexVersion(
            f"{path} is of format {body.get('format')!r} version {body.get('version')!r}; this version reads "
            f"{FORMAT!r} version {VERSION}; build the index again"
        )
    try:
        manifest = msgspec.convert(body.get("manifest"), Manifest)
        check_names(manifest.shards, manifest.sample)
        limits_of(manifest.settings)
    except (ValueError, TypeError, RecursionError, TamisError) as bad:
        raise IndexCorrupt(f"{path} is damaged: {bad}") from None
    _check_analysers(manifest, path)
    if manifest.number != number:
        raise IndexCorrupt(f"{path} is damaged: it holds version {manifest.number}")
    if manifest.settings.engine not in NAMES:
        raise IndexVersion(
            f"{path} needs the engine {manifest.settings.engine!r}; this version has {', '.join(NAMES)}"
        )
    return manifest


def _check_analysers(manifest: Manifest, path: Any) -> None:
    """Raise :class:`IndexVersion` if this version lacks an analyser; make those of users known."""
    try:
        clean_analysers(manifest.settings.analysers)
    except AnalyserError as bad:
        raise IndexVersion(f"{path} needs an analyser that this version lacks: {bad.message}") from None


def check_names(shards: Iterable[Shard], sample: Sample | None = None) -> None:
    """Raise :class:`IndexCorrupt` if a name is not that of an index file: it could lead anywhere."""
    for shard in shards:
        _check_name("book", shard.book)
        _check_name("refused", shard.quarantine)
        for entry in shard.segments:
            if not entry.folder:
                raise IndexCorrupt("a segment has no folder")
            _check_name("segment", entry.folder)
            _check_name("dead", entry.dead)
    if sample is not None:
        _check_name("sample", sample.file or "-")


def _check_name(kind: str, name: str) -> None:
    if name and not _FILES[kind].fullmatch(name):
        raise IndexCorrupt(f"no file of an index is named {name[:80]!r}")


def limits_of(settings: Settings) -> Limits:
    """Return the limits that an index was built with."""
    return Limits(**settings.limits) if settings.limits else DEFAULT_LIMITS


def changed_limits(limits: Limits) -> dict[str, int]:
    """Return the limits that differ from the defaults."""
    plain = asdict(DEFAULT_LIMITS)
    return {name: value for name, value in asdict(limits).items() if value != plain[name]}
