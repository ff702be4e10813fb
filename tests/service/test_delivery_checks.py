"""The service warns about a delivery that it cannot send, or refuses it under the strict policy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis.client import Client
from tamis.contract.addresses import read_networks
from tamis.errors import DeliveryError
from tamis.notify.http import HttpRules, read_ports
from tamis.notify.settings import MailServer, SmsGateway
from tamis.notify.settings import Settings as NotifySettings
from tamis.notify.transports import Transports
from tamis.service import Settings
from tests.service.service import Running, file_url, problem, running
from tests.service.test_events import lines

ROOT, IMPORT, VALIDATE = "/v1/subscriptions", "/v1/subscriptions/import", "/v1/subscriptions/validate"
CALLED = HttpRules(allowed=read_networks(["10.0.0.0/8"]), ports=read_ports("443,8080"))
UNFIT: dict[str, tuple[dict[str, Any], str]] = {
    "mail": ({"transport": "email", "to": "ann@example.org"}, "transport-unavailable"),
    "sms": ({"transport": "sms", "to": "+4915112345678"}, "transport-unavailable"),
    "file": ({"transport": "file", "name": "ann.jsonl"}, "transport-unavailable"),
    "network": ({"transport": "webhook", "url": "https://192.168.0.1/hook"}, "address-forbidden"),
    "port": ({"transport": "webhook", "url": "https://example.org:25/hook"}, "port-forbidden"),
}
FIT: list[dict[str, Any]] = [
    {"transport": "log"},
    {"transport": "webhook", "url": "https://example.org/hook"},
    {"transport": "webhook", "url": "https://10.1.2.3:8080/hook"},
]
unfit = pytest.mark.parametrize(("delivery", "code"), UNFIT.values(), ids=UNFIT)


def bare(folder: Path, **settings: Any) -> Iterator[Running]:
    """Start a service whose notifier has no mail server, gateway or folder."""
    with running(file_url(folder), settings=Settings(**settings)) as started:
        transports = Transports(NotifySettings(http=CALLED))
        started.service.delivery_checker.use(transports.check)
        yield started
        transports.close()


@pytest.fixture(scope="module")
def warning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    yield from bare(tmp_path_factory.mktemp("warning"))


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    yield from bare(tmp_path_factory.mktemp("strict"), deliveries="strict")


def codes(told: dict[str, Any]) -> list[tuple[str, str]]:
    assert all(one["message"] for one in told["warnings"])
    return [(one["field"], one["code"]) for one in told["warnings"]]


@unfit
def test_every_answer_warns_when_the_delivery_cannot_be_sent(
    warning: Running, delivery: dict[str, Any], code: str, request: pytest.FixtureRequest
) -> None:
    ann = warning.caller(f"ann-{request.node.callspec.id}")
    body = {"expression": "a = 1", "delivery": delivery}
    wanted = [("delivery", code)]
    assert codes(ann("POST", ROOT, {"id": "a", **body}).json()) == wanted
    repeated = [
        ann("POST", ROOT, {"id": "k", **body}, headers={"idempotency-key": "once"}).json() for _ in range(2)
    ]
    assert [codes(one) for one in repeated] == [wanted, wanted]
    assert codes(ann("PUT", f"{ROOT}/b", body).json()) == wanted
    assert codes(ann("PUT", f"{ROOT}/b", body).json()) == wanted
    ann("PUT", f"{ROOT}/c", {"expression": "a = 1"})
    assert codes(ann("PATCH", f"{ROOT}/c", {"delivery": delivery}).json()) == wanted
    assert codes(ann("POST", f"{ROOT}/c/pause").json()) == wanted
    assert codes(ann("GET", f"{ROOT}/c").json()) == wanted
    assert [codes(one) for one in ann("GET", ROOT).json()["items"]] == [wanted] * 4
    found = ann("POST", VALIDATE, body).json()
    assert (found["valid"], found["errors"], codes(found)) == (True, [], wanted)
    rows = [{"id": "good", "expression": "a = 1"}, {"id": "d", **body}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    for query in ("", "?report=refused"):
        *told, last = lines(ann.lines(f"{IMPORT}{query}", text))
        assert [(one["id"], codes(one)) for one in told if "warnings" in one] == [("d", wanted)]
        assert sum(last["summary"].values()) == 2


def test_no_answer_warns_when_the_delivery_can_be_sent(warning: Running, strict: Running) -> None:
    for run in (warning, strict):
        ann = run.caller("fit")
        for delivery in FIT:
            body = {"expression": "a = 1", "delivery": delivery}
            made = ann("POST", ROOT, body)
            assert (made.status_code, made.json()["warnings"]) == (201, [])
            assert ann("POST", VALIDATE, body).json()["warnings"] == []
        assert ann("POST", ROOT, {"expression": "a = 1"}).json()["warnings"] == []


@unfit
def test_strict_policy_refuses_a_delivery_that_cannot_be_sent(
    strict: Running, delivery: dict[str, Any], code: str, request: pytest.FixtureRequest
) -> None:
    ann = strict.caller(f"ann-{request.node.callspec.id}")
    body = {"expression": "a = 1", "delivery": delivery}
    ann("PUT", f"{ROOT}/s", {"expression": "a = 1"})
    for answer in (
        ann("POST", ROOT, body),
        ann("PUT", f"{ROOT}/s", body),
        ann("PUT", f"{ROOT}/new", body),
        ann("PATCH", f"{ROOT}/s", {"delivery": delivery}),
    ):
        assert problem(answer, 422, "delivery-invalid")["cause"] == code
    found = ann("POST", VALIDATE, body).json()
    assert (found["valid"], [fault["code"] for fault in found["errors"]]) == (False, [code])
    rows = [{"id": "good", "expression": "a = 1"}, {"id": "d", **body}]
    told = lines(ann.lines(IMPORT, "".join(json.dumps(row) + "\n" for row in rows)))
    assert [one.get("code") for one in told] == [None, "delivery-invalid", None]
    assert [one["id"] for one in ann("GET", ROOT).json()["items"]] == ["good", "s"]


def test_strict_policy_accepts_changes_beside_an_existing_delivery(tmp_path: Path) -> None:
    """An existing delivery that the service can no longer send does not lock its subscription."""
    delivery, code = UNFIT["mail"]
    with running(file_url(tmp_path)) as run:
        run.caller("ann")("PUT", f"{ROOT}/s", {"expression": "a = 1", "delivery": delivery})
    for run in bare(tmp_path, deliveries="strict"):
        ann = run.caller("ann")
        assert ann("PATCH", f"{ROOT}/s", {"expression": "a = 2"}).status_code == 200
        row = {"id": "s", "expression": "a = 3", "delivery": delivery}
        assert lines(ann.lines(IMPORT, json.dumps(row)))[0]["status"] == "replaced"
        paused = ann("POST", f"{ROOT}/s/pause")
        assert (paused.status_code, codes(paused.json())) == (200, [("delivery", code)])
        problem(ann("PATCH", f"{ROOT}/s", {"delivery": {"to": "bob@example.org"}}), 422, "delivery-invalid")


def test_service_without_a_notifier_checks_only_the_known_settings(tmp_path: Path) -> None:
    """With ``--no-notify`` another process sends, and this one does not know whether it has a mail server."""
    with running(file_url(tmp_path), settings=Settings(deliveries="strict")) as run:
        ann = run.caller("ann")
        for name in ("mail", "sms", "file", "port"):
            made = ann("POST", ROOT, {"expression": "a = 1", "delivery": UNFIT[name][0]})
            assert (made.status_code, made.json()["warnings"]) == (201, [])
        body = {"expression": "a = 1", "delivery": UNFIT["network"][0]}
        assert problem(ann("POST", ROOT, body), 422, "delivery-invalid")["cause"] == "address-forbidden"


def test_notifier_with_servers_gives_no_warnings(tmp_path: Path) -> None:
    transports = Transports(
        NotifySettings(
            mail=MailServer("localhost"),
            sms=SmsGateway("https://gateway.example/"),
            folder=tmp_path,
            http=HttpRules(allowed=read_networks(["192.168.0.0/16"]), ports=read_ports("25,443")),
        )
    )
    with running(file_url(tmp_path)) as run:
        run.service.delivery_checker.use(transports.check)
        ann = run.caller("ann")
        for delivery, _ in UNFIT.values():
            assert ann("POST", ROOT, {"expression": "a = 1", "delivery": delivery}).json()["warnings"] == []
    transports.close()


def test_client_exposes_warnings(warning: Running, strict: Running) -> None:
    delivery, code = UNFIT["mail"]
    with Client(str(warning.http.base_url), warning.key("carl", "subscribe")) as client:
        made = client.add("s", "a = 1", delivery=delivery)
        assert [(one.field, one.code) for one in made.warnings] == [("delivery", code)]
        assert made.warnings == client.subscription("s").warnings == client.update("s", "a = 2").warnings
        rows = [{"id": "t", "expression": "a = 1"}, {"id": "u", "expression": "a = 1", "delivery": delivery}]
        report = client.import_(rows)
        assert [(one.line, one.id, one.warnings[0].code) for one in report.warned] == [(2, "u", code)]
        assert (report.refused, report.counts) == ([], {"created": 2})
    with Client(str(strict.http.base_url), strict.key("carl", "subscribe")) as client:
        with pytest.raises(DeliveryError) as refused:
            client.add("s", "a = 1", delivery=delivery)
        assert refused.value.details["cause"] == code


def test_total_counts_the_filtered_subscriptions(warning: Running) -> None:
    ann = warning.caller("counted")
    for number in range(7):
        status = "paused" if number < 3 else "active"
        ann("PUT", f"{ROOT}/s{number}", {"expression": f"city = 'Oslo' AND n = {number}", "status": status})
    warning.caller("counter")("PUT", f"{ROOT}/s", {"expression": "city = 'Oslo'"})

    def total(query: str) -> tuple[int, Any]:
        page = ann("GET", f"{ROOT}?limit=2{query}").json()
        return len(page["items"]), page["total"]

    assert total("") == (2, None)
    assert total("&count=true") == (2, 7)
    assert total("&count=true&status=paused") == (2, 3)
    assert total("&count=true&text=n%20%3D%206") == (1, 1)
    assert total("&count=true&text=oslo&status=active") == (2, 4)
    assert total("&count=true&text=nowhere") == (0, 0)
    following = ann("GET", f"{ROOT}?limit=2&count=true&status=paused").json()["next"]
    assert total(f"&count=true&status=paused&cursor={following}") == (1, 3)
    everybody = warning.admin("GET", f"{ROOT}?owner=*&count=true&text=oslo").json()
    assert everybody["total"] == 8
