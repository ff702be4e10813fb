"""Subscriptions one by one: make, read, list, replace, change, pause, end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy.engine import Connection

from tamis.contract.names import check_local, local_name, new_name
from tamis.errors import DuplicateSubscription, RequestInvalid, ServiceBusy, TamisError, VersionConflict
from tamis.service import cursors, drafts
from tamis.service.bodies import JSON, MERGE_PATCH
from tamis.service.conditions import KEY, TAGS, Conditions, idempotency_key, tag_of
from tamis.service.operation import Answer, Call, Header, operation
from tamis.service.schemas.common import ForOwner
from tamis.service.schemas.subscriptions import (
    Change,
    NewSubscription,
    Subscription,
    SubscriptionPage,
    SubscriptionsPageOf,
    Wanted,
)
from tamis.store import answers, listing, registry, subscriptions
from tamis.store.answers import Asked, Given
from tamis.store.bulk import hold
from tamis.store.keys import SUBSCRIBE
from tamis.store.registry import Outcome, Put
from tamis.store.subscriptions import ACTIVE, PAUSED, Entry, Held
from tamis.store.tables import CHANGE_ORDER

ROOT, ONE = "/v1/subscriptions", "/v1/subscriptions/{id}"
EVERYBODY = "*"
RESERVED = ("export", "import", "validate")  # words that stand in paths where an id could
ATTEMPTS = 20

_TAG = "subscriptions"
_IF_MATCH = Header("If-Match", "Only if it is one of these versions.", TAGS)
_IF_NONE_MATCH = Header("If-None-Match", "Only if it is none of these versions; * for none at all.", TAGS)
_KEY = Header("Idempotency-Key", "A repetition with it gets the same answer and does nothing again.", KEY)
_encode = msgspec.json.Encoder().encode
_known = {"scope": SUBSCRIBE, "tag": _TAG}
_changes = {**_known, "query": ForOwner, "headers": (_IF_MATCH,), "refusals": (404, 412, 422)}


@operation(
    "POST",
    ROOT,
    **_known,
    query=ForOwner,
    body=NewSubscription,
    answers={201: Subscription},
    headers=(_KEY,),
    refusals=(409, 422),
)
async def create_subscription(call: Call) -> Answer:
    """Make a subscription. It matches every event that is published after the answer."""
    service, wanted = call.service, call.body
    name = new_name() if wanted.id is None else checked_name(wanted.id)
    entry = await service.in_thread(_entry, call, name, wanted, None)
    key = idempotency_key(call.request.scope, service.limits)
    if key is None:
        return _created(await service.put(Put(entry, _is_new)), call)
    asked = Asked(call.owner, key, _fingerprint(wanted))
    given, repeated = await service.commit(lambda connection: _once(connection, asked, entry, call))
    headers = {**given.headers, "idempotency-replayed": "true"} if repeated else given.headers
    return Answer(given.body.encode(), given.status, headers)


@operation("GET", ROOT, **_known, query=SubscriptionsPageOf, answers={200: SubscriptionPage})
async def list_subscriptions(call: Call) -> Answer:
    """List subscriptions in the order of their ids. A page with a filter may be short: follow ``next``.

    With ``count=true`` the answer has the ``total`` of those asked for, whatever page it is.
    """
    asked: SubscriptionsPageOf = call.query
    wanted = listing.Wanted(None if asked.owner == EVERYBODY else call.owner, asked.status, asked.text)
    after = cursors.place(asked.cursor)
    most = min(asked.limit, call.service.limits.page_items)

    def read(connection: Connection) -> tuple[listing.Page[Held, str], int | None]:
        total = listing.subscriptions_total(connection, wanted) if asked.count else None
        return listing.subscriptions_page(connection, wanted, after, most), total

    page, total = await call.service.read(read)
    items = [_shown(held, call) for held in page.items]
    return Answer(SubscriptionPage(items=items, next=cursors.cursor(page.next), total=total))


@operation(
    "GET",
    ONE,
    **_known,
    query=ForOwner,
    answers={200: Subscription, 304: None},
    headers=(_IF_NONE_MATCH,),
    refusals=(404,),
)
async def read_subscription(call: Call) -> Answer:
    """Read a subscription; ``ETag`` is its version."""
    held = registry.existing(await _held(call), call.stored)
    if Conditions.of(call.request.headers).is_unchanged(held):
        return Answer(None, 304, {"etag": tag_of(held.version)})
    return _read(held, call)


@operation(
    "PUT",
    ONE,
    **_known,
    query=ForOwner,
    body=Wanted,
    answers={200: Subscription, 201: Subscription},
    headers=(_IF_MATCH, _IF_NONE_MATCH),
    refusals=(412, 422),
)
async def replace_subscription(call: Call) -> Answer:
    """Make or replace a subscription. What is already so keeps its version."""
    name = checked_name(call.part("id"))
    outcome = await _alter(call, lambda held: _entry(call, name, call.body, held))
    return _created(outcome, call) if outcome.before is None else _read(outcome.held, call)


@operation("PATCH", ONE, **_changes, body=Change, media=(MERGE_PATCH, JSON), answers={200: Subscription})
async def change_subscription(call: Call) -> Answer:
    """Change some fields; the others stay. ``null`` takes a schedule or delivery away."""

    def make(held: Held | None) -> Entry:
        there = registry.existing(held, call.stored)
        return _entry(call, call.part("id"), drafts.patched(there, call.body), held)

    return _read((await _alter(call, make)).held, call)


@operation("DELETE", ONE, **_changes, answers={204: None})
async def delete_subscription(call: Call) -> Answer:
    """End a subscription. It matches no event that is published after the answer."""
    stored, conditions = call.stored, Conditions.of(call.request.headers)
    await call.service.commit(lambda connection: registry.remove(connection, stored, conditions.check))
    return Answer(None, 204)


@operation("POST", f"{ONE}/pause", **_changes, answers={200: Subscription})
async def pause_subscription(call: Call) -> Answer:
    """Keep a subscription without matching it."""
    return await _switch(call, PAUSED)


@operation("POST", f"{ONE}/resume", **_changes, answers={200: Subscription})
async def resume_subscription(call: Call) -> Answer:
    """Match a paused subscription again."""
    return await _switch(call, ACTIVE)


async def _switch(call: Call, status: str) -> Answer:
    def make(held: Held | None) -> Entry:
        there = registry.existing(held, call.stored)
        return there.as_entry()._replace(status=status)

    return _read((await _alter(call, make)).held, call)


def _entry(call: Call, name: str, wanted: Wanted, held: Held | None) -> Entry:
    service = call.service
    return service.deliverable.admit(drafts.entry_of(call.owner, name, wanted, service.limits, held), held)


# -- changes -----------------------------------------------------------------------------------------------


async def _alter(call: Call, make: Callable[[Held | None], Entry]) -> Outcome:
    """Read it, make the new one, write it if nobody was quicker; else again."""
    service, conditions = call.service, Conditions.of(call.request.headers)
    for _ in range(ATTEMPTS):
        held = await _held(call)
        conditions.check(held)
        entry = await service.in_thread(make, held)
        try:
            return await service.put(Put(entry, _still(held)))
        except VersionConflict:
            continue
    raise ServiceBusy("others change this subscription all the time; ask again")


def _still(before: Held | None) -> registry.Check:
    def check(held: Held | None) -> None:
        if (held and held.version) != (before and before.version):
            raise VersionConflict("it was changed between reading and writing")

    return check


def checked_name(name: str) -> str:
    """Return a name that a subscription can have."""
    if name in RESERVED:
        raise RequestInvalid(f"{name} is a word of the API and cannot be an id", field="id")
    return check_local(name)


def _is_new(held: Held | None) -> None:
    if held is not None:
        name = local_name(held.id)
        raise DuplicateSubscription(
            f"there is a subscription {name!r} already; PUT replaces it", subscription=name
        )


def _once(connection: Connection, asked: Asked, entry: Entry, call: Call) -> tuple[Given, bool]:
    """Make it, or repeat what was answered when it was made."""
    hold(connection, CHANGE_ORDER)
    given = answers.find(connection, asked)
    if given is not None:
        return given, True
    (outcome,) = registry.put(connection, [Put(entry, _is_new)], call.service.limits)
    if isinstance(outcome, TamisError):
        raise outcome
    made = _created(outcome, call)
    given = Given(made.status, made.headers, _encode(made.body).decode())
    answers.keep(connection, [(asked, given)])
    return given, False


def _fingerprint(wanted: Any) -> str:
    return hashlib.sha256(_encode([ROOT, wanted])).hexdigest()


# -- answers -----------------------------------------------------------------------------------------------


def _created(outcome: Outcome, call: Call) -> Answer:
    held = outcome.held
    another = "" if call.owner == call.caller.owner else f"?owner={call.owner}"
    headers = {"etag": tag_of(held.version), "location": f"{ROOT}/{local_name(held.id)}{another}"}
    return Answer(_shown(held, call), 201, headers)


def _read(held: Held, call: Call) -> Answer:
    return Answer(_shown(held, call), 200, {"etag": tag_of(held.version)})


def _shown(held: Held, call: Call) -> Subscription:
    return drafts.shown(held, call.service.deliverable.warnings(held.delivery))


async def _held(call: Call) -> Held | None:
    stored = call.stored
    return await call.service.read(lambda connection: subscriptions.get(connection, stored))


OPERATIONS = (
    create_subscription,
    list_subscriptions,
    read_subscription,
    replace_subscription,
    change_subscription,
    delete_subscription,
    pause_subscription,
    resume_subscription,
)
