"""Changes: bring a sharded index up to date with the store's change log, without building it again."""

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
from tamis.shards.manifest import Manifest, Settings, Shard, commit, current
from tamis.shards.opening import open_to_change, sample_of
from tamis.shards.place import Place
from tamis.shards.store import store_layers

ATTEMPTS = 5


def apply_changes(place: Place, changes: Sequence[Change]) -> tuple[Manifest, list[tuple[str, TamisError]]]:
    """Return the version that has these changes, and what was refused; committed unless it had them already.

    Changes that the index knows are left out, so it does no harm to say them twice, or from two processes.
    """
    for attempt in range(ATTEMPTS):
        manifest = current(place)
        news = [change for change in changes if change.sequence > manifest.applied]
        if not news:
            return manifest, []
        following, refused = _following(place, manifest, news)
        try:
            commit(place, following)
            return following, refused
        except IndexConflict:  # somebody was quicker: perhaps with the same changes
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _following(
    place: Place, manifest: Manifest, news: list[Change]
) -> tuple[Manifest, list[tuple[str, TamisError]]]:
    settings, sample = manifest.settings, sample_of(place, manifest)
    groups: defaultdict[int, list[Change]] = defaultdict(list)
    for change in news:
        groups[shard_of(token_of(change.id), settings.shards)].append(change)
    refused: list[tuple[str, TamisError]] = []
    shards = []
    for shard in manifest.shards:
        if shard.number in groups:
            shard, bad = _changed(place, settings, shard, groups[shard.number], sample)
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
    place: Place, settings: Settings, shard: Shard, changes: list[Change], sample: KeptSample
) -> tuple[Shard, list[tuple[str, TamisError]]]:
    writer = open_to_change(place, shard, settings, sample)
    refused = apply_to(writer, changes)
    # The rows that it was built from no longer tell what is in it.
    digests = {name: digest for name, digest in shard.digests.items() if name != shard.book}
    shard = msgspec.structs.replace(shard, fingerprint="", book="", digests=digests)
    return store_layers(place, writer, shard), refused
