"""Subscriptions through both clients against a real service."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import tamis
from tamis.client import Outcome, Row, Subscription
from tamis.errors import (
    DuplicateSubscription,
    InputError,
    ParseError,
    QuotaExceeded,
    RequestInvalid,
    ScopeMissing,
    TamisError,
    UnknownSubscription,
    VersionConflict,
)
from tests.service.service import Running

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
HOOK = {"transport": "webhook", "url": "https://example.org/hook", "secret": SECRET}


def test_subscription_is_created_read_updated_and_removed(client: Any, owner: str) -> None:
    made = client.add("s", "price < 5", priority=2.5, schedule="every five minutes", delivery=HOOK)
    assert isinstance(made, Subscription)
    assert (made.id, made.owner, made.expression, made.priority) == ("s", owner, "price < 5", 2.5)
    assert (made.schedule, made.status, made.cost) == ("every 5 minutes", "active", 1)
    assert made.delivery is not None
    assert made.delivery["secret"] == "…"
    assert abs(made.created - datetime.now(UTC)) < timedelta(minutes=1)
    assert client.subscription("s") == made

    changed = client.update("s", "price < 6", priority=1)
    assert (changed.expression, changed.priority, changed.schedule) == ("price < 6", 1.0, "every 5 minutes")
    assert changed.version > made.version
    assert client.update("s", schedule=None, delivery=None).delivery is None
    assert client.update("s") == client.subscription("s")  # an update that changes nothing keeps the version

    assert client.pause("s").status == "paused"
    assert client.match({"price": 1}) == []
    assert client.resume("s").status == "active"
    assert client.match({"price": 1}) == ["s"]

    assert client.remove("s") is None
    with pytest.raises(UnknownSubscription) as gone:
        client.subscription("s")
    assert gone.value.details["subscription"] == "s"


def test_subscription_gets_an_id_when_none_is_given(client: Any) -> None:
    made = client.add(None, "a = 1")
    assert client.subscription(made.id) == made


def test_add_refuses_an_existing_id(client: Any) -> None:
    client.add("s", "a = 1")
    with pytest.raises(DuplicateSubscription):
        client.add("s", "a = 2")
    assert client.put("s", "a = 2").expression == "a = 2"
    assert client.put("new", "a = 3").status == "active"


@pytest.mark.parametrize("name", ["...", ".a", "a:b@c~d", "-"])
def test_id_with_url_characters_is_escaped(client: Any, name: str) -> None:
    client.add(name, "a = 1")
    assert client.pause(name).id == name
    assert [one.id for one in client.subscriptions()] == [name]
    client.remove(name)


def test_invalid_id_is_refused(client: Any) -> None:
    client.add("s", "a = 1")
    for name in ("s/pause", "s?owner=root", "s#", "%73", "", "ü", "s\n", ".", ".."):
        with pytest.raises(RequestInvalid):
            client.remove(name)
    assert client.subscription("s").id == "s"


def test_conditional_change_is_refused_for_another_version(client: Any) -> None:
    first = client.add("s", "a = 1").version
    second = client.update("s", "a = 2", version=first).version
    for change in (
        lambda: client.update("s", "a = 3", version=first),
        lambda: client.put("s", "a = 3", version=first),
        lambda: client.pause("s", version=first),
        lambda: client.remove("s", version=first),
    ):
        with pytest.raises(VersionConflict):
            change()
    assert client.put("s", "a = 4", version=second).version > second


FORMS: list[tuple[Any, str | None, str]] = [
    ("price < 5", "text", "price < 5"),
    ((tamis.attr("price") < 5) & tamis.attr("city").isin("Oslo", "Rome"), None, ""),
    (tamis.to_json(tamis.parse("price < 5")), None, "price < 5"),
    ("price=5&city=Oslo", "query-string", "price = 5 AND city = 'Oslo'"),
    ({"city": ["Oslo", "Rome"]}, "eventbridge", "city IN ('Oslo', 'Rome')"),
    ("price:<5", "lucene", "price < 5"),
]


@pytest.mark.parametrize(
    ("expression", "form", "text"), FORMS, ids=["text", "tree", "json", "query", "bridge", "lucene"]
)
def test_every_form_of_expression_is_accepted(client: Any, expression: Any, form: Any, text: str) -> None:
    wanted = text or tamis.to_text(expression)
    assert client.add("s", expression, form=form).expression == wanted
    assert client.validate(expression, form=form).text == wanted
    client.add("t", "b = 1")
    more = {} if form is None else {"form": form}
    assert client.update("t", expression, **more).expression == wanted


def test_subscriptions_are_listed_in_pages(client: Any) -> None:
    for at in range(7):
        client.add(f"s{at}", f"a = {at}", status="paused" if at % 2 else "active")
    assert [one.id for one in client.subscriptions(page=2)] == [f"s{at}" for at in range(7)]
    assert [one.id for one in client.subscriptions(status="paused", page=1)] == ["s1", "s3", "s5"]
    assert [one.id for one in client.subscriptions(text="a = 4")] == ["s4"]
    some = client.subscriptions(page=3)
    assert next(some).id == "s0"
    some.close()
    assert list(some) == []


def test_validate_reports_without_storing(client: Any) -> None:
    found = client.validate("price < 300 AND price < 500", schedule="daily at 9", event={"price": 400})
    assert found
    assert (found.errors, found.cost, found.schedule) == ([], 2, "daily at 9 in UTC")
    assert found.advice.kind == "clauses"
    assert "redundant" in [warning.code for warning in found.advice.warnings]
    assert 0 <= found.advice.selectivity.share <= 1
    assert str(found.explanation) == str(
        tamis.Index.build({"s": "price < 300 AND price < 500"}).explain("s", {"price": 400})
    )
    bad = client.validate("price <", schedule="now and then")
    assert not bad
    assert [(fault.field, fault.code) for fault in bad.errors] == [
        ("expression", "expression-syntax"),
        ("schedule", "schedule-invalid"),
    ]
    assert bad.errors[0].position == 7


# -- many --------------------------------------------------------------------------------------------------


def test_export_returns_the_imported_subscriptions(client: Any, admin: Any, owner: str) -> None:
    rows: list[Any] = [
        ("pair", "a = 1"),
        {"id": "named", "expression": tamis.attr("a") > 2, "delivery": HOOK},
        tamis.Subscription("known", tamis.parse("a = 3"), 1.5),
        Row(id="row", expression="a = 4", status="paused"),
        {"expression": "a = 5"},
    ]
    report = client.import_(rows)
    assert (report.lines, report.counts, report.refused) == (5, {"created": 5}, [])
    exported = list(client.export())
    assert [row.id for row in exported if len(row.id) < 32] == ["known", "named", "pair", "row"]
    known = next(row for row in exported if row.id == "known")
    assert (known.expression, known.priority) == ("a = 3", 1.5)

    assert client.import_(exported).counts == {"unchanged": 5}
    assert client.import_({"pair": "a = 7", "other": "a = 8"}).counts == {"replaced": 1, "created": 1}

    with pytest.raises(ScopeMissing):
        list(client.export(secrets=True))
    whole = {row.id: row for row in admin.acting_for(owner).export(secrets=True)}
    assert whole["named"].delivery["secret"] == SECRET


def test_import_stores_the_valid_rows_beside_refused_ones(client: Any, admin: Any, owner: str) -> None:
    rows: list[Any] = [
        ("a", "x = 1"),
        ("b", "x <"),
        17,
        {"id": "c", "expression": "x = 2", "colour": 1},
        ("d", "x = 3"),
    ]
    report = client.import_(iter(rows))
    assert (report.lines, report.counts) == (5, {"created": 2, "refused": 3})
    second, third, fourth = report.refused
    assert (second.line, second.id, second.status) == (2, "b", "refused")
    assert isinstance(second.error, ParseError)
    assert second.error.position == 3
    assert str(second.error).endswith("x <\n     ^")
    assert (third.line, type(third.error)) == (3, InputError)
    assert (fourth.line, fourth.error.code, fourth.error.details["field"]) == (4, "request-invalid", "colour")

    admin.set_quotas(owner, subscriptions=3)
    told: list[Outcome] = []
    report = client.import_({"a": "x = 9", "e": "x = 4", "f": "x = 5"}, each=told.append)
    assert (report.counts, report.refused) == ({"replaced": 1, "created": 1, "refused": 1}, [])
    assert [(one.line, one.id, one.status) for one in told] == [
        (1, "a", "replaced"),
        (2, "e", "created"),
        (3, "f", "refused"),
    ]
    assert isinstance(told[2].error, QuotaExceeded)
    assert told[1].version == client.subscription("e").version


def test_import_is_sent_in_several_requests(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.client.calls.bulk.BATCH_LINES", 10)
    bad = {7, 20, 21, 43}
    rows = [(f"s{at:02}", "x <" if at in bad else f"x = {at}") for at in range(45)]
    told: list[Outcome] = []
    report = client.import_(rows, each=told.append)
    assert (report.lines, report.counts) == (45, {"created": 41, "refused": 4})
    assert [one.line for one in told] == list(range(1, 46))
    assert {one.line - 1 for one in told if one.status == "refused"} == bad
    assert len(list(client.export())) == 41


def test_import_request_size_is_bounded(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.client.calls.bulk.BATCH_BYTES", 500)
    long = "x IN (" + ", ".join(str(at) for at in range(200)) + ")"
    report = client.import_([("a", "x = 1"), ("b", long), ("c", "x = 2"), ("d", "x = 3")])
    assert report.counts == {"created": 4}


def test_empty_import_succeeds(client: Any) -> None:
    assert client.import_([]).lines == 0
    assert list(client.export()) == []
    assert list(client.subscriptions()) == []


def test_value_that_json_cannot_hold_is_refused(client: Any) -> None:
    with pytest.raises(InputError, match="JSON"):
        client.add("s", "a = 1", delivery={"transport": object()})
    with pytest.raises(InputError, match="JSON"):
        client.add("s", "a = '\ud800'")
    with pytest.raises(InputError, match="surrogate"):
        list(client.subscriptions(text="\ud800"))
    with pytest.raises(InputError, match="iterate"):
        client.import_(17)
    report = client.import_([{"id": "s", "expression": object()}])
    assert [type(one.error) for one in report.refused] == [InputError]
    assert list(client.subscriptions()) == []


def test_error_of_the_row_iterator_reaches_the_caller(client: Any) -> None:
    def rows() -> Any:
        yield "a", "x = 1"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        client.import_(rows())


# -- owners ------------------------------------------------------------------------------------------------


def test_administrator_acts_for_another_owner(client: Any, admin: Any, owner: str, run: Running) -> None:
    other = admin.acting_for(owner)
    other.add("s", "a = 1")
    assert client.subscription("s").owner == owner
    assert other.match({"a": 1}) == ["s"]
    assert owner in {one.owner for one in admin.acting_for("*").subscriptions()}
    with pytest.raises(ScopeMissing):
        client.acting_for("root").subscription("s")
    other.close()  # it shares the connections of its parent
    assert admin.health().status == "ok"


def test_errors_equal_those_of_the_library(client: Any) -> None:
    for text in ("price <", "a BETWEEN 1 AND 'x'", "a RLIKE '('", "a = 1 OR " * 600 + "a = 2"):
        with pytest.raises(TamisError) as here:
            tamis.parse(text)
        with pytest.raises(TamisError) as there:
            client.add("s", text)
        assert type(there.value) is type(here.value)
        assert str(there.value) == str(here.value)
        assert there.value.details.pop("request_id")
        assert there.value.as_dict() == here.value.as_dict()


@pytest.mark.parametrize("identity", [7, True, 7.0, b"7"], ids=repr)
def test_id_is_refused_before_the_request_when_it_is_not_text(client: Any, identity: Any) -> None:
    for call in (
        lambda: client.add(identity, "price < 5"),
        lambda: client.put(identity, "price < 5"),
        lambda: client.subscription(identity),
        lambda: client.update(identity, "price < 6"),
        lambda: client.remove(identity),
    ):
        with pytest.raises(RequestInvalid, match="is a string"):
            call()
