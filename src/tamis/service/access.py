"""Authenticates requests by API key; a revoked key is refused at most one second later."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from sqlalchemy.engine import Connection

from tamis.errors import KeyInvalid, ScopeMissing
from tamis.limits import Limits
from tamis.store import keys, owners
from tamis.store.keys import ADMIN, Key
from tamis.store.owners import Quotas

CACHE_SECONDS = 1.0  # seconds for which a key that was read stays valid
CACHE_SIZE = 10_000  # keys

Read = Callable[[Callable[[Connection], "KeyRecord | None"]], Awaitable["KeyRecord | None"]]


class KeyRecord(NamedTuple):
    """A key and its owner's quotas."""

    key: Key
    quotas: Quotas


class Caller(NamedTuple):
    """The sender of a request, authenticated by a valid key."""

    owner: str
    scopes: frozenset[str]
    key: str  # id of the key
    quotas: Quotas

    @property
    def is_admin(self) -> bool:
        """Whether the caller may act for every owner."""
        return ADMIN in self.scopes

    def need(self, scope: str) -> None:
        """Raise ``ScopeMissing`` unless the key has the scope; an administrator has every scope."""
        if scope not in self.scopes and not self.is_admin:
            raise ScopeMissing(f"this key lacks the scope {scope!r}", scope=scope)

    def acting_for(self, owner: str | None) -> str:
        """Return the owner to act for: the caller itself, unless an administrator names another owner."""
        if owner is None or owner == self.owner:
            return self.owner
        if not self.is_admin:
            raise ScopeMissing("only an administrator acts for another owner", scope=ADMIN)
        return owner


class Access:
    """Finds the caller of a request by its ``Authorization`` header."""

    def __init__(self, read: Read, limits: Limits) -> None:
        self._read, self._limits = read, limits
        self._common: dict[str, tuple[float, KeyRecord | None]] = {}
        self._reading: dict[str, asyncio.Task[KeyRecord | None]] = {}

    async def caller(self, header: str | None) -> Caller:
        """Return the caller; a missing, unknown, wrong, expired or revoked key gets the same message."""
        kind, _, text = (header or "").partition(" ")
        identity = keys.id_in(text.strip()) if kind.lower() == "bearer" else None
        known = await self._find(identity) if identity else None
        if known is None or not known.key.opens_with(text.strip()):
            raise KeyInvalid("this needs the header 'Authorization: Bearer tamis_…' with a key in force")
        return Caller(known.key.owner, known.key.scopes, known.key.id, known.quotas)

    def forget(self) -> None:
        """Clear the cache after a key or quota was changed in this process."""
        self._common.clear()

    async def _find(self, identity: str) -> KeyRecord | None:
        at, known = self._common.get(identity, (-CACHE_SECONDS, None))
        if time.monotonic() - at < CACHE_SECONDS:
            return known
        task = self._reading.get(identity)  # concurrent requests with one key read the store once
        if task is None:
            task = asyncio.ensure_future(self._look_up(identity))
            self._reading[identity] = task
        return await asyncio.shield(task)

    async def _look_up(self, identity: str) -> KeyRecord | None:
        at = time.monotonic()  # before the read, so that a key revoked meanwhile does not stay valid longer
        try:
            known = await self._read(lambda connection: self._in_store(connection, identity))
        finally:
            self._reading.pop(identity, None)
        if len(self._common) >= CACHE_SIZE:
            self._common.clear()
        self._common[identity] = at, known
        return known

    def _in_store(self, connection: Connection, identity: str) -> KeyRecord | None:
        key = keys.find(connection, identity)
        return key and KeyRecord(key, owners.find_or_default(connection, key.owner).quotas(self._limits))
