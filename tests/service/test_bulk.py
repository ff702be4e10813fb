"""Import and export of many subscriptions, each decided alone."""

from __future__ import annotations

import json
from typing import Any

from tests.service.service import Caller, Running, file_url, problem, running
from tests.service.test_events import lines

IMPORT, EXPORT = "/v1/subscriptions/import", "/v1/subscriptions/export"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def text_of(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_import_reports_created_replaced_unchanged_and_refused(ann: Caller) -> None:
    first = lines(
        ann.lines(IMPORT, text_of({"id": "a", "expression": "x = 1"}, {"id": "b", "expression": "x = 1"}))
    )
    assert [line.get("status") for line in first] == ["created", "created", None]
    rows = [
        {"id": "a", "expression": "x = 1"},
        {"id": "b", "expression": "x = 2"},
        {"id": "c", "expression": "x ="},
        {"expression": "x = 4", "priority": 1, "status": "paused", "schedule": "daily at 9"},
        {"id": "b", "expression": "x = 5"},
        {"id": "d", "expression": "x = 1", "colour": "red"},
        {"id": "import", "expression": "x = 1"},
    ]
    found = lines(ann.lines(IMPORT, text_of(*rows)))
    assert [line.get("status") for line in found[:-1]] == [
        "unchanged",
        "replaced",
        "refused",
        "created",
        "replaced",
        "refused",
        "refused",
    ]
    assert (found[2]["line"], found[2]["code"], found[2]["position"]) == (3, "expression-syntax", 3)
    assert (found[5]["code"], found[5]["field"]) == ("request-invalid", "colour")
    assert found[-1] == {"summary": {"unchanged": 1, "replaced": 2, "refused": 3, "created": 1}}
    assert ann("GET", "/v1/subscriptions/b").json()["version"] == found[4]["version"]


def test_import_reports_only_refused_lines_when_asked(ann: Caller) -> None:
    text = text_of({"expression": "x = 1"}) + "nonsense\n" + text_of({"expression": "x = 2"})
    found = lines(ann.lines(f"{IMPORT}?report=refused", text))
    assert [line.get("line") for line in found] == [2, None]
    assert found[-1] == {"summary": {"created": 2, "refused": 1}}


def test_export_can_be_imported(run: Running, ann: Caller, bob: Caller) -> None:
    hook = {"transport": "webhook", "url": "https://example.org/", "secret": SECRET}
    rows = [{"id": f"s{n:04}", "expression": f"x = {n}", "priority": n / 4} for n in range(2_500)]
    rows[7] |= {"status": "paused", "schedule": "every 5 minutes", "delivery": {"transport": "log"}}
    ann.lines(IMPORT, text_of(*rows))
    ann("PUT", "/v1/subscriptions/hook", {"expression": "x = 1", "delivery": hook})
    exported = ann("GET", EXPORT)
    assert exported.headers["content-type"] == "application/x-ndjson"
    found = lines(exported)
    assert len(found) == 2_501
    assert [one["id"] for one in found] == sorted(one["id"] for one in found)
    assert SECRET not in exported.text
    assert lines(ann.lines(IMPORT, exported.content))[-1] == {"summary": {"unchanged": 2_501}}
    assert lines(bob.lines(IMPORT, exported.content))[-1] == {"summary": {"created": 2_500, "refused": 1}}
    assert lines(bob("GET", EXPORT)) == [one for one in found if one["id"] != "hook"]


def test_export_is_empty_without_subscriptions(ann: Caller) -> None:
    assert ann("GET", EXPORT).text == ""


def test_import_reads_lines_from_any_chunks(ann: Caller) -> None:
    text = text_of(*({"id": f"s{n}", "expression": f"name = 'é{n}'"} for n in range(50))).encode()

    def pieces() -> Any:
        for at in range(0, len(text), 7):
            yield text[at : at + 7]

    found = lines(ann.lines(IMPORT, pieces()))
    assert [line["line"] for line in found[:-1]] == list(range(1, 51))
    assert ann("GET", "/v1/subscriptions/s49").json()["expression"] == "name = 'é49'"


def test_other_media_type_is_refused(ann: Caller) -> None:
    for media in ("application/json", "text/csv", "application/x-ndjson; charset=latin-1"):
        refused = ann("POST", IMPORT, content=b"{}", headers={"content-type": media})
        assert problem(refused, 415, "media-type")["allowed"] == ["application/x-ndjson"]
    packed = ann.lines(IMPORT, b"{}", headers={"content-encoding": "gzip"})
    problem(packed, 415, "media-type")


def test_import_applies_quotas_line_by_line(run: Running, ann: Caller) -> None:
    owner = ann("GET", "/v1/status").json()["owner"]["owner"]
    run.admin("PUT", f"/v1/owners/{owner}", {"subscriptions": 3, "predicates": 10})
    rows = [{"id": f"s{n}", "expression": "x = 1"} for n in range(5)]
    found = lines(ann.lines(IMPORT, text_of(*rows)))
    assert [line["status"] for line in found[:-1]] == ["created"] * 3 + ["refused"] * 2
    assert (found[3]["code"], found[3]["quota"]) == ("quota-exceeded", "subscriptions")
    many = {"id": "s0", "expression": "x IN (1, 2, 3, 4, 5, 6, 7, 8, 9)"}
    assert lines(ann.lines(IMPORT, text_of(many)))[0]["quota"] == "predicates"


def test_import_works_on_postgresql(postgres_url: str) -> None:
    with running(postgres_url) as run:
        ann = run.caller("ann")
        rows = [{"id": f"s{n}", "expression": f"x = {n}"} for n in range(500)]
        assert lines(ann.lines(IMPORT, text_of(*rows)))[-1] == {"summary": {"created": 500}}
        assert len(lines(ann("GET", EXPORT))) == 500
        assert ann("POST", "/v1/match", {"event": {"attributes": {"x": 77}}}).json()["total"] == 1


def test_imported_subscription_is_in_force(tmp_path: Any) -> None:
    with running(file_url(tmp_path)) as run:
        ann = run.caller("ann")
        ann.lines(IMPORT, text_of(*({"id": f"s{n}", "expression": f"x = {n}"} for n in range(100))))
        found = ann("POST", "/v1/match", {"event": {"attributes": {"x": 42}}}).json()["matches"]
        assert [match["id"] for match in found] == ["s42"]
