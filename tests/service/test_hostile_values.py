"""Values that once broke a whole request get a typed problem and affect only their own line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis.contract.delivery import settings_of
from tests.service.service import Caller, Running, problem
from tests.service.test_events import kept, lines

ROOT, IMPORT, VALIDATE = (
    "/v1/subscriptions",
    "/v1/subscriptions/import",
    "/v1/subscriptions/validate",
)
DIGITS = "1" + "0" * 400  # an integer that no float holds
SCHEDULES = {
    "a long s": "every 5 \u017feconds",
    "a Kelvin sign": "wee\u212aly on Monday at 8",
    "Arabic digits": "every \u0663 minutes",
    "a superscript": "every \u00b2 minutes",
}


def sent(caller: Caller, method: str, path: str, text: str) -> Any:
    """Send a request with a text that Python's own encoder might not write."""
    return caller(method, path, content=text.encode(), headers={"content-type": "application/json"})


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_malformed_schedule_is_refused(ann: Caller, schedule: str) -> None:
    body = {"expression": "a = 1", "schedule": schedule}
    problem(ann("POST", ROOT, body), 422, "schedule-invalid")
    problem(ann("PUT", f"{ROOT}/s", body), 422, "schedule-invalid")
    assert ann("PUT", f"{ROOT}/s", {"expression": "a = 1"}).status_code == 201
    problem(ann("PATCH", f"{ROOT}/s", {"schedule": schedule}), 422, "schedule-invalid")
    found = ann("POST", VALIDATE, body).json()
    assert [(fault["field"], fault["code"]) for fault in found["errors"]] == [
        ("schedule", "schedule-invalid")
    ]


def test_import_stores_the_good_lines_when_one_schedule_is_refused(ann: Caller) -> None:
    rows = [{"id": f"s{number}", "expression": "a = 1"} for number in range(5)]
    rows.insert(2, {"id": "bad", "expression": "a = 1", "schedule": SCHEDULES["a long s"]})
    found = lines(ann.lines(IMPORT, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)))
    assert (found[2]["line"], found[2]["code"]) == (3, "schedule-invalid")
    assert found[-1] == {"summary": {"created": 5, "refused": 1}}
    assert [one["id"] for one in ann("GET", ROOT).json()["items"]] == ["s0", "s1", "s2", "s3", "s4"]


@pytest.mark.parametrize("surrogate", [r"\ud800", r"\udc00 and more", r"\ud800\ud800"])
def test_lone_surrogate_is_refused_with_a_type_everywhere(ann: Caller, surrogate: str) -> None:
    template = '{"transport": "log", "template": {"text": "' + surrogate + '"}}'
    for body in (
        '{"expression": "a = 1", "delivery": ' + template + "}",
        '{"expression": "a = 1", "schedule": "' + surrogate + '"}',
        '{"expression": "a = \'' + surrogate + "'\"}",
    ):
        problem(sent(ann, "POST", ROOT, body), 400, "request-invalid")
        problem(sent(ann, "POST", VALIDATE, body), 400, "request-invalid")
        found = lines(ann.lines(IMPORT, f'{{"expression": "a = 1"}}\n{body}\n'))
        assert [line.get("code") for line in found] == [None, "request-invalid", None]


POINT = '{"p": {"$point": [' + DIGITS + ", 0]}}"


def test_event_with_a_huge_coordinate_is_refused_alone(run: Running, ann: Caller) -> None:
    problem(sent(ann, "POST", "/v1/events", '{"attributes": ' + POINT + "}"), 422, "event-value")
    text = (
        '{"id": "a", "attributes": {"x": 1}}\n{"attributes": ' + POINT + '}\n{"id": "b", "attributes": {}}\n'
    )
    found = lines(ann.lines("/v1/events", text))
    assert [line.get("code", line.get("status")) for line in found[:-1]] == [
        "accepted",
        "event-value",
        "accepted",
    ]
    assert [name for name, _ in kept(run, ann)] == ["a", "b"]


def test_match_request_with_a_huge_number_is_refused(ann: Caller) -> None:
    problem(sent(ann, "POST", "/v1/match", '{"event": {"attributes": ' + POINT + "}}"), 422, "event-value")
    weights = '{"event": {"attributes": {"a": 1}, "weights": {"a": ' + DIGITS + '}}, "k": 1}'
    problem(sent(ann, "POST", "/v1/match", weights), 400, "request-invalid")


def test_validation_reports_an_event_with_a_huge_number(ann: Caller) -> None:
    draft = '{"expression": "a = 1", "event": ' + POINT + "}"
    found = sent(ann, "POST", VALIDATE, draft).json()
    assert [(fault["field"], fault["code"]) for fault in found["errors"]] == [("event", "event-value")]


def test_huge_priority_is_refused_alone(ann: Caller) -> None:
    body = '{"id": "s", "expression": "a = 1", "priority": ' + DIGITS + "}"
    problem(sent(ann, "POST", ROOT, body), 400, "request-invalid")
    problem(sent(ann, "PUT", f"{ROOT}/s", body.replace('"id": "s", ', "")), 400, "request-invalid")
    found = lines(ann.lines(IMPORT, f'{{"id": "good", "expression": "a = 1"}}\n{body}\n'))
    assert [line.get("code") for line in found] == [None, "request-invalid", None]
    problem(sent(ann, "PATCH", f"{ROOT}/good", '{"priority": ' + DIGITS + "}"), 400, "request-invalid")
    assert ann("GET", f"{ROOT}/good").json()["priority"] == 0.0


# -- defects -----------------------------------------------------------------------------------------------

MODULE = """
from tamis.contract.delivery import Delivery
from tamis.notify.transports.base import Transport

class Settings(Delivery, frozen=True, kw_only=True, tag="owl"):
    def check(self, limits):
        raise RuntimeError("an owl that breaks")

class Owl(Transport):
    settings = Settings
    def send(self, delivery, message): ...
"""


@pytest.fixture
def owl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a transport of another package that fails unexpectedly."""
    (tmp_path / "owls.py").write_text(MODULE)
    about = tmp_path / "owls-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: owls\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[tamis.transports]\nowl = owls:Owl\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("owls", None)
    settings_of.cache_clear()


@pytest.mark.usefixtures("owl")
def test_import_loses_one_line_when_a_foreign_transport_breaks(ann: Caller) -> None:
    rows = [
        {"id": "a", "expression": "x = 1"},
        {"id": "b", "expression": "x = 1", "delivery": {"transport": "owl"}},
        {"id": "c", "expression": "x = 1"},
    ]
    found = lines(ann.lines(IMPORT, "".join(json.dumps(row) + "\n" for row in rows)))
    assert [line.get("code", line.get("status")) for line in found[:-1]] == [
        "created",
        "internal-error",
        "created",
    ]
    assert "owl that breaks" not in json.dumps(found)  # the message is only for the log


@pytest.mark.parametrize(
    ("table", "column", "path", "texts"),
    [
        (
            "subscriptions",
            "id",
            IMPORT,
            ['{"id": "a", "expression": "x = 1"}', '{"id": "cursed", "expression": "x = 1"}'],
        ),
        (
            "events",
            "event_id",
            "/v1/events",
            ['{"id": "a", "attributes": {}}', '{"id": "cursed", "attributes": {}}'],
        ),
    ],
    ids=["import", "events"],
)
def test_bulk_request_loses_one_line_when_the_database_refuses_it(
    run: Running, ann: Caller, table: str, column: str, path: str, texts: list[str]
) -> None:
    with run.store.database.writing() as connection:
        connection.exec_driver_sql(
            f"CREATE TRIGGER curse_{table} BEFORE INSERT ON {table} WHEN NEW.{column} LIKE '%/cursed' "
            "BEGIN SELECT RAISE(ABORT, 'cursed'); END"
        )
    found = lines(ann.lines(path, "\n".join([*texts, texts[0].replace('"a"', '"c"')]) + "\n"))
    taken = "created" if path == IMPORT else "accepted"
    assert [line.get("code", line.get("status")) for line in found[:-1]] == [taken, "internal-error", taken]
    assert found[-1] == {"summary": {taken: 2, "refused": 1}}
