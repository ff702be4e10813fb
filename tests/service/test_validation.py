"""Validation of a subscription without storing it: errors, meaning and warnings."""

from __future__ import annotations

from pathlib import Path

from tamis.contract.addresses import read_networks
from tamis.service import Settings
from tests.service.service import Caller, file_url, running


def test_validate_reports_errors_and_meaning(ann: Caller) -> None:
    good = ann("POST", "/v1/subscriptions/validate", {"expression": "price<5  OR a IN (1,2)"}).json()
    assert (good["valid"], good["errors"], good["text"], good["cost"]) == (
        True,
        [],
        "price < 5 OR a IN (1, 2)",
        3,
    )
    assert good["tree"]
    body = {
        "expression": "price <",
        "schedule": "hourly or so",
        "delivery": {"transport": "email", "to": "x"},
    }
    bad = ann("POST", "/v1/subscriptions/validate", body).json()
    assert not bad["valid"]
    assert {fault["field"]: fault["code"] for fault in bad["errors"]} == {
        "expression": "expression-syntax",
        "schedule": "schedule-invalid",
        "delivery": "delivery-invalid",
    }
    assert bad["errors"][0]["position"] == 7
    fine = {"expression": "a = 1", "schedule": "every five minutes", "delivery": {"transport": "log"}}
    assert ann("POST", "/v1/subscriptions/validate", fine).json()["schedule"] == "every 5 minutes"
    assert ann("GET", "/v1/subscriptions").json()["items"] == []


def test_validate_warns_of_a_webhook_at_a_forbidden_address(tmp_path: Path) -> None:
    """It may be stored, because the networks may be allowed later, but validation warns."""
    allowed = Settings(allowed=read_networks(["10.0.0.0/8"]))
    with running(file_url(tmp_path), settings=allowed) as run:
        ann = run.caller("ann")

        def warned(url: str) -> list[tuple[str, str]]:
            body = {"expression": "a = 1", "delivery": {"transport": "webhook", "url": url}}
            found = ann("POST", "/v1/subscriptions/validate", body).json()
            assert (found["valid"], found["errors"]) == (True, [])
            return [(one["field"], one["code"]) for one in found["warnings"]]

        for host in ("169.254.169.254", "127.0.0.1:9000", "[::1]", "[::ffff:192.168.0.1]", "localhost"):
            assert warned(f"http://{host}/hook") == [("delivery", "address-forbidden")], host
        for host in ("10.1.2.3", "8.8.8.8", "[2606:4700::1111]", "example.org", "127.0.0.1.example.org"):
            assert warned(f"https://{host}/hook") == [], host
