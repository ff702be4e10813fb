"""Opening a store: addresses, failures, versions, migrations, and several processes at once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext

from tamis.errors import StoreAddress, StoreError, StoreUnavailable, StoreVersion
from tamis.store import Store, deliveries, migrations, owners
from tamis.store.database import HEAD, VERSION_TABLE, read_address
from tamis.store.owners import Owner
from tamis.store.tables import METADATA
from tests.waiting import PATIENCE

OPEN = "import sys; from tamis.store import Store; s = Store.open(sys.argv[1]); s.put(sys.argv[2], 'a = 1')"


@pytest.mark.parametrize(
    "bad", ["", "nonsense", "sqlite://", "sqlite:///:memory:", "mysql://u:secret@host/db", "http://host"]
)
def test_invalid_address_is_refused(bad: str) -> None:
    with pytest.raises(StoreAddress, match=r"sqlite:///file\.db") as refusal:
        Store.open(bad)
    assert "secret" not in str(refusal.value)


def test_postgresql_is_accepted_by_its_other_names() -> None:
    for name in ("postgres", "postgresql", "postgresql+psycopg"):
        assert read_address(f"{name}://u@h/d").drivername == "postgresql+psycopg"


def test_file_is_found_from_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("sqlite:///here.db") as store:
        assert store.url == f"sqlite:///{tmp_path / 'here.db'}"


def test_unreachable_database_is_reported() -> None:
    with pytest.raises(StoreUnavailable, match="start PostgreSQL") as refusal:
        Store.open("postgresql+psycopg://user:secret@127.0.0.1:1/none")
    assert "secret" not in str(refusal.value.as_dict())
    assert "127.0.0.1:1" in refusal.value.message


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="folder exists"):
        Store.open(f"sqlite:///{tmp_path / 'no' / 'store.db'}")


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam, " * 100)
    with pytest.raises(StoreError, match="not a database"):
        Store.open(f"sqlite:///{tmp_path / 'letter.txt'}")


def test_lost_connection_is_reported_and_a_new_one_is_used(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        store.put("s", "a = 1")
        with store.database.engine.connect() as other:
            other.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid != pg_backend_pid() AND datname = current_database()"
            )
        with pytest.raises(StoreUnavailable), store.database.writing() as connection:
            connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")
        assert store.count() == 1


def test_password_is_never_shown() -> None:
    shown = read_address("postgresql://user:secret@host/db").render_as_string(hide_password=True)
    assert "secret" not in shown


def test_store_of_a_later_release_is_refused(store: Store) -> None:
    with store.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(StoreVersion, match="9999"):
        Store.open(store.url)


def test_migrations_create_the_defined_tables(store: Store) -> None:
    with store.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == HEAD


def test_store_of_the_first_release_is_migrated(empty_url: str) -> None:
    engine = sa.create_engine(empty_url)
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for name, text in (("ann/1", "a IN (1, 2) AND b = 1"), ("ann/2", "a = 1"), ("free", "written wider")):
            owner = "ann" if name.startswith("ann") else None
            connection.execute(
                sa.text("INSERT INTO subscriptions VALUES (:id, 1, :owner, :text, 0, NULL, 1, 7, 7)"),
                {"id": name, "owner": owner, "text": text},
            )
        for row, name in enumerate(("ann/1", "free", "ann/1")):
            connection.execute(
                sa.text("INSERT INTO outbox VALUES (:row, 'match', :event, :id, 1, 0, 7, NULL, 'q', 1, 7)"),
                {"row": row, "event": f"e{row}", "id": name},
            )
    engine.dispose()
    with Store.open(empty_url) as store:
        held = [store.get(name) for name in ("ann/1", "ann/2", "free")]
        assert [one and (one.size, one.status) for one in held] == [
            (3, "active"),
            (1, "active"),
            (1, "active"),
        ]
        with store.database.reading() as connection:
            assert owners.find(connection, "ann") == Owner("ann", {}, 2, 4, 7)
            told, _ = deliveries.history(connection, "ann/1", None, 10)
            assert [one.event_id for one in told] == ["e2", "e0"]


def test_opening_again_changes_nothing(store: Store) -> None:
    store.put("s", "a = 1")
    with Store.open(store.url) as again:
        assert again.get("s") == store.get("s")


@pytest.mark.slow
def test_several_processes_open_a_new_store_at_once(empty_url: str) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, empty_url, f"s{number}"], stderr=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    said = [process.communicate(timeout=PATIENCE)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, said
    with Store.open(empty_url) as store:
        assert [change.sequence for change in store.changes(0)] == [1, 2, 3, 4]


def test_sqlite_is_durable_and_readers_do_not_wait(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store, store.database.reading() as reader:
        assert reader.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert reader.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        before = _count(reader)
        store.put("s", "a = 1")  # while the reader holds its snapshot
        assert _count(reader) == before == 0
    assert store.count() == 1


def _count(connection: Any) -> int:
    return int(connection.execute(sa.text("SELECT count(*) FROM subscriptions")).scalar_one())


def test_only_one_module_opens_databases(repo_root: Path) -> None:
    opens = re.compile(r"create_engine|sqlite3\.connect|psycopg\.connect")
    found = [path.name for path in (repo_root / "src").rglob("*.py") if opens.search(path.read_text())]
    assert found == ["database.py"]
