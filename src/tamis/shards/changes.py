"""Applies the store's change log to a sharded index, without building it again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from tamis.contract.change import Change
from tamis.contract.token import shard_of, token_of
from tamis.errors import IndexConflict, TamisError
from tamis.index.changes import apply_changes as apply_to
from tamis.index.samples import KeptSample
from tamis.shards.location import Location
from tamis.shards.manifest import Manifest, Settings, Shard, commit, current
from tamis.shards.opening import open_to_change, sample_of
from tamis.shards.shard_files import store_layers

ATTEMPTS = 5


def apply_changes(
    location: Location, changes: Sequence[Change]
) -> tuple[Manifest, list[tuple[str, TamisError]]]:
    """Return the version with these changes, committed if it is new, and the refused subscriptions.

    Changes that the index already has are left out, so repeated or concurrent calls are safe.
    """
    for attempt in range(ATTEMPTS):
        manifest = current(location)
        news = [change for change in changes if change.sequence > manifest.applied]
        if not news:
            return manifest, []
        following, refused = _following(location, manifest, news)
        try:
            commit(location, following)
            return following, refused
        except IndexConflict:  # another process was faster, perhaps with the same changes
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _following(
    location: Location, manifest: Manifest, news: list[Change]
) -> tuple[Manifest, list[tuple[str, TamisError]]]:
    settings, sample = manifest.settings, sample_of(location, manifest)
    groups: defaultdict[int, list[Change]] = defaultdict(list)
    for change in news:
        groups[shard_of(token_of(change.id), settings.shards)].append(change)
    refused: list[tuple[str, TamisError]] = []
    shards = []
    for shard in manifest.shards:
        if shard.number in groups:
            shard, bad = _changed(location, settings, shard, groups[shard.number], sample)
            refused += bad
        shards.append(shard)
    following = msgspec.structs.replace(
        manifest,
        number=manifest.number + 1,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        shards=shards,
        applied=max(change.sequence for change in news),
    )
    return following, refused


def _changed(
    location: Location, settings: Settings, shard: Shard, changes: list[Change], sample: KeptSample
) -> tuple[Shard, list[tuple[str, TamisError]]]:
    writer = open_to_change(location, shard, settings, sample)
    refused = apply_to(writer, changes)
    # The rows that it was built from no longer describe its content.
    digests = {name: digest for name, digest in shard.digests.items() if name != shard.book}
    shard = msgspec.structs.replace(shard, fingerprint="", book="", digests=digests)
    return store_layers(location, writer, shard), refused
