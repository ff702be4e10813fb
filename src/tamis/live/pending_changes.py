"""Corrects the matches of an index by changes that it has not applied yet.

An event is matched against the subscriptions in force after change ``known``. The index is at one change for
a whole batch; this module decides the changes between that and ``known``, event by event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.contract.change import Change
from tamis.index.batches import VERSIONED
from tamis.index.index import Index
from tamis.limits import Limits
from tamis.values.analysis import Analysers

NEVER = np.iinfo(np.int64).max
FEW = 32  # changes for which building an index costs more than it saves


class Matched(NamedTuple):
    """A subscription that an event matches."""

    id: str
    version: int


class MatchedPage(NamedTuple):
    """A page of matching subscriptions, their total number, and whether more follow."""

    items: list[Matched]
    total: int
    is_followed: bool


def with_pending_changes(
    found: pa.Table,
    events: list[Any],
    known: Sequence[int],
    changes: list[Change],
    limits: Limits,
    analysers: Analysers,
) -> pa.Table:
    """Return the matches of the events after the ``changes``; ``found`` are those before them.

    Each event sees the changes up to its number in ``known``.
    """
    if not changes:
        return found
    seen = np.asarray(known, np.int64)
    changed = _changed(events, seen, changes, limits, analysers)
    return pa.concat_tables([_unchanged(found, seen, changes), changed])


def _unchanged(found: pa.Table, known: npt.NDArray[np.int64], changes: list[Change]) -> pa.Table:
    """Return the matches of subscriptions that had not changed yet."""
    first: dict[str, int] = {}
    for change in changes:
        first.setdefault(change.id, change.sequence)
    place = pc.index_in(found["subscription"], pa.array(list(first), pa.string()))
    place = pc.fill_null(place, len(first)).to_numpy()
    until = np.array([*first.values(), NEVER], np.int64)
    return found.filter(pa.array(known[found["event"].to_numpy()] < until[place]))


def _changed(
    events: list[Any],
    known: npt.NDArray[np.int64],
    changes: list[Change],
    limits: Limits,
    analysers: Analysers,
) -> pa.Table:
    """Return the matches of changed subscriptions, each valid from its change to the next."""
    until = _ends(changes)
    puts = [
        (str(at), change.expression) for at, change in enumerate(changes) if change.expression is not None
    ]
    engine = "hybrid" if len(puts) > FEW else "scan"
    index = Index.build(puts, engine=engine, analysers=analysers, on_error="skip", limits=limits)
    table = index.match_many(events, threads=1, on_error="skip")
    event, at = table["event"].to_numpy(), pc.cast(table["subscription"], pa.int64()).to_numpy()
    version = np.array([change.sequence for change in changes], np.int64)
    in_force = (version[at] <= known[event]) & (known[event] < until[at])
    ids = pa.array([change.id for change in changes], pa.string())
    at = at[in_force]
    columns = [pa.array(event[in_force]), ids.take(pa.array(at)), pa.array(version[at])]
    return pa.Table.from_arrays(columns, schema=VERSIONED)


def _ends(changes: list[Change]) -> npt.NDArray[np.int64]:
    """Return for each change the number of the next one of the same subscription."""
    until, later = np.full(len(changes), NEVER, np.int64), dict[str, int]()
    for at in range(len(changes) - 1, -1, -1):
        until[at] = later.get(changes[at].id, NEVER)
        later[changes[at].id] = changes[at].sequence
    return until
