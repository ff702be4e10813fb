"""Collects garbage: removes old versions and every file that no version needs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tamis.index.manifest import PREFIXES
from tamis.shards import receipts
from tamis.shards.cache import prune
from tamis.shards.location import Location
from tamis.shards.manifest import Manifest, Shard, name_of, numbers, read

KEEP = 3
GRACE = timedelta(minutes=15)  # younger files may belong to a build or a batch in progress
_OURS = (*PREFIXES, "manifest-")


def collect(location: Location, keep: int = KEEP, grace: timedelta = GRACE) -> int:
    """Remove all versions but the last ``keep`` and those within ``grace``; return the files removed."""
    before = datetime.now(UTC) - grace
    kept = _kept(location, keep, before)
    needed = {name for manifest in kept for name in _files(manifest)}
    # No version lists the files of a build in progress.
    needed |= {name for receipt in receipts.read(location) for name in _files_of(receipt.shard)}
    gone = [
        info.base_name
        for info in location.names()
        if info.base_name.startswith(_OURS) and info.base_name not in needed and _older(info, before)
    ]
    # Manifests first: a version must never be visible without its files.
    for name in sorted(gone, key=lambda name: not name.startswith("manifest-")):
        location.remove(name)
    prune(location, kept)
    return len(gone)


def _kept(location: Location, keep: int, before: datetime) -> list[Manifest]:
    there = numbers(location)
    ages = {info.base_name: info for info in location.names()}
    young = [number for number in there[:-keep] if not _older(ages[name_of(number)], before)]
    return [read(location, number) for number in (*young, *there[-keep:])]


def _files(manifest: Manifest) -> set[str]:
    own = {name_of(manifest.number), manifest.sample.file if manifest.sample else ""}
    return own | {name for shard in manifest.shards for name in _files_of(shard)}


def _files_of(shard: Shard) -> set[str]:
    """Return the files and folders that a shard needs, for matching and for the next build."""
    return {name.split("/")[0] for name in (*shard.files(), shard.book, shard.quarantine) if name}


def _older(info: object, moment: datetime) -> bool:
    changed = getattr(info, "mtime", None)  # some file systems do not report it
    return changed is None or changed < moment
