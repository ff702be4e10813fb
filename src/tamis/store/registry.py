"""Changes subscriptions under conditions: on their existence, their version and the owner's quotas.

Each function locks the change counter, so that no other change comes between the check and the write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy.engine import Connection

from tamis.contract.names import is_storable, local_name
from tamis.errors import QuotaExceeded, TamisError, UnknownSubscription
from tamis.limits import Limits
from tamis.store import owners, subscriptions
from tamis.store.bulk import lock_counter
from tamis.store.subscriptions import Entry, StoredSubscription
from tamis.store.tables import CHANGE_ORDER

_COUNTED = ("subscriptions", "predicates")

Check = Callable[[StoredSubscription | None], None]
"""A check of the current subscription, which raises an error to refuse a change."""


def accept(current: StoredSubscription | None) -> None:
    """Accept every change."""


class Put(NamedTuple):
    """A subscription to write, and the check before it."""

    entry: Entry
    check: Check = accept


class Outcome(NamedTuple):
    """A subscription after a change, and before it."""

    after: StoredSubscription
    before: StoredSubscription | None

    @property
    def verb(self) -> str:
        """The outcome in one word."""
        if self.before is None:
            return "created"
        return "unchanged" if self.before.version == self.after.version else "replaced"


def put(connection: Connection, writes: Sequence[Put], limits: Limits) -> list[Outcome | TamisError]:
    """Create or change subscriptions in order; a refused one does not affect the others."""
    lock_counter(connection, CHANGE_ORDER)
    outcomes: list[Outcome | TamisError] = []
    for run in _runs(writes):
        outcomes += _put_run(connection, run, limits)
    return outcomes


def remove(connection: Connection, identity: str, check: Check = accept) -> StoredSubscription:
    """Delete a subscription; return it as it was."""
    lock_counter(connection, CHANGE_ORDER)
    current = existing(subscriptions.get(connection, identity), identity)
    check(current)
    subscriptions.remove(connection, identity)
    return current


def possible(identity: str) -> str:
    """Return a valid id; raise ``UnknownSubscription`` for a text that cannot be one."""
    if not is_storable(identity):
        existing(None, identity)
    return identity


def existing(current: StoredSubscription | None, identity: str) -> StoredSubscription:
    """Return the subscription; if it is ``None``, raise an error with its owner's name for it."""
    if current is None:
        name = local_name(identity)
        raise UnknownSubscription(f"there is no subscription {name[:80]!r}", subscription=name)
    return current


def _runs(writes: Sequence[Put]) -> Iterator[list[Put]]:
    """Yield runs of writes in which no id occurs twice, so that each write sees the previous ones."""
    run: dict[str, Put] = {}
    for write in writes:
        if write.entry.id in run:
            yield list(run.values())
            run = {}
        run[write.entry.id] = write
    if run:
        yield list(run.values())


def _put_run(connection: Connection, run: list[Put], limits: Limits) -> list[Outcome | TamisError]:
    ids = [write.entry.id for write in run]
    before = {current.id: current for current in subscriptions.find(connection, ids)}
    refused: dict[str, TamisError] = {}
    quota = _QuotaCheck(connection, limits)
    for entry, check in run:
        try:
            check(before.get(entry.id))
            quota.add(entry, before.get(entry.id))
        except TamisError as bad:
            refused[entry.id] = bad
    subscriptions.write(connection, [write.entry for write in run if write.entry.id not in refused])
    after = {current.id: current for current in subscriptions.find(connection, ids)}
    return [refused.get(name) or Outcome(after[name], before.get(name)) for name in ids]


class _QuotaCheck:
    """The remaining quotas of the owners in a run of changes."""

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection, self._limits = connection, limits
        self._owners: dict[str, tuple[list[int], tuple[int, int]]] = {}

    def add(self, entry: Entry, before: StoredSubscription | None) -> None:
        """Count a new or larger subscription; raise ``QuotaExceeded`` if the quotas do not allow it."""
        if entry.owner is None:
            return
        current, most = self._of(entry.owner)
        is_new = before is None or before.owner != entry.owner
        more = (int(is_new), entry.size - (0 if before is None or is_new else before.size))
        for at, name in enumerate(_COUNTED):
            if more[at] > 0 and current[at] + more[at] > most[at]:
                raise QuotaExceeded(
                    f"{entry.owner} would hold {current[at] + more[at]:,} {name}, its quota is {most[at]:,}; "
                    "remove some, or ask an administrator for more",
                    quota=name,
                    limit=most[at],
                    size=entry.size,
                )
        current[0] += more[0]
        current[1] += more[1]

    def _of(self, name: str) -> tuple[list[int], tuple[int, int]]:
        """Return an owner's totals, including this run, and its quotas."""
        if name not in self._owners:
            owner = owners.find_or_default(self._connection, name)
            quotas = owner.quotas(self._limits)
            current = [owner.subscriptions, owner.predicates]
            self._owners[name] = current, (quotas.subscriptions, quotas.predicates)
        return self._owners[name]
