"""Who asks: keys are looked up once a second, so one that was revoked is refused a second later at most."""

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

FRESH = 1.0  # seconds that what was read of a key counts
KEPT = 10_000  # keys

Read = Callable[[Callable[[Connection], "Known | None"]], Awaitable["Known | None"]]


class Known(NamedTuple):
    """A key, and what its owner may."""

    key: Key
    quotas: Quotas


class Caller(NamedTuple):
    """Whoever sent a request with a key that is in force."""

    owner: str
    scopes: frozenset[str]
    key: str  # its id
    quotas: Quotas

    @property
    def is_admin(self) -> bool:
        """May act for every owner."""
        return ADMIN in self.scopes

    def need(self, scope: str) -> None:
        """Refuse unless the key has the scope; an administrator has all."""
        if scope not in self.scopes and not self.is_admin:
            raise ScopeMissing(f"this key has not the scope {scope}", scope=scope)

    def acting_for(self, owner: str | None) -> str:
        """Return the owner that is meant: one's own, unless an administrator names another."""
        if owner is None or owner == self.owner:
            return self.owner
        if not self.is_admin:
            raise ScopeMissing("only an administrator acts for another owner", scope=ADMIN)
        return owner


class Access:
    """Turns the header of a request into its caller."""

    def __init__(self, read: Read, limits: Limits) -> None:
        self._read, self._limits = read, limits
        self._known: dict[str, tuple[float, Known | None]] = {}
        self._reading: dict[str, asyncio.Task[Known | None]] = {}

    async def caller(self, header: str | None) -> Caller:
        """Return the caller; a missing, unknown, wrong, expired or revoked key are all refused in the same
        words."""
        kind, _, text = (header or "").partition(" ")
        identity = keys.id_in(text.strip()) if kind.lower() == "bearer" else None
        known = await self._find(identity) if identity else None
        if known is None or not known.key.opens_with(text.strip()):
            raise KeyInvalid("this needs the header 'Authorization: Bearer tamis_…' with a key in force")
        return Caller(known.key.owner, known.key.scopes, known.key.id, known.quotas)

    def forget(self) -> None:
        """What was read no longer counts: a key or quota was changed here."""
        self._known.clear()

    async def _find(self, identity: str) -> Known | None:
        at, known = self._known.get(identity, (-FRESH, None))
        if time.monotonic() - at < FRESH:
            return known
        task = self._reading.get(identity)  # many requests at once ask the store once
        if task is None:
            task = asyncio.ensure_future(self._look_up(identity))
            self._reading[identity] = task
        return await asyncio.shield(task)

    async def _look_up(self, identity: str) -> Known | None:
        at = time.monotonic()  # before reading: what is revoked meanwhile must not count longer
        try:
            known = await self._read(lambda connection: self._in_store(connection, identity))
        finally:
            self._reading.pop(identity, None)
        if len(self._known) >= KEPT:
            self._known.clear()
        self._known[identity] = at, known
        return known

    def _in_store(self, connection: Connection, identity: str) -> Known | None:
        key = keys.find(connection, identity)
        return key and Known(key, owners.found(connection, key.owner).quotas(self._limits))
