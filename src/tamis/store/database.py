"""Opens databases: addresses, connections, transactions, migrations and errors. No other module does."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from tamis.errors import StoreAddress, StoreError, StoreUnavailable, StoreVersion
from tamis.extras import needs_extra

VERSION_TABLE = "tamis_version"
HEAD = "0004"  # the last of migrations/versions: a store at this version needs no migration
LOCK_TIMEOUT = 30.0  # seconds to wait for another writer, or for a connection

_WRITES = "tamis_writes"
_MIGRATION_LOCK = 0x7A_6D_69_73  # an arbitrary number for the advisory lock
_one_migration = threading.Lock()  # alembic keeps its context in a module


class Database:
    """A migrated database, and transactions on it."""

    def __init__(self, address: str) -> None:
        self.address = read_address(address)
        with needs_extra("the store", "store"):  # the database driver
            self.engine = _engine(self.address)
        # SQLite has one writer at a time, and others poll for the lock; a lock spares the threads of one
        # process the polling.
        self._write_lock: contextlib.AbstractContextManager[Any] = (
            threading.Lock() if self.is_sqlite else contextlib.nullcontext()
        )
        try:
            _migrate(self)
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """The full address including the password, which opens the same database elsewhere."""
        return self.address.render_as_string(hide_password=False)

    @property
    def shown(self) -> str:
        """The address without its password, for messages."""
        return self.address.render_as_string(hide_password=True)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite; otherwise it is PostgreSQL."""
        return self.address.get_backend_name() == "sqlite"

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that sees one state of the database."""
        with self._failures(), self.engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes; on SQLite it waits for the write lock at its start."""
        writer = self.engine.execution_options(**{_WRITES: True})
        with self._write_lock, self._failures(), writer.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Translate the driver's errors, without passwords."""
        try:
            yield
        except (SQLAlchemyError, _driver_error(self.is_sqlite)) as bad:
            raise self.failure(bad) from None

    def failure(self, bad: Exception) -> StoreError:
        """Return a driver's error as an error of the store."""
        return _failure(bad, self)


def read_address(text: str) -> URL:
    """Return an address with its driver and an absolute file path, because workers run in other folders."""
    try:
        url = make_url(text)
    except SQLAlchemyError:
        raise StoreAddress(_not_a_store("the store's URL cannot be read")) from None
    backend = url.get_backend_name()
    if backend == "sqlite":
        if not url.database or url.database == ":memory:":
            raise StoreAddress(_not_a_store("a store in memory could not be shared"))
        return url.set(drivername="sqlite", database=str(Path(url.database).absolute()))
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise StoreAddress(_not_a_store(f"{url.render_as_string(hide_password=True)} cannot be a store"))


def _not_a_store(why: str) -> str:
    return f"{why}; give sqlite:///file.db or postgresql+psycopg://user:password@host/database"


def _engine(address: URL) -> Engine:
    if address.get_backend_name() == "sqlite":
        engine = sa.create_engine(address, connect_args={"timeout": LOCK_TIMEOUT})
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    # Each statement sees all transactions committed before it; the counters rely on this.
    return sa.create_engine(
        address,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        connect_args={"connect_timeout": int(LOCK_TIMEOUT)},
    )


def _prepare_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # we begin transactions ourselves
    _use_wal(connection)
    # FULL: an acknowledged commit survives a power failure. NORMAL keeps the file consistent, but Spark could
    # have recorded a batch as done whose rows are lost.
    connection.execute("PRAGMA synchronous = FULL")
    # Inserts touch all parts of the outbox's index: a larger cache and fewer checkpoints double the rate of a
    # busy stream.
    connection.execute("PRAGMA cache_size = -32768")
    connection.execute("PRAGMA wal_autocheckpoint = 10000")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. SQLite does not wait for the lock to do this, so we do."""
    until = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as busy:
            if "locked" not in str(busy) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _migrate(database: Database) -> None:
    with database.reading() as connection:
        if _version(connection) == HEAD:
            return
    with database.writing() as connection:
        if not database.is_sqlite:  # SQLite's writers wait for each other anyway
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        found = _version(connection)
        if found != HEAD:
            _upgrade(connection, found, database)


def _version(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()


def _upgrade(connection: Connection, found: str | None, database: Database) -> None:
    with needs_extra("the store", "store"):
        from alembic import command
        from alembic.config import Config
        from alembic.script import ScriptDirectory

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreVersion(
            f"the store {database.shown} was made by a later release (its tables are at {found}); "
            "use that release or a newer one",
            version=found,
        )
    with _one_migration:
        command.upgrade(config, "head")


def _driver_error(is_sqlite: bool) -> type[Exception]:
    """Return the driver's own error class, for calls that bypass SQLAlchemy (COPY)."""
    if is_sqlite:
        return sqlite3.Error
    import psycopg

    return psycopg.Error


def _failure(bad: Exception, database: Database) -> StoreError:
    cause = bad.orig if isinstance(bad, DBAPIError) and bad.orig is not None else bad
    said = " ".join(str(cause).split())
    if not _is_unreachable(bad):
        return StoreError(f"the store {database.shown} refused: {said}", store=database.shown)
    remedy = (
        "see that its folder exists, may be written and has room"
        if database.is_sqlite
        else "start PostgreSQL, or correct the address"
    )
    return StoreUnavailable(
        f"the store {database.shown} is not available: {said}; {remedy}", store=database.shown
    )


def _is_unreachable(bad: Exception) -> bool:
    """Return whether an error is about the connection rather than the statement, by the drivers' class names.

    After a lost connection, every statement fails until the transaction is rolled back.
    """
    names = {kind.__name__ for kind in type(bad).__mro__}
    return bool(names & {"OperationalError", "InterfaceError", "TimeoutError", "PendingRollbackError"})
