"""Keeps an index up to date with a store's change log, and matches exactly at every change."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tamis.contract.change import Change
from tamis.errors import EventLimit, IndexError_, TamisError
from tamis.head.structures import DEFAULT
from tamis.index.audit import Audit
from tamis.index.batches import VERSIONED
from tamis.index.changes import row_of
from tamis.index.index import Index
from tamis.index.refused_events import Refusal
from tamis.index.top import Best, Scored
from tamis.live.pending_changes import Matched, MatchedPage, with_pending_changes
from tamis.store import Store
from tamis.store.events import StoredEvent
from tamis.values.event import Event, event_or_error, flat_event

STEP = 10_000  # changes applied at a time
SAVE_AFTER = 50_000  # changes; for a large index, a tenth of its size
SAVE_EVERY = 300.0  # seconds, if anything changed
_POSITION, _STORE = "position", "store"

_log = logging.getLogger(__name__)


class IndexFollower:
    """An index and its position in the change log. One thread advances it; any thread may match."""

    def __init__(
        self,
        store: Store,
        folder: Path | None,
        engine: str,
        until: int,
        audit: Audit | None = None,
        head: str = DEFAULT,
    ) -> None:
        self._store, self._folder, self._audit = store, folder, audit
        # The caller limits the number of matches that it may see; the index itself must not.
        self.limits = dataclasses.replace(store.limits, matches_per_event=2**31 - 1)
        self._lock = threading.Lock()
        self._saving = threading.Lock()
        self.index, self.position = self._open(engine, head, until)
        self.index.merge_in_background()
        self._unsaved, self._saved_at = 0, time.monotonic()

    # -- opening and saving --------------------------------------------------------------------------

    def _open(self, engine: str, head: str, until: int) -> tuple[Index, int]:
        """Return the saved index if it fits, otherwise one built from the change log."""
        index = self._saved(head)
        if index is not None:
            notes = index.notes
            fits = notes.get(_STORE) == self._store.identity() and notes.get(_POSITION, until + 1) <= until
            if fits and index.info()["engine"] == engine and index.analysers == self._store.analysers:
                return index, int(notes[_POSITION])
            _log.info(
                "the index in %s has another store, engine, analyser or time and is built again", self._folder
            )
        rows = (row_of(change) for change in self._store.subscriptions_at(until))
        index = Index.build(
            rows,
            engine=engine,
            head=head,
            analysers=self._store.analysers,
            limits=self.limits,
            on_error="skip",
        )
        for name, bad in index.refused:
            _log.error("subscription %s cannot be used: %s", name, bad.message)
        return index, until

    def _saved(self, head: str) -> Index | None:
        if self._folder is None or not self._folder.exists():
            return None
        try:
            return Index.open(self._folder, head=head, limits=self.limits)
        except IndexError_ as bad:
            _log.warning("the saved index is not used: %s", bad.message)
            return None

    def save(self) -> None:
        """Save the index at its current position, from which a restart continues."""
        if self._folder is None:
            return
        with self._saving, self._lock:
            notes = {_POSITION: self.position, _STORE: self._store.identity()}
            self.index.save(self._folder, notes=notes)
            self._unsaved, self._saved_at = 0, time.monotonic()

    def save_if_due(self) -> None:
        """Save after many changes, or some time after any change."""
        much = self._unsaved >= max(SAVE_AFTER, len(self.index) // 10)
        if much or (self._unsaved and time.monotonic() - self._saved_at > SAVE_EVERY):
            self.save()

    # -- following the log -----------------------------------------------------------------------------

    def advance(self, until: int) -> list[tuple[str, TamisError]]:
        """Apply the changes up to number ``until``; return the refused subscriptions."""
        refused: list[tuple[str, TamisError]] = []
        while self.position < until:
            changes = self._changes(self.position, until)
            with self._lock:
                refused += self.index.apply(changes)
                self.position = changes[-1].sequence if len(changes) == STEP else until
            self._unsaved += len(changes)
        return refused

    def _changes(self, after: int, until: int) -> list[Change]:
        """Return at most STEP changes after one number and up to another."""
        found = self._store.changes(after, min(STEP, until - after))
        return [change for change in found if change.sequence <= until]

    # -- matching ------------------------------------------------------------------------------------

    def match_stored(self, batch: Sequence[StoredEvent]) -> tuple[pa.Table, list[Refusal]]:
        """Return the matches (event row, subscription, version) of ordered events, each at its ``known``.

        The index must be at the first event's ``known``; the last event's is at most STEP changes later.
        """
        events: list[Any] = [event_or_error(event.text, self.limits) for event in batch]
        tables, refused = [], []
        for piece in self.index.match_batches(
            events,
            threads=1,
            batch_size=len(events),
            versions=True,
            on_error="skip",
            audit=self._audit,
        ):
            tables.append(piece.table)
            refused += piece.refused
        changes = self._changes(self.position, batch[-1].known) if batch[-1].known > self.position else []
        table = pa.concat_tables(tables) if tables else VERSIONED.empty_table()
        known = [event.known for event in batch]
        found = with_pending_changes(table, events, known, changes, self.limits, self._store.analysers)
        return found, refused

    def match_now(self, event: Event | dict[str, Any], owner: str | None, most: int) -> list[Matched]:
        """Return the current matches of an event, among one owner's subscriptions or all."""
        return _listed(self._found_now(event, owner, most))

    def page_now(
        self, event: Event | dict[str, Any], owner: str | None, most: int, after: str, items: int
    ) -> MatchedPage:
        """Return a page of the current matches in the order of their ids, after a given id."""
        found = self._found_now(event, owner, most)
        rest = found.filter(pc.greater(found["subscription"], after)) if after else found
        order = pc.select_k_unstable(rest, items, [("subscription", "ascending")])
        return MatchedPage(_listed(rest.take(order)), found.num_rows, rest.num_rows > items)

    def _found_now(self, event: Event | dict[str, Any], owner: str | None, most: int) -> pa.Table:
        """Return the current matches (event row, subscription, version).

        The index may advance meanwhile: pending changes from the log take precedence over its matches.
        """
        whole, position = flat_event(event, self.limits), self.position
        (batch,) = self.index.match_batches([whole], threads=1, versions=True, on_error="skip")
        for _, bad in batch.refused:
            raise bad
        found = batch.table
        if owner is not None:
            found = found.filter(pc.starts_with(found["subscription"], f"{owner}/"))
        if changes := self._later(position, owner):
            known, analysers = [changes[-1].sequence], self._store.analysers
            found = with_pending_changes(found, [whole], known, changes, self.limits, analysers)
        if found.num_rows > most:
            raise EventLimit(
                f"the event matches {found.num_rows} subscriptions, more than matches_per_event = {most}",
                limit="matches_per_event",
            )
        return found

    def top_now(self, event: Event | dict[str, Any], k: int, owner: str | None) -> list[Scored]:
        """Return the ``k`` best current matches of an event."""
        whole, position, wanted = flat_event(event, self.limits), self.position, k
        while True:
            found = self.index.top_k(whole, wanted, prefix="" if owner is None else f"{owner}/")
            last = {change.id: change for change in self._later(position, owner)}
            same = [scored for scored in found if scored[0] not in last]
            if len(same) >= k or len(found) < wanted:
                break
            wanted = k + len(last)  # some of the best have changed; enough unchanged ones follow them
        best = Best(k)
        best.add(same)
        puts = [row_of(change) for change in last.values() if change.expression is not None]
        if puts:
            changed = Index.build(
                puts,
                engine="scan",
                analysers=self._store.analysers,
                limits=self.limits,
                on_error="skip",
            )
            best.add(changed.top_k(whole, k))
        return best.kept

    def _later(self, position: int, owner: str | None) -> list[Change]:
        """Return the changes that the index has not applied yet, for one owner or for all."""
        prefix, later = "" if owner is None else f"{owner}/", list[Change]()
        while changes := self._store.changes(position, STEP):
            later += [change for change in changes if change.id.startswith(prefix)]
            position = changes[-1].sequence
            if len(changes) < STEP:
                break
        return later


def _listed(found: pa.Table) -> list[Matched]:
    names, versions = found["subscription"].to_pylist(), found["version"].to_pylist()
    return list(map(Matched, names, versions))
