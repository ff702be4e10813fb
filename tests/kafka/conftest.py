"""Provide a broker and a session that connects to it; only for ``make test-kafka``, as Maven fetches both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import ROOT, SPARK
from tests.kafka import broker

collect_ignore_glob = [] if "TAMIS_KAFKA" in os.environ else ["test_*.py"]


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield ``HOST:PORT`` of the broker."""
    with broker.broker(tmp_path_factory.mktemp("kafka")) as address:
        yield address


@pytest.fixture(scope="session")
def spark(kafka: str) -> Iterator[Any]:
    """Start a session with Spark's connector for Kafka; it ends before the broker does."""
    from tamis.spark.session import session

    jars = ",".join(map(str, broker.fetched("connector")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        started = session("local[2]", "tamis-kafka", SPARK | {"spark.jars": jars})
        yield started
        started.stop()
