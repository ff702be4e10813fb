"""The public store: each method is one transaction, or one for each part of a large input."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from tamis.contract.change import Change
from tamis.contract.token import TOKENS
from tamis.errors import InputError, TamisError
from tamis.index.fields import ignored
from tamis.index.sources import id_text
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.store import digests, outbox, retention, subscriptions, tables
from tamis.store.bulk import STEP, record_batches, table_of
from tamis.store.database import Database
from tamis.store.digest_plan import Part
from tamis.store.digests import DigestBatch
from tamis.store.retention import Forgotten
from tamis.store.subscriptions import Entry, Refused, StoredSubscription, Written
from tamis.store.tables import identity
from tamis.store.views import view
from tamis.values.analysis import NO_ANALYSERS, Analysers, clean_analysers, shown

Progress = Callable[[int, int | None], None]

ALL_TOKENS = range(TOKENS)
_opened: dict[tuple[int, str], Store] = {}
_opening = threading.Lock()


class Store:
    """Subscriptions, their changes and the outbox, in SQLite or PostgreSQL.

    Threads may share a store. Pickling sends its ``url`` and opens it again in another process.
    """

    def __init__(
        self, database: Database, limits: Limits = DEFAULT_LIMITS, analysers: Analysers = NO_ANALYSERS
    ) -> None:
        self.database = database
        self.limits, self.analysers = limits, analysers

    @classmethod
    def open(
        cls, url: str, limits: Limits = DEFAULT_LIMITS, analysers: Mapping[str, Any] | None = None
    ) -> Store:
        """Open the store at ``url``; create or migrate its tables if needed.

        ``analysers`` are those of ``Index.build``: subscriptions are checked with them.
        """
        declared = clean_analysers(analysers)
        return cls(Database(url), limits, declared)

    @classmethod
    def shared(cls, url: str) -> Store:
        """Return the store at ``url``, opened once in this process, for repeated tasks."""
        key = os.getpid(), url  # a forked child must not use its parent's connections
        with _opening:
            if key not in _opened:
                _opened[key] = cls.open(url)
            return _opened[key]

    @property
    def url(self) -> str:
        """The address that opens this store, including the password; print ``repr(store)`` instead."""
        return self.database.url

    def __repr__(self) -> str:
        return f"Store({self.database.shown!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        analysers = {attribute: shown(name) for attribute, name in self.analysers.items()}
        return Store.open, (self.url, self.limits, analysers)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self.database.close()

    # ------------------------------------------------------------------------------- subscriptions

    def put(
        self,
        id: str,
        expression: Any,
        *,
        owner: str | None = None,
        priority: float = 0.0,
        schedule: str | None = None,
        delivery: Mapping[str, Any] | None = None,
        status: str = subscriptions.ACTIVE,
    ) -> int:
        """Create or change a subscription; return its version, which an update without a change keeps."""
        more = {"owner": owner, "schedule": schedule, "delivery": delivery, "status": status}
        row = {"id": id, "expression": expression, "priority": priority, **more}
        entry = subscriptions.entry_from(row, self.limits, analysers=self.analysers)
        with self.database.writing() as connection:
            subscriptions.write(connection, [entry])
            return subscriptions.version_of(connection, entry.id)

    def put_many(
        self, rows: Any, progress: Progress | None = None, ignore: str | Collection[str] = ()
    ) -> Written:
        """Put subscriptions: mappings, (id, expression[, priority]) or an Arrow table.

        A bad row is refused and returned; the others are written, some thousands in each transaction. A row
        with an unknown field is bad unless ``ignore`` names the field (``"*"`` means every unknown field).
        """
        total = len(rows) if hasattr(rows, "__len__") else None
        result, done = Written(), 0
        pending = _rows(rows)
        while piece := list(itertools.islice(pending, STEP)):
            result = result.plus(self._put_piece(piece, ignored(ignore)))
            done += len(piece)
            if progress is not None:
                progress(done, total)
        return result

    def _put_piece(self, piece: list[Any], ignore: Collection[str]) -> Written:
        entries: list[Entry] = []
        refused: list[Refused] = []
        for row in piece:
            try:
                entries.append(subscriptions.entry_from(row, self.limits, ignore, self.analysers))
            except TamisError as bad:
                refused.append(subscriptions.refusal_of(row, bad))
        with self.database.writing() as connection:
            return subscriptions.write(connection, entries).plus(Written(refused=tuple(refused)))

    def remove(self, id: str) -> int:
        """Delete a subscription; return the number of the change."""
        with self.database.writing() as connection:
            return subscriptions.remove(connection, id_text(id))

    def get(self, id: str) -> StoredSubscription | None:
        """Return a subscription, or ``None``."""
        with self.database.reading() as connection:
            return subscriptions.get(connection, id_text(id))

    def count(self) -> int:
        """Return the number of subscriptions."""
        with self.database.reading() as connection:
            return int(
                connection.execute(sa.select(sa.func.count()).select_from(tables.subscriptions)).scalar_one()
            )

    def subscriptions(self, tokens: range = ALL_TOKENS) -> Iterator[pa.RecordBatch]:
        """Yield the subscriptions of a range of tokens, from one state of the database."""
        if tokens.step != 1:
            raise InputError(f"tokens come as a run such as range(0, 128), not {tokens}")
        yield from self.read("subscriptions", tokens if tokens != ALL_TOKENS else None)

    def read(self, table: str, numbers: range | None = None) -> Iterator[pa.RecordBatch]:
        """Yield a table from one state of the database, in batches; ``numbers`` limits the range to read."""
        chosen = view(table)
        with self.database.reading() as connection:
            live = connection.execution_options(stream_results=True, max_row_buffer=STEP)
            yield from record_batches(live.execute(chosen.select(numbers)), chosen.schema)

    def numbers(self, table: str) -> range:
        """Return the numbers by which a table can be read in parts: tokens, sequence numbers or ids."""
        with self.database.reading() as connection:
            return view(table).numbers(connection)

    def changes(self, after: int, most: int = 10_000) -> list[Change]:
        """Return the changes after number ``after``, in order; no smaller number appears later."""
        with self.database.reading() as connection:
            return subscriptions.changes_after(connection, after, most)

    def last_change(self) -> int:
        """Return the number of the last change, or 0 if there is none."""
        with self.database.reading() as connection:
            return subscriptions.last_change(connection)

    def subscriptions_at(self, until: int) -> Iterator[Change]:
        """Yield the subscriptions in force after change ``until``, each as the change that made it."""
        with self.database.reading() as connection:
            live = connection.execution_options(stream_results=True, max_row_buffer=STEP)
            yield from (Change._make(row) for row in subscriptions.subscriptions_at(live, until))

    def identity(self) -> str:
        """Return the identity of this store, which stays the same if the store is moved."""
        with self.database.reading() as connection:
            return str(connection.execute(sa.select(identity.c.id)).scalar_one())

    # ----------------------------------------------------------------------------- batches, outbox

    def begin_batch(self, query: str, batch_id: int, index_version: int) -> int:
        """Return the index version to match this batch against: that of the first call, also in a replay."""
        with self.database.writing() as connection:
            return outbox.begin_batch(connection, query, batch_id, index_version)

    def finish_batch(self, query: str, batch_id: int, rows: int) -> None:
        """Record that all rows of a batch are written."""
        with self.database.writing() as connection:
            outbox.finish_batch(connection, query, batch_id, rows)

    def forget_batches(self, query: str, before: int) -> int:
        """Delete the records of finished batches before ``before``; return their number."""
        with self.database.writing() as connection:
            return outbox.forget_batches(connection, query, before)

    def is_finished(self, query: str, batch_id: int) -> bool:
        """Return whether a batch is done, so that its replay can be skipped."""
        with self.database.reading() as connection:
            return outbox.is_finished(connection, query, batch_id)

    def add_matches(self, table: pa.Table, query: str, batch_id: int) -> int:
        """Put matches into the outbox, once per event, subscription and version; return how many were new."""
        with self.database.writing() as connection:
            return outbox.add_matches(connection, table, query, batch_id)

    def quarantine_events(self, table: pa.Table, query: str, batch_id: int) -> int:
        """Quarantine refused events (event_id, code, message, text); return the number of new ones."""
        with self.database.writing() as connection:
            return outbox.quarantine_rows(connection, table, outbox.REFUSED_EVENT, query, batch_id)

    def quarantine_subscriptions(self, refused: Sequence[Refused], query: str, batch_id: int) -> int:
        """Quarantine refused subscriptions; return the number of new ones."""
        rows = [(row.id, row.code, row.message, row.text) for row in refused]
        shape = outbox.REFUSED_SUBSCRIPTION
        with self.database.writing() as connection:
            return outbox.quarantine_rows(connection, table_of(rows, shape), shape, query, batch_id)

    def forget(self, before: int, is_enough: Callable[[], bool] = lambda: False) -> Forgotten:
        """Delete finished rows older than ``before`` (microseconds since 1970); return their numbers."""
        gone = Forgotten()
        while not is_enough():
            with self.database.writing() as connection:
                step = retention.forget(connection, before)
            gone = gone.plus(step.gone)
            if step.is_last:
                break
        return gone

    def add_digests(self, run: DigestBatch, parts: Sequence[Part]) -> int:
        """Add the digest parts of one batch and write the digests that are due; return their number."""
        with self.database.writing() as connection:
            return digests.add_parts(connection, run, parts)


def _rows(rows: Any) -> Iterator[Any]:
    if isinstance(rows, pa.Table):
        return itertools.chain.from_iterable(batch.to_pylist() for batch in rows.to_batches(STEP))
    if isinstance(rows, Iterable) and not isinstance(rows, str | bytes):
        return iter(rows.items()) if isinstance(rows, dict) else iter(rows)
    raise InputError(f"subscriptions are rows or an Arrow table, not a {type(rows).__name__}")
