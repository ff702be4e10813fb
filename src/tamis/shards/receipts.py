"""Records which shards of a build are done, to resume an interrupted build and to show its progress."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from tamis.errors import IndexError_
from tamis.index.manifest import check_names
from tamis.segment.sealed import index_key, seal, unseal
from tamis.shards.location import Location
from tamis.shards.manifest import Settings, Shard

PENDING = "pending"
MAX_AGE = timedelta(days=1)  # an interrupted build is abandoned after this


class Receipt(msgspec.Struct):
    """A shard that is built and stored, but not in a version yet."""

    settings: Settings
    shard: Shard


def write(location: Location, settings: Settings, shard: Shard) -> None:
    """Record that a shard is done."""
    body = msgspec.to_builtins(Receipt(settings, shard))
    location.write(f"{PENDING}/shard-{shard.number:04d}.json", seal(body, index_key()))


def count(location: Location) -> int:
    """Return the number of finished shards of the build in progress."""
    return sum(info.base_name.endswith(".json") for info in location.names(PENDING))


def read(location: Location) -> list[Receipt]:
    """Return all valid receipts; unreadable ones are ignored."""
    found = []
    for info in location.names(PENDING):
        young = info.mtime is None or info.mtime > datetime.now(UTC) - MAX_AGE
        if info.base_name.endswith(".json") and young:
            name = f"{PENDING}/{info.base_name}"
            try:
                body = unseal(location.read(name), location.path(name), index_key())
                receipt = msgspec.convert(body, Receipt)
                check_names([receipt.shard])
                found.append(receipt)
            except (IndexError_, ValueError):
                continue
    return found


def forget(location: Location) -> None:
    """Delete all receipts after the build is committed."""
    location.remove(PENDING)
