"""One SparkSession for the whole run, and one process that runs all tests which use it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE = Path(__file__).resolve().parents[2] / "src"
CONF = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "2g",
    # Tests run each plan once or twice: the second compiler would cost more than it gives.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@pytest.hookimpl(tryfirst=True)  # before xdist looks for the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever is marked ``spark`` goes to the same worker of xdist, where the session lives."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """``local[2]`` with the settings that users get; workers import the sources of this checkout."""
    from tamis.spark.session import session

    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{SOURCE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        patch.delenv("SPARK_REMOTE", raising=False)
        started = session("local[2]", "tamis-tests", CONF | {"spark.sql.warehouse.dir": str(folder)})
        yield started
        started.stop()
