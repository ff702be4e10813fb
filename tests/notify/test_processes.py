"""The real ``tamis notify``, killed at each failpoint: every row arrives, under one id."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tamis.cli import main
from tamis.cli.notify import notify
from tamis.cli.notify_options import notify_settings
from tamis.failpoint import VARIABLE
from tamis.limits import Limits
from tamis.notify.claim_budget import AHEAD
from tamis.store import Store, dispatch
from tamis.store.tables import outbox
from tamis.store.timestamps import now
from tests.notify.book import rows, states, subscribe, tell
from tests.notify.mailbox import WORD, mailbox
from tests.notify.receiver import receiving
from tests.waiting import PATIENCE, eventually

SOURCE = Path(__file__).resolve().parents[2] / "src"
RUN = "from tamis.cli import main; main(prog_name='tamis')"
FAILPOINTS = ["notify.before_move", "notify.after_dispatch", "notify.after_claim:2", "notify.after_send:30"]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def starting(store: Store) -> Iterator[Start]:
    """Yield a function that starts ``tamis notify`` on the store."""
    started: list[subprocess.Popen[str]] = []

    def start(*options: str, failpoint: str = "", **variables: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), VARIABLE: failpoint, **variables}
        command = [
            sys.executable,
            "-c",
            RUN,
            "notify",
            "--store",
            store.url,
            "--log-level",
            "warning",
            *options,
        ]
        started.append(
            subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


HERE = ("--allow-network", "127.0.0.0/8", "--workers", "4")


def test_notifier_delivers_everything_when_killed_at_each_failpoint(store: Store, starting: Start) -> None:
    with receiving() as receiver:
        for number in range(5):
            url = f"http://127.0.0.{number + 1}:{receiver.port}/"
            schedule = "every second" if number == 0 else None
            subscribe(store, f"o{number}/1", {"transport": "webhook", "url": url}, schedule=schedule)
        for failpoint in FAILPOINTS:
            tell(
                store,
                *((f"{failpoint}-{event}", f"o{number}/1") for number in range(5) for event in range(20)),
            )
            process = starting(*HERE, failpoint=failpoint)
            process.communicate(timeout=PATIENCE)
            assert process.returncode == -signal.SIGKILL, failpoint

        def resume() -> None:
            assert starting(*HERE, "--once").wait(PATIENCE) == 0

        eventually(lambda: not {"waiting", "claimed"} & states(store).keys() and _all_told(store), resume)
    kept = {f"msg_{row.outbox_id}" for row in rows(store)}
    arrived = [call.headers["webhook-id"] for call in receiver.calls]
    assert set(arrived) == kept
    assert states(store) == {"delivered": len(kept)}
    assert len({row.outbox_id for row in rows(store)}) == len(rows(store))
    assert len(arrived) <= len(kept) + len(FAILPOINTS) * 4 * AHEAD  # deliveries that were claimed at the kill
    bodies: dict[str, set[bytes]] = {}
    for call in receiver.calls:
        bodies.setdefault(call.headers["webhook-id"], set()).add(call.body)
    assert {name: each for name, each in bodies.items() if len(each) > 1} == {}
    events = [
        event["id"]
        for body in bodies.values()
        for event in json.loads(next(iter(body)))["data"]["events"]
        if json.loads(next(iter(body)))["data"]["owner"] == "o0"
    ]
    matched = [
        row.event_id for row in rows(store, outbox) if row.kind == "match" and row.subscription_id == "o0/1"
    ]
    assert sorted(events) == sorted(matched)


def _all_told(store: Store) -> bool:
    with store.database.reading() as connection:
        waits = connection.exec_driver_sql("SELECT count(*) FROM digest_parts").scalar()
        return not waits and not dispatch.is_due(connection, now())


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_notifier_stops_cleanly_and_serves_metrics(store: Store, starting: Start) -> None:
    with receiving() as receiver:
        subscribe(store, "ann/1", {"transport": "webhook", "url": receiver.url})
        tell(store, ("e1", "ann/1"))
        process = starting(*HERE, "--metrics-port", "0")
        assert process.stderr is not None
        address = process.stderr.readline().split()[-1]
        receiver.wait_for(1)
        with urllib.request.urlopen(address, timeout=PATIENCE) as page:
            assert b"tamis_notify_rows_total" in page.read()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert states(store) == {"delivered": 1}


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_settings_are_read_from_the_environment(store: Store, starting: Start, tmp_path: Path) -> None:
    with mailbox() as box:
        subscribe(store, "ann/mail", {"transport": "email", "to": "ann@example.org"})
        subscribe(store, "ann/file", {"transport": "file", "name": "a"})
        tell(store, ("e1", "ann/mail"), ("e1", "ann/file"))
        process = starting(
            "--once",
            TAMIS_SMTP=f"127.0.0.1:{box.port}",
            TAMIS_SMTP_SECURITY="none",
            TAMIS_SMTP_FROM="tell@tamis.example",
            TAMIS_FOLDER=str(tmp_path / "out"),
        )
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
    assert box.mails[0]["From"] == "tell@tamis.example"
    assert (tmp_path / "out" / "ann" / "a").is_file()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--allow-network", "home"], "a network is written such as"),
        (["--ports", "many"], "ports are written such as"),
        (["--smtp", "host:0"], "--smtp is a host"),
        (["--smtp", ":25"], "--smtp is a host"),
        (["--smtp", "host", "--smtp-from", "nobody"], "the sender is an address"),
        (["--limit", "nothing=1"], "there is no limit 'nothing'"),
    ],
)
def test_invalid_options_are_refused(options: list[str], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["notify", "--data", str(tmp_path), *options])
    assert result.exit_code == 1
    assert said in result.output


def test_every_option_becomes_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAMIS_SMTP_PASSWORD", WORD)
    monkeypatch.setenv("TAMIS_SMS_HEADER", "Authorization: Bearer x:y")
    arguments = [
        *("--workers", "8", "--folder", "out", "--smtp", "mail.example:2525", "--smtp-security", "tls"),
        *("--smtp-user", "me", "--smtp-from", "a@b.example", "--unsubscribe", "https://x.example/{owner}"),
        *("--sms-url", "https://sms.example/", "--sms-body", '{"a": "{to}"}', "--no-digests"),
        *("--allow-network", "10.0.0.0/8", "--allow-network", "::1", "--ports", "80,443"),
    ]
    given: dict[str, Any] = notify.make_context("notify", arguments).params
    settings = notify_settings(given, Limits(answer_bytes=7))
    assert (settings.workers, settings.per_endpoint, settings.per_owner) == (8, 2, 6)
    assert (settings.folder, settings.digests, settings.limits.answer_bytes) == (Path("out"), False, 7)
    assert settings.mail is not None
    mail = settings.mail
    assert (mail.host, mail.port, mail.security, mail.user) == ("mail.example", 2525, "tls", "me")
    assert (mail.password, mail.sender, mail.unsubscribe) == (
        WORD,
        "a@b.example",
        "https://x.example/{owner}",
    )
    assert settings.sms is not None
    assert settings.sms.body == '{"a": "{to}"}'
    assert settings.sms.headers == (("Authorization", "Bearer x:y"),)
    assert [str(network) for network in settings.http.allowed] == ["10.0.0.0/8", "::1/128"]
    assert settings.http.ports == (range(80, 81), range(443, 444))
