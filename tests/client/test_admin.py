"""Administration, health and status through the client."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import tamis
from tamis.errors import KeyInvalid, QuotaExceeded, RequestInvalid, ResourceUnknown, ScopeMissing
from tamis.store.deliveries import DEAD
from tests.client.conftest import Make
from tests.service import letters
from tests.service.service import Running


def test_health_and_ready_need_no_key(client: Any, make: Make, run: Running) -> None:
    stranger = make(str(run.http.base_url), None)
    assert stranger.health().version == tamis.__version__
    assert stranger.ready()
    assert stranger.ready().reasons == []
    with pytest.raises(KeyInvalid):
        stranger.status()


def test_status_reports_owner_scopes_and_deliveries(client: Any, admin: Any, owner: str) -> None:
    client.add("s", "a = 1 AND b = 2")
    found = client.status()
    assert (found.version, found.owner.owner, found.index) == (tamis.__version__, owner, None)
    assert (found.owner.held.subscriptions, found.owner.held.predicates) == (1, 2)
    assert sorted(found.scopes) == ["publish", "subscribe"]
    assert found.deliveries == {"waiting": 0, "claimed": 0, "dead": 0}
    assert admin.status().index["engine"] == "hybrid"


def test_keys_are_created_listed_and_revoked(admin: Any, make: Make, run: Running, owner: str) -> None:
    expires = datetime.now(UTC) + timedelta(days=1)
    made = admin.create_key(owner, ["subscribe"], name="a name", expires=expires)
    assert (made.owner, made.scopes, made.name, made.revoked) == (owner, ["subscribe"], "a name", None)
    assert abs(made.expires - expires) < timedelta(seconds=1)
    assert made.key.startswith("tamis_")
    theirs = make(str(run.http.base_url), made.key)
    theirs.add("s", "a = 1")
    with pytest.raises(ScopeMissing):
        theirs.publish({"a": 1})
    with pytest.raises(ScopeMissing):
        list(theirs.keys())
    admin.create_key(owner, ["publish", "subscribe"])
    assert len(list(admin.keys(owner, page=1))) == 2
    assert {one.owner for one in admin.keys()} > {owner}  # noqa: SIM118  (no dictionary)

    assert admin.revoke_key(made.id) is None
    with pytest.raises(KeyInvalid):
        theirs.subscription("s")
    with pytest.raises(ResourceUnknown):
        admin.revoke_key("0123456789abcdef")
    with pytest.raises(RequestInvalid):
        admin.create_key("no owner", ["publish"])


def test_quotas_of_an_owner_are_read_and_set(client: Any, admin: Any, owner: str) -> None:
    assert admin.owner(owner).given.subscriptions is None
    found = admin.set_quotas(owner, subscriptions=1, events=5, changes=6, requests_at_once=7)
    assert (found.given.subscriptions, found.given.events, found.given.requests) == (1, 5, None)
    assert (found.given.changes, found.quotas.requests_at_once) == (6, 7)
    assert found.quotas.subscriptions == 1
    assert found.quotas.requests is not None
    client.add("s", "a = 1")
    with pytest.raises(QuotaExceeded):
        client.add("t", "a = 1")
    assert admin.owner(owner).held.subscriptions == 1
    assert admin.set_quotas(owner).given.subscriptions is None


def test_quarantine_is_listed(client: Any, admin: Any, owner: str) -> None:
    client.publish([{"a": "x" * 300_000}])
    newest = next(iter(admin.quarantine(page=1)))
    assert (newest.source, newest.code) == (f"http {owner}", "event-limit")


def test_dead_letters_are_listed_retried_and_replayed(client: Any, run: Running, owner: str) -> None:
    """A delivery that was given up is listed, retried and replayed."""
    client.add("s", "a = 1", delivery={"transport": "webhook", "url": "https://example.org/hook"})
    with client.stream() as stream:
        client.publish([{"a": 1}, {"a": 1}, {"a": 1}])
        numbers = [next(stream).number for _ in range(3)]
    letters.order(run)
    letters.finish(run, DEAD, "gone")
    dead = list(client.dead_letters(page=1))
    assert [one.number for one in dead] == numbers[::-1]
    assert {(one.state, one.error) for one in dead} == {("dead", "gone")}
    assert client.retry(numbers[0]) == 1
    with pytest.raises(ResourceUnknown):
        client.retry(numbers[0])
    assert client.retry_all() == 2
    assert client.retry_all() == 0
    assert {one.state for one in client.notifications("s")} == {"waiting"}
    assert client.replay("s", numbers[0]) == 0  # it is already waiting for delivery
    letters.finish(run, DEAD)
    assert client.replay("s", numbers[0]) == 1
    with pytest.raises(ResourceUnknown):
        client.replay("s", 10**15)
