"""Tokens: the fixed partitions into which subscriptions are divided.

A subscription always belongs to the token that its id hashes to. A shard of an index, or an instance of the
service, owns a range of tokens. When the number of shards changes, only whole tokens move.
"""

from __future__ import annotations

import zlib

TOKENS = 1_024


def token_of(subscription: str) -> int:
    """Return the token of a subscription; Spark computes the same as ``crc32(id) % 1024``."""
    return zlib.crc32(subscription.encode()) % TOKENS


def shard_of(token: int, shards: int) -> int:
    """Return the number of the shard that owns a token."""
    return token * shards // TOKENS
