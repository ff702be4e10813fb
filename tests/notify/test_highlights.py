"""Notifications carry the words because of which a subscription matches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.notify.message import body_of
from tamis.notify.message_builder import message_of
from tamis.notify.settings import MailServer
from tamis.store import Store, events
from tamis.store.claims import Claimed
from tamis.store.events import NewEvent
from tests.notify.book import MINUTE, states, tell
from tests.notify.mailbox import mailbox
from tests.notify.receiver import receiving
from tests.notify.running import Clock, Make, hook
from tests.waiting import PATIENCE, eventually

COATS = "title HAS 'coats' USING english AND price < 600"
EVENT = '{"title":"Wool <Coat>","price":550}'


def claimed(expression: str, payload: str | None, kind: str = "match") -> Claimed:
    return Claimed(
        1, "log", "", 0, 1, 0, "ann", "ann/s", expression, "{}",
        7, kind, "e1", 3, None, None, payload, None, 0,
    )  # fmt: skip


def listed(
    expression: str, payload: str | None, store: Store, kind: str = "match", limits: Limits = DEFAULT_LIMITS
) -> list[dict[str, Any]]:
    message = message_of(claimed(expression, payload, kind), store, limits)
    found: list[dict[str, Any]] = json.loads(body_of(message, 1_000_000))["data"]["events"]
    return found


def test_match_has_highlights(store: Store) -> None:
    (event,) = listed(COATS, EVENT, store)
    assert event["highlights"] == {
        "attributes": {"title": [{"value": 0, "start": 6, "end": 10, "term": "coat", "text": "Coat"}]},
        "snippets": [{"attribute": "title", "value": 0, "pieces": ["Wool <", "Coat", ">"]}],
        "more": False,
    }


@pytest.mark.parametrize(
    ("expression", "payload"),
    [
        ("price < 600", EVENT),  # no predicate on text
        ("title HAS 'silk'", EVENT),  # changed since the match
        ("title HAS", EVENT),  # written for another version
        (COATS, None),
        (COATS, "no JSON"),
        (COATS, "[1]"),
        (COATS, '{"title": 99999999999999999999}'),
    ],
)
def test_event_without_highlights_is_sent_as_before(
    store: Store, expression: str, payload: str | None
) -> None:
    (event,) = listed(expression, payload, store)
    assert "highlights" not in event


@pytest.mark.parametrize(
    ("most", "counts"), [(1, [1, 0, 0]), (2, [2, 0, 0]), (3, [2, 1, 0]), (4, [2, 2, 0]), (6, [2, 2, 2])]
)
def test_events_of_a_digest_share_the_limit(store: Store, most: int, counts: list[int]) -> None:
    plain = {"from": "2026-11-15T12:00:00Z", "to": "2026-11-15T13:00:00Z", "count": 3}
    three = [{"event_id": f"e{at}", "payload": '{"t":"coat coat"}'} for at in range(3)]
    payload = json.dumps(plain | {"events": three})
    found = [
        event["highlights"]
        for event in listed("t HAS 'coat'", payload, store, "digest", Limits(highlights=most))
    ]
    assert [len(one["attributes"].get("t", [])) for one in found] == counts
    assert [one["more"] for one in found] == [count < 2 for count in counts]


def test_body_without_contents_has_no_highlights(store: Store) -> None:
    message = message_of(claimed(COATS, EVENT), store, DEFAULT_LIMITS)
    whole = body_of(message, 1_000_000)
    assert b"highlights" in whole
    short = body_of(message, len(whole) - 1)
    assert b"highlights" not in short
    assert json.loads(short)["data"]["events"] == [{"id": "e1"}]


def test_webhook_mail_and_digest_show_the_words(store: Store, notifying: Make, tmp_path: Path) -> None:
    clock = Clock()
    with receiving() as receiver, mailbox() as box:
        mail = {"transport": "email", "to": "ann@example.org"}
        store.put("ann/hook", COATS, owner="ann", delivery=hook(receiver))
        store.put("ann/mail", COATS, owner="ann", delivery=mail, schedule="every minute")
        with store.database.writing() as connection:
            events.publish_all(connection, [("pub", [NewEvent("car", None, EVENT)])])
        tell(store, ("pub/car", "ann/hook"), ("pub/car", "ann/mail"), payload=None)
        server = MailServer("127.0.0.1", box.port, security="none", seconds=PATIENCE)
        notifier = notifying(clock, mail=server)
        assert notifier.drain(PATIENCE)
        clock.ahead = 2 * MINUTE
        assert notifier.drain(PATIENCE)
        eventually(lambda: states(store) == {"delivered": 2})
    (call,) = receiver.calls
    (event,) = json.loads(call.body)["data"]["events"]
    assert [one["text"] for one in event["highlights"]["attributes"]["title"]] == ["Coat"]
    (sent,) = box.mails
    text, page = [part.get_content() for part in sent.iter_parts()]
    assert "title: Wool <**Coat**>" in text
    assert "<td>Wool &lt;<mark>Coat</mark>&gt;</td>" in page


def test_words_are_marked_by_the_analysers_of_the_store(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/store.db", analysers={"title": "english"}) as store:
        (event,) = listed("title HAS 'coats'", EVENT, store)
        assert event["highlights"]["snippets"][0]["pieces"] == ["Wool <", "Coat", ">"]
