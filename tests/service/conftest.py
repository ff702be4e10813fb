"""Provide one service for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.service import Caller, Running, file_url, running


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start a service on SQLite."""
    with running(file_url(tmp_path_factory.mktemp("service"))) as started:
        yield started


@pytest.fixture
def ann(run: Running, request: pytest.FixtureRequest) -> Caller:
    """Return a client of an owner of this test alone, with the scopes publish and subscribe."""
    return run.caller(f"ann-{abs(hash(request.node.nodeid)):x}")


@pytest.fixture
def bob(run: Running, request: pytest.FixtureRequest) -> Caller:
    """Return a client of another owner."""
    return run.caller(f"bob-{abs(hash(request.node.nodeid)):x}")
