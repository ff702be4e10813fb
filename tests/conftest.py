"""Define fixtures and Hypothesis profiles that every test may use."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.databases import empty_url, postgres, postgres_url, store, url  # noqa: F401  (fixtures)
from tests.spark.java import JAVA_OPTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent

# Kernels for a card run in Numba's simulator, unless a developer asks for a real one (0).
os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")

if "TAMIS_CACHE" not in os.environ:  # tests leave nothing in the user's home
    _cache = tempfile.TemporaryDirectory(prefix="tamis-cache-", ignore_cleanup_errors=True)
    os.environ["TAMIS_CACHE"] = _cache.name

# A loaded machine or a first JIT compilation is no defect, so there are no deadlines.
QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile(  # the same commit gives the same verdict
    "ci", deadline=None, max_examples=60, derandomize=True, print_blob=True, suppress_health_check=QUIET
)
settings.register_profile("dev", deadline=None, max_examples=30, suppress_health_check=QUIET)  # explores
settings.register_profile(  # what `make test-fast` has time for
    "fast", deadline=None, max_examples=10, derandomize=True, print_blob=True, suppress_health_check=QUIET
)
settings.register_profile("deep", deadline=None, max_examples=1000, suppress_health_check=QUIET)  # for hours
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


# -- tiers and order ------------------------------------------------------------------------------------

# What `make test-fast` leaves out, beside tests on PostgreSQL: it keeps those on SQLite. Folders that wait or
# run long come first, in this order: a test that takes minutes must not be the last to begin.
FULL = (
    "tests/spark/",
    "tests/realdata/",
    "tests/faults/",
    "tests/forged/",
    "tests/bench/",
    "tests/console/",
    "tests/kafka/",
    "tests/docs/test_docs_run.py",
    "tests/entries/test_spark.py",
    "tests/service/test_schema.py",
    "tests/service/test_serve.py",
    "tests/notify/test_processes.py",
    "tests/cli/test_docs.py",
    "tests/cli/test_extras.py",
    "tests/cli/test_pipes.py",
    "tests/cli/test_tour.py",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file without tests of kernels if ``-m "kernels …"`` asks for these alone."""
    if not config.option.markexpr.startswith("kernels") or collection_path.suffix != ".py":
        return None
    return True if "mark.kernels" not in collection_path.read_text(encoding="utf-8") else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what belongs to the full tier alone, and let the long folders begin."""
    for item in items:
        if item.nodeid.startswith(FULL) or item.get_closest_marker("slow") or _needs_postgres(item):
            item.add_marker("full")
    items.sort(key=_turn)


def _needs_postgres(item: pytest.Item) -> bool:
    given = item.callspec.params if hasattr(item, "callspec") else {}
    is_chosen = any(isinstance(value, str) and value == "postgresql" for value in given.values())
    return is_chosen or "postgres_url" in getattr(item, "fixturenames", ())


def _turn(item: pytest.Item) -> int:
    return next((at for at, path in enumerate(FULL) if item.nodeid.startswith(path)), len(FULL))


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """Return the root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real data sets: TAMIS_SHARED_DATA, else ../shared/data beside the checkout."""
    from bench.workloads.real.data import shared_folder

    folder = shared_folder()
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set TAMIS_SHARED_DATA to the folder that holds it")
    return folder


# -- Spark --------------------------------------------------------------------------------------------

SPARK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
}


# Each group stays in one process. Two groups share a session each. The tests of the third start Spark in
# processes of their own, one after the other, because Java takes all processors when it starts.
GROUPS = {
    "processes of Spark": tuple(
        f"tests/spark/test_{name}.py" for name in ("cluster", "connect", "stream_kills", "workers")
    ),
    "second session": (
        "tests/docs/test_docs_run.py",
        "tests/entries/test_spark.py",
        *(f"tests/spark/test_{letter}" for letter in "opqrstuvwxyz"),
    ),
    "first session": ("tests/spark/",),
}
SESSIONS = 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Send the tests of each group to one xdist worker (``--dist loadgroup``).

    The scheduler groups by path: xdist's own groups change the ids of tests, which pytest 9.2 no longer
    allows.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((group for group, paths in GROUPS.items() if nodeid.startswith(paths)), nodeid)

    return Scheduler(config, log)


def _count_session(folder: Path) -> None:
    """Fail if all sessions are taken already."""
    for number in range(SESSIONS):
        with contextlib.suppress(FileExistsError):
            (folder / f"session-{number}").mkdir()
            return
    raise AssertionError("a test that uses Spark belongs to no group of tests/conftest.py")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start ``local[2]`` with the settings that users get; workers import the sources of this checkout."""
    from tamis.spark.session import session

    if "PYTEST_XDIST_WORKER" in os.environ:  # fails if a third worker starts one
        _count_session(tmp_path_factory.getbasetemp().parent)
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        patch.delenv("SPARK_REMOTE", raising=False)
        started = session("local[2]", "tamis-tests", SPARK | {"spark.sql.warehouse.dir": str(folder)})
        yield started
        started.stop()
