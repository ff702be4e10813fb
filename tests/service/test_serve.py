"""``tamis serve`` and ``tamis keys`` as processes: start, stop, and the data after either."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from tamis.cli import main
from tamis.errors import InputError
from tamis.service.server import listen
from tests.service.service import Caller, problem
from tests.waiting import PATIENCE, eventually

ROOT = Path(__file__).resolve().parents[2]
CODE = "from tamis.cli import main; main(prog_name='tamis')"
ADDRESS = re.compile(r"Tamis serves (http://\S+)/ \(console\)")
KEY = re.compile(r"tamis_[0-9a-f]{16}_[0-9a-f]{64}")


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path}


def tamis(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-c", CODE, *words],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


class Served:
    """A service in a process of its own."""

    def __init__(self, data: Path, *words: str) -> None:
        self.data = data
        self.log = data.parent / f"{data.name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", CODE, "serve", "--data", str(data), "--port", "0", *words],
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = ADDRESS.search(line)
        assert found, (line, self.log.read_text())
        self.http = httpx.Client(base_url=found[1], timeout=PATIENCE)
        eventually(self._answers)

    def _answers(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return self.http.get("/healthz").status_code == 200
        return False

    def stop(self, number: int = signal.SIGTERM) -> tuple[str, int]:
        """Stop it; return its output since the start and its exit status."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=PATIENCE)
        return out, self.process.returncode


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@contextlib.contextmanager
def served(data: Path, *words: str) -> Iterator[Served]:
    service = Served(data, *words)
    try:
        yield service
    finally:
        service.http.close()
        if service.process.poll() is None:
            service.process.kill()
        assert service.process.stdout is not None
        service.process.stdout.close()
        service.process.wait()


def keys(*words: str) -> Result:
    """Run ``tamis keys`` in this process."""
    return CliRunner().invoke(main, ["keys", *words])


def key_for(data: Path, *scopes: str) -> str:
    words = [word for scope in scopes for word in ("--scope", scope)]
    made = keys("create", "--data", str(data), "--owner", "ann", *words)
    assert made.exit_code == 0, made.stderr
    return made.stdout.strip()


def test_service_keeps_its_data_from_one_start_to_the_next(data: Path) -> None:
    with served(data) as first:
        second = tamis("serve", "--data", str(data), "--port", "0")
        assert second.returncode == 1
        assert second.stderr.startswith("tamis: data-in-use: ")
        assert str(first.process.pid) in second.stderr
        out, status = first.stop()
        assert status == 0, first.log.read_text()
        (key,) = KEY.findall(out)
    with served(data) as again:
        admin = Caller(again.http, key)
        assert admin("PUT", "/v1/subscriptions/s", {"expression": "a = 1"}).status_code == 201
        assert admin("POST", "/v1/events", {"attributes": {"a": 1}}).status_code == 202
        eventually(lambda: admin("GET", "/v1/subscriptions/s/notifications").json()["items"])
        out, status = again.stop(signal.SIGINT)
        assert (status, KEY.findall(out)) == (0, [])
        log = [json.loads(line) for line in again.log.read_text().splitlines()]
        assert {"GET", "PUT", "POST"} <= {line.get("method") for line in log}
        assert key not in again.log.read_text()
        assert key.split("_")[2] not in again.log.read_text()


@pytest.mark.parametrize("policy", ["warn", "strict"])
def test_service_checks_deliveries_by_the_settings_of_its_notifier(data: Path, policy: str) -> None:
    mail = {"expression": "a = 1", "delivery": {"transport": "email", "to": "ann@example.org"}}
    file = {"expression": "a = 1", "delivery": {"transport": "file", "name": "ann.jsonl"}}
    with served(data, "--deliveries", policy) as service:
        ann = Caller(service.http, key_for(data, "subscribe"))
        assert ann("POST", "/v1/subscriptions", file).json()["warnings"] == []  # it has a folder for files
        made = ann("POST", "/v1/subscriptions", mail)
        if policy == "strict":
            assert problem(made, 422, "delivery-invalid")["cause"] == "transport-unavailable"
        else:
            assert [one["code"] for one in made.json()["warnings"]] == ["transport-unavailable"]


def test_acknowledged_data_survives_a_kill(data: Path) -> None:
    with served(data) as first:
        key = key_for(data, "publish", "subscribe")
        ann = Caller(first.http, key)
        ann("PUT", "/v1/subscriptions/s", {"expression": "a >= 0"})
        known: list[str] = []

        def publish() -> None:
            with contextlib.suppress(httpx.TransportError):
                while True:
                    answer = ann("POST", "/v1/events", {"attributes": {"a": len(known)}})
                    known.append(answer.json()["id"])

        together = [threading.Thread(target=publish) for _ in range(4)]
        for thread in together:
            thread.start()
        eventually(lambda: len(known) >= 50)
        first.process.kill()
        for thread in together:
            thread.join()
    with served(data) as again:
        ann = Caller(again.http, key)

        def told() -> list[str]:
            found = ann("GET", "/v1/subscriptions/s/notifications?limit=1000").json()["items"]
            return [one["event"]["id"] for one in found]

        eventually(lambda: set(known) <= set(told()))
        assert len(told()) == len(set(told()))
        assert again.stop()[1] == 0


def test_signal_lets_open_requests_end(data: Path) -> None:
    """The signal arrives during an import: the client gets a report, and the lines read are stored."""
    with served(data, "--limit", f"request_seconds={PATIENCE:.0f}") as service:
        key = key_for(data, "subscribe")
        ann = Caller(service.http, key)
        began, go_on = threading.Event(), threading.Event()

        def body() -> Iterator[bytes]:
            yield b'{"id": "s1", "expression": "a = 1"}\n'
            began.set()
            go_on.wait(PATIENCE)
            yield b'{"id": "s2", "expression": "a = 1"}\n'

        answers: list[httpx.Response] = []
        sender = threading.Thread(
            target=lambda: answers.append(ann.lines("/v1/subscriptions/import", body()))
        )
        sender.start()
        assert began.wait(PATIENCE)
        eventually(lambda: ann("GET", "/v1/subscriptions/s1").status_code == 200)
        service.process.send_signal(signal.SIGTERM)
        eventually(lambda: not listens(service.http))
        go_on.set()
        sender.join()
        assert problem(answers[0], 503, "service-busy")["lines"] == 1
        assert service.process.wait(PATIENCE) == 0
    with served(data) as again:
        items = Caller(again.http, key)("GET", "/v1/subscriptions").json()["items"]
        assert [item["id"] for item in items] == ["s1"]


def listens(http: httpx.Client) -> bool:
    try:
        socket.create_connection((http.base_url.host, http.base_url.port or 80), timeout=PATIENCE).close()
    except OSError:
        return False
    return True


def test_keys_command_creates_lists_and_revokes(data: Path) -> None:
    key = key_for(data, "publish", "subscribe")
    assert KEY.fullmatch(key)
    where = ("--data", str(data))
    listed = keys("list", *where, "--owner", "ann").stdout
    found: dict[str, Any] = json.loads(listed)
    assert (found["id"], found["scopes"]) == (key.split("_")[1], ["publish", "subscribe"])
    assert key.split("_")[2] not in listed
    assert keys("revoke", *where, found["id"]).exit_code == 0
    assert json.loads(keys("list", *where).stdout)["revoked"]
    expires = json.loads(keys("list", *where, "--owner", "bob").stdout or "null")
    assert expires is None
    keys("create", *where, "--owner", "bob", "--scope", "admin", "--days", "7", "--name", "a week")
    bob = json.loads(keys("list", *where, "--owner", "bob").stdout)
    assert (bob["name"], bob["expires"] > bob["created"]) == ("a week", True)
    for words, said in (
        (("revoke", *where, "none"), "resource-unknown: there is no key 'none'"),
        (("list",), "input-invalid: say which service"),
        (("create", *where, "--owner", "a b", "--scope", "publish"), "request-invalid: an owner is"),
        (
            ("create", *where, "--owner", "b", "--scope", "publish", "--days", "36501"),
            "input-invalid: a key is valid for at most a hundred years",
        ),
    ):
        refused = keys(*words)
        assert refused.exit_code == 1
        assert refused.stderr.startswith(f"tamis: {said}")


def test_invalid_options_are_refused(data: Path, tmp_path: Path) -> None:
    wrong = [
        ([], "input-invalid: say where"),
        (["--data", str(data), "--limit", "horses=3"], "input-invalid: there is no limit 'horses'"),
        (["--data", str(data), "--limit", "header_bytes=abc"], "input-invalid: --limit takes NAME=NUMBER"),
        (["--data", str(data / "x"), "--store", "mysql://h/d"], "store-address: "),
        (["--data", str(data / "y"), "--engine", "horse"], "engine-unknown: "),
    ]
    with ThreadPoolExecutor(2) as pool:
        refusals = pool.map(
            lambda words: tamis("serve", "--port", "0", *words), (words for words, _ in wrong)
        )
    for refused, (_, said) in zip(refusals, wrong, strict=True):
        assert refused.returncode == 1
        assert f"tamis: {said}" in refused.stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = tamis("serve", "--data", str(data), "--port", port)
        assert refused.returncode == 1
        assert "in use" in refused.stderr
        assert "choose another --port" in refused.stderr


@pytest.mark.parametrize("host", ["192.0.2.1", "a..b", "::g"])
def test_foreign_address_is_refused(host: str) -> None:
    with pytest.raises(InputError, match=r"cannot listen on .*; choose another --host, such as 0\.0\.0\.0"):
        listen(host, 0)


def test_service_runs_on_postgresql(data: Path, postgres_url: str) -> None:
    with served(data, "--store", postgres_url, "--log-format", "logfmt") as service:
        out, status = service.stop()
        assert (status, len(KEY.findall(out))) == (0, 1)
        assert "level=info" in service.log.read_text()
    assert not (data / "tamis.db").exists()
