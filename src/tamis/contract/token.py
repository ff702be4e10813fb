"""Tokens: the fixed pieces of responsibility that subscriptions are dealt out in.

A subscription belongs to the token that its id hashes to, for ever. A shard of an index, or an instance of
the service, owns a run of tokens; when the number of shards changes, whole tokens change hands and no
subscription does.
"""

from __future__ import annotations

import zlib

TOKENS = 1_024


def token_of(subscription: str) -> int:
    """Return the token of a subscription; Spark says the same as ``crc32(id) % 1024``."""
    return zlib.crc32(subscription.encode()) % TOKENS


def shard_of(token: int, shards: int) -> int:
    """Return which of so many shards owns a token."""
    return token * shards // TOKENS
