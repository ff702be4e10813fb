"""Provide one service per module, and clients of both kinds with an owner of their own per test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.client import faces
from tests.client.between import Between, between
from tests.service.service import Running, file_url, running
from tests.waiting import PATIENCE

_numbers = itertools.count(1)
Make = Callable[..., Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start a service on SQLite."""
    with running(file_url(tmp_path_factory.mktemp("service"))) as started:
        yield started


@pytest.fixture(params=faces.FACES)
def face(request: pytest.FixtureRequest) -> str:
    """Return the kind of client under test."""
    return str(request.param)


@pytest.fixture
def make(face: str) -> Iterator[Make]:
    """Yield a factory of clients of this kind; the clients are closed with the test."""
    with ExitStack() as stack:
        yield lambda *given, **more: stack.enter_context(faces.client(face, *given, **more))


@pytest.fixture
def owner() -> str:
    """Return an owner's name that no other test uses."""
    return f"ann-{next(_numbers)}"


@pytest.fixture
def client(make: Make, run: Running, owner: str) -> Any:
    """Return a client with the scopes publish and subscribe."""
    return make(str(run.http.base_url), run.key(owner, "publish", "subscribe"))


@pytest.fixture
def admin(make: Make, run: Running) -> Any:
    """Return an administrator's client."""
    return make(str(run.http.base_url), run.admin.key)


# -- misbehaviour -----------------------------------------------------------------------------------------


@pytest.fixture
def way(run: Running) -> Iterator[Between]:
    """Yield a misbehaving server in front of the real service."""
    with between(str(run.http.base_url).rstrip("/")) as server:
        yield server


@pytest.fixture
def far(make: Make, way: Between, run: Running, owner: str) -> Any:
    """Return a client that connects through ``way``."""
    return make(way.url, run.key(owner, "publish", "subscribe"), timeout=PATIENCE)


@pytest.fixture
def alone() -> Iterator[Between]:
    """Yield a misbehaving server with no service behind it."""
    with between() as server:
        yield server
