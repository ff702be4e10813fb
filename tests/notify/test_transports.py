"""Each transport against real receivers, a mail server, the disk and the log."""

from __future__ import annotations

import base64
import errno
import json
import logging
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
import trustme

from tamis.contract.addresses import read_networks
from tamis.contract.delivery import parse_delivery
from tamis.contract.webhook import new_secret
from tamis.errors import InputError, SendFailed, SendRefused
from tamis.limits import Limits
from tamis.notify.http import HttpRules
from tamis.notify.message import Message, body_of
from tamis.notify.settings import MailServer, Settings, SmsGateway
from tamis.notify.transports import Transports
from tamis.notify.transports.log import LOGGER
from tamis.notify.transports.webhook import signed
from tests.notify.mailbox import USER, WORD, mailbox
from tests.notify.receiver import answer, receiving
from tests.notify.samples import NOON, event, message
from tests.waiting import PATIENCE

HERE = HttpRules(allowed=read_networks(["127.0.0.0/8"]), connect_seconds=PATIENCE, total_seconds=PATIENCE)


@pytest.fixture
def transports() -> Iterator[Any]:
    """Yield a function that sends a message by its delivery settings, with the given service settings."""
    made: list[Transports] = []

    def send(delivery: dict[str, Any], told: Message | None = None, **service: Any) -> None:
        key = Settings(http=HERE, lease_seconds=3 * PATIENCE, **service)
        if not made or made[-1]._service != key:
            made.append(Transports(key))
        parsed = parse_delivery(delivery)
        made[-1][parsed.transport].send(parsed, told or message())

    yield send
    for each in made:
        each.close()


# -- webhooks -------------------------------------------------------------------------------------------


def test_webhook_is_signed_by_the_standard(transports: Any) -> None:
    old, new = new_secret(), new_secret()
    with receiving() as receiver:
        transports({"transport": "webhook", "url": receiver.url, "secret": [old, new]})
        transports({"transport": "webhook", "url": receiver.url})
    call, bare = receiver.calls
    assert call.headers["content-type"] == "application/json"
    assert call.headers["webhook-id"] == bare.headers["webhook-id"] == "msg_7"
    for secret in (old, new):
        told = standardwebhooks.Webhook(secret).verify(call.body, call.headers)
        assert told["data"]["events"][0]["event"]["price"] == 550
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(new_secret()).verify(call.body, call.headers)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(old).verify(call.body.replace(b"550", b"551"), call.headers)
    assert "webhook-signature" not in bare.headers


def test_signature_equals_the_reference() -> None:
    secret = "whsec_" + base64.b64encode(bytes(range(32))).decode()
    headers = signed([secret], "msg_1", b'{"a":"\xc3\xa4"}', at=1_700_000_000)
    moment = datetime.fromtimestamp(1_700_000_000, UTC)
    expected = standardwebhooks.Webhook(secret).sign("msg_1", moment, '{"a":"ä"}')
    assert headers == {
        "webhook-id": "msg_1",
        "webhook-timestamp": "1700000000",
        "webhook-signature": expected,
    }


def test_webhook_refusal_is_reported(transports: Any) -> None:
    with receiving(answer(500)) as receiver, pytest.raises(SendFailed, match="it answered 500"):
        transports({"transport": "webhook", "url": receiver.url})
    with receiving(answer(410)) as receiver, pytest.raises(SendRefused, match="it answered 410"):
        transports({"transport": "webhook", "url": receiver.url})
    with pytest.raises(SendRefused, match="not public"):
        transports({"transport": "webhook", "url": "http://169.254.169.254/latest/meta-data"})


def test_body_holds_the_notification() -> None:
    told = message(event(1), count=3, kind="digest", start=NOON, end=NOON)
    assert json.loads(body_of(told, 10_000)) == {
        "type": "tamis.digest",
        "timestamp": "2026-11-15T12:00:00Z",
        "data": {
            "id": "msg_7",
            "owner": "ann",
            "subscription": "coats",
            "version": 3,
            "count": 3,
            "from": "2026-11-15T12:00:00Z",
            "to": "2026-11-15T12:00:00Z",
            "events": [
                {
                    "id": "e1",
                    "time": "2026-11-15T12:00:00Z",
                    "event": {"title": "Wool coat", "price": 550, "city": "Oslo"},
                }
            ],
        },
    }
    odd = message(type(event())(id="x", text="no JSON", score=1.5))
    assert json.loads(body_of(odd, 10_000))["data"]["events"] == [
        {"id": "x", "score": 1.5, "event": "no JSON"}
    ]


def test_body_lists_fewer_events_at_its_limit() -> None:
    told = message(*(event(number, text="x" * 100) for number in range(8)))
    whole = len(body_of(told, 1_000_000))
    for most, listed, full in ((whole + 1, 8, 8), (whole, 8, 8), (whole - 1, 8, 4), (600, 8, 0), (300, 2, 0)):
        body = body_of(told, most)
        events = json.loads(body)["data"]["events"]
        assert (len(events), sum("event" in each for each in events)) == (listed, full)
        assert len(body) <= most
    assert json.loads(body_of(told, 1))["data"]["count"] == 8


# -- mail -----------------------------------------------------------------------------------------------


def mail_server(port: int, **more: Any) -> MailServer:
    return MailServer("127.0.0.1", port, **({"security": "none", "seconds": PATIENCE} | more))


def test_mail_holds_the_notification(transports: Any) -> None:
    with mailbox() as box:
        server = mail_server(
            box.port,
            sender="Tamis <tell@tamis.example>",
            unsubscribe="https://tamis.example/off/{owner}/{subscription}",
        )
        told = message(subscription="coats & <more>?", count=2)
        for _ in range(2):
            transports({"transport": "email", "to": "ann@example.org"}, told, mail=server)
        transports({"transport": "email", "to": "bob@example.org"}, told, mail=server)
        mail = box.mails[0]
    assert box.recipients == [["ann@example.org"], ["ann@example.org"], ["bob@example.org"]]
    assert len(box.sessions) == 1  # one connection for all mails
    assert mail["From"] == "Tamis <tell@tamis.example>"
    assert mail["To"] == "ann@example.org"
    assert mail["Subject"] == "2 new for coats & <more>?"
    assert mail["Message-ID"] == box.mails[1]["Message-ID"] == "<msg_7@tamis.example>"
    assert mail["Date"] == "Sun, 15 Nov 2026 12:00:00 +0000"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["List-Unsubscribe"] == "<https://tamis.example/off/ann/coats%20%26%20%3Cmore%3E%3F>"
    assert mail.get_content_type() == "multipart/alternative"
    text, page = mail.iter_parts()
    assert "price: 550" in text.get_content()
    assert "coats &amp; &lt;more&gt;?" in page.get_content()


HEADERS = [
    "a\r\nBcc: all@example.org", "a\nBcc: all@example.org", "a\rBcc: all@example.org", "a\u2028Bcc: x",
    "a\x85Bcc: x", "a\x0bBcc: x", "a\x00b", "a\r\n\r\n<html>", "=?utf-8?q?a=0ABcc:_x?=", "\u202eright",
    "ä" * 500, "\r\n", " ", "x" * 100_000, "a\r\n b", "a\r\n\tBcc: x",
]  # fmt: skip


@pytest.mark.parametrize("value", HEADERS)
def test_value_cannot_become_a_mail_header(transports: Any, value: str) -> None:
    with mailbox() as box:
        server = mail_server(box.port, unsubscribe="mailto:off@tamis.example?subject={subscription}")
        told = message(event(title=value), subscription=value, owner=value, expression=value)
        own = {"subject": "{{subscription}} {{#events}}{{attributes.title}}{{/events}}"}
        delivery = {"transport": "email", "to": "ann@example.org", "template": own}
        transports(delivery, told, mail=server)
    (mail,) = box.mails
    assert {name.lower() for name in mail.keys()} == {  # noqa: SIM118  # a mail is no dictionary
        "from", "to", "subject", "date", "message-id", "auto-submitted", "list-unsubscribe", "content-type",
        "mime-version",
    }  # fmt: skip
    assert box.recipients == [["ann@example.org"]]
    assert not mail.defects
    assert len(mail["Subject"]) <= 200
    assert "\n" not in mail["Subject"] + mail["List-Unsubscribe"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # implicit TLS is not detected
@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mail_is_sent_over_tls_with_a_login(
    transports: Any, security: str, authority: trustme.CA, tmp_path: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    trusted = {"security": security, "ca_file": str(tmp_path / "ca.pem"), "user": USER}
    delivery = {"transport": "email", "to": "ann@example.org"}
    with mailbox(security, context, login=True) as box:
        transports(delivery, mail=mail_server(box.port, **trusted, password=WORD))
        with pytest.raises(SendFailed, match="Authentication credentials invalid"):
            transports(delivery, mail=mail_server(box.port, **trusted, password="wrong"))
        with pytest.raises(SendFailed, match="CERTIFICATE_VERIFY_FAILED"):
            transports(delivery, mail=mail_server(box.port, security=security))
    assert len(box.mails) == 1


@pytest.mark.parametrize(
    ("to_recipient", "to_data", "error"),
    [
        ("550 no such mailbox", "", SendRefused),
        ("452 mailbox full", "", SendFailed),
        ("", "554 spam", SendRefused),
        ("", "451 later", SendFailed),
    ],
)
def test_mail_server_refusal_is_reported(
    transports: Any, to_recipient: str, to_data: str, error: type[Exception]
) -> None:
    delivery = {"transport": "email", "to": "ann@example.org"}
    with mailbox() as box:
        box.to_recipient, box.to_data = to_recipient, to_data
        with pytest.raises(error, match="the mail server refuses"):
            transports(delivery, mail=mail_server(box.port))
        box.to_recipient = box.to_data = ""
        transports(delivery, mail=mail_server(box.port))
    assert len(box.mails) == 1


def test_mail_is_sent_when_the_server_comes_back(transports: Any) -> None:
    delivery = {"transport": "email", "to": "ann@example.org"}
    with mailbox() as box:
        server = mail_server(box.port)
        transports(delivery, mail=server)
    with pytest.raises(SendFailed, match="the mail server failed"):
        transports(delivery, mail=server)


def test_silent_mail_server_times_out(transports: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        server = mail_server(mute.getsockname()[1], seconds=0.3)
        with pytest.raises(SendFailed, match="timed out"):
            transports({"transport": "email", "to": "a@b.example"}, mail=server)


def test_mail_server_settings_are_checked() -> None:
    assert [MailServer("m", security=kind).port for kind in ("none", "starttls", "tls")] == [25, 587, 465]
    with pytest.raises(InputError, match="security is none, starttls, tls"):
        MailServer("m", security="ssl")
    for sender in ("nobody", "a@b.example\nBcc: x@y.example", ""):
        with pytest.raises(InputError, match="the sender is an address"):
            MailServer("m", sender=sender)
    assert "sesame" not in repr(MailServer("m", password="sesame"))


# -- SMS, log, file -------------------------------------------------------------------------------------


def test_sms_is_sent_through_a_gateway(transports: Any) -> None:
    with receiving(answer(202)) as gateway:
        service = SmsGateway(
            gateway.url,
            '{"messages": [{"to": "tel:{to}", "content": "{text}", "reference": "{id}"}], "flash": false}',
            (("Authorization", "Bearer t0ken"),),
            characters=20,
        )
        odd = message(subscription='c", "to": "+1{to}')
        transports({"transport": "sms", "to": "+4915112345678"}, odd, sms=service)
    (call,) = gateway.calls
    assert json.loads(call.body) == {
        "messages": [{"to": "tel:+4915112345678", "content": 'c", "to": "+1{to}: …', "reference": "msg_7"}],
        "flash": False,
    }
    assert call.headers["authorization"] == "Bearer t0ken"
    assert call.headers["idempotency-key"] == "msg_7"
    assert "t0ken" not in repr(service)


def test_gateway_failure_is_reported(transports: Any) -> None:
    sms = {"transport": "sms", "to": "+4915112345678"}
    for gateway in (SmsGateway("ftp://x"), SmsGateway("http://example.org", "{")):
        with pytest.raises(InputError, match="gateway for SMS"):
            transports(sms, sms=gateway)
    with receiving(answer(503, {"Retry-After": "7"})) as busy, pytest.raises(SendFailed) as failed:
        transports(sms, sms=SmsGateway(busy.url))
    assert failed.value.retry_after == 7


@pytest.mark.parametrize("transport", ["sms", "email", "file"])
def test_send_fails_when_the_service_lacks_the_transports_settings(transports: Any, transport: str) -> None:
    own = {"sms": {"to": "+4915112345678"}, "email": {"to": "a@b.example"}, "file": {"name": "a"}}[transport]
    with pytest.raises(SendFailed, match=r"the service has no .*; give it --"):
        transports({"transport": transport, **own})


def test_log_transport_writes_a_line(transports: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        transports({"transport": "log"})
    assert json.loads(caplog.messages[0])["data"]["id"] == "msg_7"


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_file_transport_appends_a_line_per_message(transports: Any, tmp_path: Path) -> None:
    for number in range(3):
        transports({"transport": "file", "name": "a.jsonl"}, message(id=f"msg_{number}"), folder=tmp_path)
    assert [line["data"]["id"] for line in lines(tmp_path / "ann" / "a.jsonl")] == ["msg_0", "msg_1", "msg_2"]


@pytest.mark.parametrize(
    "owner", [None, "bob", "..", "../ann", "/etc", ".", "a/b", "x" * 256, "ä", "a\0b", "-"]
)
def test_files_stay_in_the_owners_folder(transports: Any, tmp_path: Path, owner: str | None) -> None:
    home = tmp_path / "home"
    transports({"transport": "file", "name": "a"}, message(owner="ann"), folder=home)
    transports({"transport": "file", "name": "a"}, message(owner=owner), folder=home)
    written = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert len(written) == 2
    assert all(path.parent.parent == home for path in written)


def test_file_transport_does_not_follow_a_link(transports: Any, tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "secret").write_text("before")
    (tmp_path / "ann" / "a").symlink_to(tmp_path / "secret")
    with pytest.raises(SendFailed, match="cannot be written"):
        transports({"transport": "file", "name": "a"}, folder=tmp_path)
    assert (tmp_path / "secret").read_text() == "before"


def test_torn_line_does_not_spoil_the_next(transports: Any, tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "a").write_bytes(b'{"cut')
    transports({"transport": "file", "name": "a"}, folder=tmp_path)
    torn, whole = (tmp_path / "ann" / "a").read_bytes().splitlines()
    assert torn == b'{"cut'
    assert json.loads(whole)["data"]["id"] == "msg_7"


def test_full_disk_leaves_no_partial_line(
    transports: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transports({"transport": "file", "name": "a"}, folder=tmp_path)
    before = (tmp_path / "ann" / "a").read_bytes()
    really, calls = os.write, []

    def full(file: int, data: Any) -> int:
        calls.append(1)
        if len(calls) == 1:
            return really(file, bytes(data)[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(SendFailed, match="No space left"):
            transports({"transport": "file", "name": "a"}, folder=tmp_path)
    assert (tmp_path / "ann" / "a").read_bytes() == before


def test_concurrent_writers_share_one_file(transports: Any, tmp_path: Path) -> None:
    def write(start: int) -> None:
        for number in range(start, start + 25):
            told = message(event(text="x" * 5_000), id=f"msg_{number}")
            transports({"transport": "file", "name": "a"}, told, folder=tmp_path)

    transports({"transport": "log"}, folder=tmp_path)
    threads = [threading.Thread(target=write, args=(start,)) for start in (0, 25, 50, 75)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    written = [line["data"]["id"] for line in lines(tmp_path / "ann" / "a")]
    assert sorted(written) == sorted(f"msg_{number}" for number in range(100))


def test_invalid_settings_are_refused() -> None:
    for name in ("workers", "per_endpoint", "per_owner", "digest_events", "rows"):
        with pytest.raises(InputError, match=f"{name} is a number of at least 1"):
            Settings(**{name: 0})
    with pytest.raises(InputError, match="lease of 10 s is too short"):
        Settings(lease_seconds=10)
    assert Settings(limits=Limits()).longest_send == 21
