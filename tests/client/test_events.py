"""Events through the client: publish, match, explain and stream give the library's results."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

import tamis
from tamis.client import Outcome
from tamis.client.calls import events
from tamis.errors import (
    EventConflict,
    EventError,
    EventLimit,
    EventSyntax,
    EventValue,
    InputError,
    RequestInvalid,
    UnknownSubscription,
)
from tests.service.service import Running
from tests.waiting import eventually

BOOK: dict[str, Any] = {
    "cheap": "price < 500",
    "phone": "price <= 580 AND model = 'iphone5s'",
    "near": "place WITHIN 10 KM OF POINT (9.5 47.1)",
    "recent": "listed > TIMESTAMP '2026-01-01'",
    "many": "tags = 'new' AND tags = 'red'",
    "not": "NOT price = 3",
    "nested": "seller.country = 'NO'",
    "weighted": "price < 900 ^ 3",
}
EVENTS: list[Any] = [
    {"price": 550, "model": "iphone5s"},
    {"price": 3, "tags": ["red", "new", "big"], "seller": {"country": "NO", "stars": 4.5}},
    {"place": tamis.Point(9.52, 47.14), "listed": datetime(2026, 11, 15, 8, tzinfo=UTC)},
    {"listed": {"$time": "2025-11-15T08:00:00Z"}, "place": {"$point": [9.52, 47.14]}},
    {"price": tamis.Interval(400, 600), "tags": {"new"}, "gone": None},
    tamis.Event({"price": (550,), "tags": ("new", "red")}, weights={"price": 2.0}),
]


@pytest.mark.parametrize("event", EVENTS, ids=range(len(EVENTS)))
def test_match_agrees_with_an_index(client: Any, event: Any) -> None:
    index = tamis.Index.build(BOOK)
    assert client.import_(BOOK).counts == {"created": len(BOOK)}
    assert client.match(event) == sorted(index.match(event))
    assert client.top_k(event, 3) == list(index.top_k(event, 3))
    for name in BOOK:
        there, here = client.explain(name, event), index.explain(name, event)
        assert (there.matched, str(there), there.expression) == (here.matched, str(here), here.expression)
        assert [child.cause for child in there.children] == [child.cause for child in here.children]
    explained = client.match(event, explain=True)
    assert [match.id for match in explained.found] == explained
    assert all(match.version and match.explanation.matched for match in explained.found)


def test_highlights_agree_with_an_index(client: Any) -> None:
    book = {
        "words": "title HAS ANY ('coat', 'wool')",
        "near": "title HAS NEAR 'red coat' WITHIN 4",
        "none": "a = 1",
    }
    event = {"title": ["Red wool coat", "x"], "a": 1}
    client.import_(book)
    there, here = client.match(event, highlight=True), tamis.Index.build(book).match(event, highlight=True)
    assert here.highlights is not None
    assert there.highlights.keys() == here.highlights.keys() == book.keys()
    for name, expected in here.highlights.items():
        found = there.highlights[name]
        assert {
            attribute: [(one.value, one.start, one.end, one.term) for one in some]
            for attribute, some in found.attributes.items()
        } == expected
        assert [one.marked("text") for one in found.snippets] == expected.marked("title", "text")
    why = client.explain("near", event)
    assert [one.text for one in why.found] == ["Red", "coat"]
    assert [one.marked() for one in why.snippets] == ["<mark>Red</mark> wool <mark>coat</mark>"]
    assert client.match(event).highlights == {}


def test_match_returns_thousands_of_ids_in_one_response(
    client: Any, run: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"s{number:04}" for number in range(2_500)]
    client.import_((name, "a = 1") for name in names)
    asked, page = list[int](), run.live.match_page
    monkeypatch.setattr(run.live, "match_page", lambda *given: asked.append(1) or page(*given))
    assert client.match({"a": 1}) == names
    assert len(asked) == 1
    monkeypatch.setattr(events, "AT_ONCE", 1_000)
    assert client.match({"a": 1}) == names
    assert len(asked) == 4


def test_top_k_is_bounded_by_the_page_limit(client: Any, run: Running) -> None:
    most = run.service.limits.page_items
    assert client.top_k({"a": 1}, most) == []
    with pytest.raises(RequestInvalid) as refused:
        client.top_k({"a": 1}, most + 1)
    assert refused.value.details["limit"] == "page_items"
    with pytest.raises(InputError):
        client.top_k({"a": 1}, 0)


def test_match_reads_all_pages(client: Any, run: Running) -> None:
    count = run.service.limits.page_items + 5
    assert client.import_({f"s{at:04}": "a = 1" for at in range(count)}).counts == {"created": count}
    assert client.match({"a": 1}) == [f"s{at:04}" for at in range(count)]
    assert len(client.match({"a": 1}, explain=True).found) == count


BAD: list[tuple[Any, type[EventError]]] = [
    ({"a": float("nan")}, EventValue),
    ({"a": 2**63}, EventValue),
    ({"a": object()}, EventValue),
    ({"a": b"bytes"}, EventValue),
    ({"a": {"b": [float("inf")]}}, EventValue),
    ({1: 2}, EventSyntax),
    ({"a": {1: 2}}, EventSyntax),
    ({"a": "x" * 300_000}, EventLimit),
    ({"a": "\ud800"}, EventValue),
]


@pytest.mark.parametrize(("event", "kind"), BAD, ids=range(len(BAD)))
def test_invalid_event_is_refused_alone(client: Any, event: Any, kind: type[EventError]) -> None:
    client.add("s", "a = 1")
    for ask in (client.publish, client.match, lambda event: client.explain("s", event)):
        with pytest.raises(kind):
            ask(event)
    report = client.publish([{"a": 1}, event, {"a": 2}])
    assert report.counts == {"accepted": 2, "refused": 1}
    assert [(one.line, type(one.error)) for one in report.refused] == [(2, kind)]


def test_event_that_contains_itself_is_refused(client: Any) -> None:
    event: dict[str, Any] = {}
    event["a"] = event
    with pytest.raises(EventLimit):
        client.match(event)


@pytest.mark.parametrize("event", ["{}", b"{}", 17, None])
def test_event_is_refused_when_it_is_no_object(client: Any, event: Any) -> None:
    with pytest.raises(EventSyntax):
        client.publish(event)
    with pytest.raises(EventSyntax):
        client.match(event)


def test_publish_accepts_one_event(client: Any) -> None:
    client.add("s", "a > 0")
    moment = datetime(2026, 11, 15, 8, tzinfo=UTC)
    with client.stream() as stream:
        assert client.publish({"a": 1}, id="e", time=moment).status == "accepted"
        assert client.publish({"a": 1}, id="e", time=moment).status == "duplicate"
        with pytest.raises(EventConflict) as conflict:
            client.publish({"a": 2}, id="e")
        assert conflict.value.details["event"] == "e"
        made = client.publish({"a": 3})
        again = client.publish({"a": 3})
        assert made.id != again.id
        named = client.publish(tamis.Event({"a": (4,)}, id="f", time=datetime(2026, 1, 1)))
        assert (named.id, named.status) == ("f", "accepted")
        told = [next(stream) for _ in range(4)]
    assert [one.event.id for one in told] == ["e", made.id, again.id, "f"]
    assert [one.event.time for one in told] == [moment, None, None, datetime(2026, 1, 1, tzinfo=UTC)]
    assert told[0].event.attributes == {"a": 1}
    assert told[3].event.attributes == {"a": 4}
    assert {(one.kind, one.subscription, one.version) for one in told} == {
        ("match", "s", client.subscription("s").version)
    }
    with pytest.raises(RequestInvalid):
        client.publish({"a": 1}, id="a b")


def test_publish_reports_many_events(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.client.calls.bulk.BATCH_LINES", 7)
    events = [tamis.Event({"a": (at,)}, id=f"e{at}") for at in range(30)]
    events[11] = tamis.Event({"a": (float("nan"),)})
    events[20] = tamis.Event({"a": (99,)}, id="e0")  # another event with the same id
    events[29] = events[3]
    report = client.publish(iter(events))
    assert (report.lines, report.counts) == (
        30,
        {"accepted": 27, "refused": 1, "conflict": 1, "duplicate": 1},
    )
    assert [(one.line, one.id, one.status) for one in report.refused] == [
        (12, None, "refused"),
        (21, "e0", "conflict"),
    ]
    assert [type(one.error) for one in report.refused] == [EventValue, EventConflict]
    told: list[Outcome] = []
    assert client.publish(events[:3], each=told.append).counts == {"duplicate": 3}
    assert [(one.line, one.id) for one in told] == [(1, "e0"), (2, "e1"), (3, "e2")]
    assert client.publish([]).lines == 0


def test_publish_refuses_one_id_for_many_events(client: Any) -> None:
    with pytest.raises(InputError):
        client.publish([{"a": 1}], id="e")


@pytest.mark.parametrize("face", ["sync"], indirect=True)
def test_synchronous_client_refuses_an_asynchronous_iterator(client: Any) -> None:
    async def none() -> AsyncIterator[Any]:
        yield

    with pytest.raises(EventSyntax):
        client.publish(none())
    with pytest.raises(InputError):
        client.import_(none())


@pytest.mark.parametrize("face", ["async"], indirect=True)
def test_asynchronous_client_publishes_from_an_asynchronous_iterator(client: Any) -> None:
    async def events() -> AsyncIterator[dict[str, int]]:
        for at in range(5):
            yield {"a": at}

    async def rows() -> AsyncIterator[tuple[str, str]]:
        yield "s", "a = 1"

    assert client.publish(events()).counts == {"accepted": 5}
    assert client.import_(rows()).counts == {"created": 1}


# -- the stream --------------------------------------------------------------------------------------------


def test_stream_starts_after_a_given_number(client: Any) -> None:
    client.add("s", "a >= 0")
    client.publish({"a": at} for at in range(5))
    with client.stream(after=0) as stream:
        told = [next(stream) for _ in range(5)]
    assert [one.event.attributes["a"] for one in told] == [0, 1, 2, 3, 4]
    assert [one.number for one in told] == sorted(one.number for one in told)
    with client.stream(after=told[2].number) as stream:
        assert [next(stream).number for _ in range(2)] == [one.number for one in told[3:]]


def test_closed_stream_releases_its_slot(client: Any, admin: Any, owner: str, run: Running) -> None:
    admin.set_quotas(owner, streams=1)
    client.add("s", "a = 1")
    for _ in range(3):
        with client.stream() as stream:
            client.publish({"a": 1})
            assert next(stream).subscription == "s"
        eventually(lambda: not run.service.open_streams.count(owner))


def test_notifications_of_a_subscription_are_listed(client: Any) -> None:
    client.add("s", "a > 0")
    with client.stream() as stream:
        client.publish([tamis.Event({"a": (at,)}, id=f"e{at}") for at in (1, 2, 3)])
        numbers = [next(stream).number for _ in range(3)]
    told = list(client.notifications("s", page=2))
    assert [one.number for one in told] == numbers[::-1]
    assert {(one.state, one.attempts, one.kind) for one in told} == {("kept", 0, "match")}
    with pytest.raises(UnknownSubscription):
        list(client.notifications("t"))
