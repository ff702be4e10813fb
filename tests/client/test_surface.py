"""Both clients have the same typed names and arguments, and cover every operation of the service."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import client as package
from tamis.service.app import OPERATIONS
from tests.service.service import Running
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
LIFE = {"close": "aclose"}  # names that must differ

CALLS = {
    "create_subscription": "add",
    "list_subscriptions": "subscriptions",
    "read_subscription": "subscription",
    "replace_subscription": "put",
    "change_subscription": "update",
    "delete_subscription": "remove",
    "pause_subscription": "pause",
    "resume_subscription": "resume",
    "validate_subscription": "validate",
    "import_subscriptions": "import_",
    "export_subscriptions": "export",
    "publish_events": "publish",
    "match_event": "match",
    "stream_matches": "stream",
    "list_notifications": "notifications",
    "replay_notification": "replay",
    "list_dead_letters": "dead_letters",
    "retry_dead_letter": "retry",
    "retry_dead_letters": "retry_all",
    "create_key": "create_key",
    "list_keys": "keys",
    "revoke_key": "revoke_key",
    "read_owner": "owner",
    "replace_quotas": "set_quotas",
    "list_quarantine": "quarantine",
    "healthz": "health",
    "readyz": "ready",
    "metrics": None,  # for Prometheus
    "read_status": "status",
}


def names(face: type) -> set[str]:
    return {name for name in vars(face) if not name.startswith("_")}


def test_every_operation_of_the_service_has_a_method() -> None:
    assert CALLS.keys() == {known.name for known in OPERATIONS}
    assert {name for name in CALLS.values() if name} <= names(tamis.Client)


def test_both_clients_have_the_same_names() -> None:
    assert {LIFE.get(name, name) for name in names(tamis.Client)} == names(tamis.AsyncClient)


@pytest.mark.parametrize("name", sorted(names(tamis.Client) - LIFE.keys()))
def test_both_clients_have_the_same_arguments(name: str) -> None:
    now, later = getattr(tamis.Client, name), getattr(tamis.AsyncClient, name)
    shown = [inspect.signature(one) for one in (now, later)]
    if name == "acting_for":
        assert [str(one.return_annotation) for one in shown] == ["Client", "AsyncClient"]
    elif "Items" in str(shown[0].return_annotation):
        assert f"Async{shown[0].return_annotation}" == shown[1].return_annotation
    else:
        assert shown[0].return_annotation == shown[1].return_annotation
        assert inspect.iscoroutinefunction(later)
    first, second = ([*one.parameters.values()] for one in shown)
    assert [one.name for one in first] == [one.name for one in second]
    assert [one.default for one in first] == [one.default for one in second]
    assert "core" not in shown[0].parameters
    assert now.__name__ == later.__name__ == name
    assert now.__doc__


def test_every_exported_name_exists() -> None:
    assert [name for name in package.__all__ if not hasattr(package, name)] == []


TYPED = """
from typing import assert_type
import tamis
from tamis.client import Explanation, Matches, Published, Report, Row, Subscription, StreamedMatch

def now(client: tamis.Client, events: list[dict[str, int]]) -> None:
    assert_type(client.add("s", "a = 1", priority=2), Subscription)
    assert_type(client.update("s", schedule=None), Subscription)
    assert_type(client.remove("s"), None)
    assert_type([row for row in client.export()], list[Row])
    assert_type(client.match({"a": 1}), Matches)
    assert_type(client.top_k({"a": 1}, 3), list[tuple[str, float]])
    assert_type(client.explain("s", tamis.Event({"a": (1,)})), Explanation)
    assert_type(client.publish({"a": 1}, id="e"), Published)
    assert_type(client.publish(events), Report)
    with client.stream(after=3) as stream:
        assert_type(next(stream), StreamedMatch)
    assert_type(client.acting_for("bob"), tamis.Client)

async def later(client: tamis.AsyncClient, events: list[dict[str, int]]) -> None:
    assert_type(await client.add("s", tamis.attr("a") == 1), Subscription)
    assert_type([row async for row in client.export()], list[Row])
    assert_type(await client.publish({"a": 1}), Published)
    assert_type(await client.publish(told async for told in client.stream()), Report)  # wrong

def wrong(client: tamis.Client) -> None:
    client.add("s")  # wrong
    client.add("s", "a = 1", form="sql")  # wrong
    client.update("s", colour=1)  # wrong
    client.publish([{"a": 1}], id="e")  # wrong
    client.subscription(1)  # wrong
"""


@pytest.mark.slow
def test_type_checker_accepts_the_public_types(tmp_path: Path) -> None:
    """Run a user's type checker on code that uses the clients."""
    file = tmp_path / "use.py"
    file.write_text(TYPED, encoding="utf-8")
    options = ["--strict", "--python-version", "3.11", "--no-error-summary", "--show-error-codes"]
    settings = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache")]
    told = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *settings, str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    found = {int(line.split(":")[1]) for line in told.stdout.splitlines() if ": error:" in line}
    wanted = {at for at, line in enumerate(TYPED.splitlines(), 1) if line.endswith("# wrong")}
    assert found == wanted, told.stdout + told.stderr


def test_client_is_shared_by_threads(run: Running) -> None:
    key = run.key("threads", "publish", "subscribe")
    with tamis.Client(str(run.http.base_url), key) as client, ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda at: client.add(f"s{at}", f"a = {at}").id, range(40)))
        found = list(pool.map(lambda at: client.match({"a": at}), range(40)))
    assert made == [f"s{at}" for at in range(40)]
    assert found == [[f"s{at}"] for at in range(40)]


def test_client_is_shared_by_tasks(run: Running) -> None:
    key = run.key("tasks", "publish", "subscribe")

    async def main() -> list[Any]:
        async with tamis.AsyncClient(str(run.http.base_url), key) as client:
            await asyncio.gather(*(client.add(f"s{at}", f"a = {at}") for at in range(40)))
            return await asyncio.gather(*(client.match({"a": at}) for at in range(40)))

    assert asyncio.run(main()) == [[f"s{at}"] for at in range(40)]


def test_cancelled_task_leaves_the_client_usable(run: Running) -> None:
    key = run.key("cancelled", "subscribe")

    async def main() -> None:
        async with tamis.AsyncClient(str(run.http.base_url), key) as client:
            waiting = asyncio.create_task(anext(client.stream()))
            async with asyncio.timeout(PATIENCE):
                while not run.service.open_streams.count("cancelled"):
                    await asyncio.sleep(0.005)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await client.health()

    asyncio.run(main())
