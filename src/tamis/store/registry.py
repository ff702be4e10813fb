"""Changes that ask first: only if it is new, only if it is still that version, only if there is room.

Each function holds the counter of changes, so that nobody changes a subscription between the question and
the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy.engine import Connection

from tamis.contract.names import is_storable, local_name
from tamis.errors import QuotaExceeded, TamisError, UnknownSubscription
from tamis.limits import Limits
from tamis.store import owners, subscriptions
from tamis.store.bulk import hold
from tamis.store.subscriptions import Entry, Held
from tamis.store.tables import CHANGE_ORDER

_COUNTED = ("subscriptions", "predicates")

Check = Callable[[Held | None], None]
"""Raises what is wrong with a change, given the subscription as it is."""


def always(held: Held | None) -> None:
    """Nothing is asked."""


class Put(NamedTuple):
    """A subscription as it shall be, and what must hold before."""

    entry: Entry
    check: Check = always


class Outcome(NamedTuple):
    """A subscription as it is after a change, and as it was."""

    held: Held
    before: Held | None

    @property
    def verb(self) -> str:
        """What became of it, in a word."""
        if self.before is None:
            return "created"
        return "unchanged" if self.before.version == self.held.version else "replaced"


def put(connection: Connection, writes: Sequence[Put], limits: Limits) -> list[Outcome | TamisError]:
    """Make or alter subscriptions in order; one that is refused changes nothing for the others."""
    hold(connection, CHANGE_ORDER)
    outcomes: list[Outcome | TamisError] = []
    for run in _runs(writes):
        outcomes += _put_run(connection, run, limits)
    return outcomes


def remove(connection: Connection, identity: str, check: Check = always) -> Held:
    """End a subscription; as it was."""
    hold(connection, CHANGE_ORDER)
    held = existing(subscriptions.get(connection, identity), identity)
    check(held)
    subscriptions.remove(connection, identity)
    return held


def possible(identity: str) -> str:
    """Return an identity that can be looked for; what no subscription can be called is unknown like any
    other."""
    if not is_storable(identity):
        existing(None, identity)
    return identity


def existing(held: Held | None, identity: str) -> Held:
    """Return the subscription that was asked for, or an error that names it as its owner does."""
    if held is None:
        name = local_name(identity)
        raise UnknownSubscription(f"there is no subscription {name[:80]!r}", subscription=name)
    return held


def _runs(writes: Sequence[Put]) -> Iterator[list[Put]]:
    """Stretches in which no id stands twice: each write sees what the one before has done."""
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
    before = {held.id: held for held in subscriptions.find(connection, ids)}
    refused: dict[str, TamisError] = {}
    room = _Room(connection, limits)
    for entry, check in run:
        try:
            check(before.get(entry.id))
            room.take(entry, before.get(entry.id))
        except TamisError as bad:
            refused[entry.id] = bad
    subscriptions.write(connection, [write.entry for write in run if write.entry.id not in refused])
    after = {held.id: held for held in subscriptions.find(connection, ids)}
    return [refused.get(name) or Outcome(after[name], before.get(name)) for name in ids]


class _Room:
    """What the owners in a run of changes may still add."""

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection, self._limits = connection, limits
        self._owners: dict[str, tuple[list[int], tuple[int, int]]] = {}

    def take(self, entry: Entry, before: Held | None) -> None:
        """Count one more subscription, or a larger one, if the quotas allow it."""
        if entry.owner is None:
            return
        held, most = self._of(entry.owner)
        is_new = before is None or before.owner != entry.owner
        more = (int(is_new), entry.size - (0 if before is None or is_new else before.size))
        for at, name in enumerate(_COUNTED):
            if more[at] > 0 and held[at] + more[at] > most[at]:
                raise QuotaExceeded(
                    f"{entry.owner} would hold {held[at] + more[at]:,} {name}, its quota is {most[at]:,}; "
                    "remove some, or ask an administrator for more",
                    quota=name,
                    limit=most[at],
                    size=entry.size,
                )
        held[0] += more[0]
        held[1] += more[1]

    def _of(self, name: str) -> tuple[list[int], tuple[int, int]]:
        """What an owner holds, with what this run adds, and the most that it may."""
        if name not in self._owners:
            owner = owners.found(self._connection, name)
            quotas = owner.quotas(self._limits)
            held = [owner.subscriptions, owner.predicates]
            self._owners[name] = held, (quotas.subscriptions, quotas.predicates)
        return self._owners[name]
