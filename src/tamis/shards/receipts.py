"""Receipts: which shards of a build are done, for one that is interrupted and for whoever watches it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from tamis.errors import IndexError_
from tamis.index.manifest import check_names
from tamis.segment.sealed import index_key, seal, unseal
from tamis.shards.manifest import Settings, Shard
from tamis.shards.place import Place

PENDING = "pending"
LASTING = timedelta(days=1)  # a build that nobody took up again for so long is given up


class Receipt(msgspec.Struct):
    """A shard that is built and stored, but in no version yet."""

    settings: Settings
    shard: Shard


def leave(place: Place, settings: Settings, shard: Shard) -> None:
    """Note that a shard is done."""
    body = msgspec.to_builtins(Receipt(settings, shard))
    place.write(f"{PENDING}/shard-{shard.number:04d}.json", seal(body, index_key()))


def count(place: Place) -> int:
    """Return how many shards of the build under way are done."""
    return sum(info.base_name.endswith(".json") for info in place.names(PENDING))


def read(place: Place) -> list[Receipt]:
    """Return all receipts that still count; one that cannot be read does not."""
    found = []
    for info in place.names(PENDING):
        young = info.mtime is None or info.mtime > datetime.now(UTC) - LASTING
        if info.base_name.endswith(".json") and young:
            name = f"{PENDING}/{info.base_name}"
            try:
                body = unseal(place.read(name), place.path(name), index_key())
                receipt = msgspec.convert(body, Receipt)
                check_names([receipt.shard])
                found.append(receipt)
            except (IndexError_, ValueError):
                continue
    return found


def forget(place: Place) -> None:
    """The build is committed."""
    place.remove(PENDING)
