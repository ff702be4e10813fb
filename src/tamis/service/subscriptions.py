"""Operations on single subscriptions: create, read, list, replace, change, pause, resume and delete."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy.engine import Connection

from tamis.contract.names import check_local, local_name, new_name
from tamis.errors import DuplicateSubscription, RequestInvalid, ServiceBusy, TamisError, VersionConflict
from tamis.service import conversion, cursors
from tamis.service.bodies import JSON, MERGE_PATCH
from tamis.service.conditions import KEY, TAGS, Conditions, idempotency_key, tag_of
from tamis.service.operation import Answer, Call, Header, operation
from tamis.service.schemas.common import OwnerQuery
from tamis.service.schemas.subscriptions import (
    NewSubscription,
    Subscription,
    SubscriptionDefinition,
    SubscriptionPage,
    SubscriptionPatch,
    SubscriptionsQuery,
)
from tamis.store import idempotency, listing, registry, subscriptions
from tamis.store.bulk import lock_counter
from tamis.store.idempotency import IdempotentRequest, StoredResponse
from tamis.store.keys import SUBSCRIBE
from tamis.store.pages import Page
from tamis.store.registry import Outcome, Put
from tamis.store.subscriptions import ACTIVE, PAUSED, Entry, StoredSubscription
from tamis.store.tables import CHANGE_ORDER

ROOT, ONE = "/v1/subscriptions", "/v1/subscriptions/{id}"
EVERYBODY = "*"
RESERVED = ("export", "import", "validate")  # words of the API that take the place of an id in paths
ATTEMPTS = 20

_TAG = "subscriptions"
_IF_MATCH = Header("If-Match", "Change it only if its version is one of these.", TAGS)
_IF_NONE_MATCH = Header("If-None-Match", "Only if its version is none of these; * means none at all.", TAGS)
_KEY = Header("Idempotency-Key", "A retry with the same key gets the same response and changes nothing.", KEY)
_encode = msgspec.json.Encoder().encode
_common = {"scope": SUBSCRIBE, "tag": _TAG}
_changes = {**_common, "query": OwnerQuery, "headers": (_IF_MATCH,), "refusals": (404, 412, 422)}


@operation(
    "POST",
    ROOT,
    **_common,
    query=OwnerQuery,
    body=NewSubscription,
    answers={201: Subscription},
    headers=(_KEY,),
    refusals=(409, 422),
)
async def create_subscription(call: Call) -> Answer:
    """Create a subscription. It matches every event that is published after the response."""
    service, definition = call.service, call.body
    name = new_name() if definition.id is None else checked_name(definition.id)
    entry = await service.in_thread(_entry, call, name, definition, None)
    key = idempotency_key(call.request.scope, service.limits)
    if key is None:
        return _created(await service.put(Put(entry, _is_new)), call)
    retryable = IdempotentRequest(call.owner, key, _fingerprint(definition))
    response, is_repeated = await service.commit(lambda connection: _once(connection, retryable, entry, call))
    headers = {**response.headers, "idempotency-replayed": "true"} if is_repeated else response.headers
    return Answer(response.body.encode(), response.status, headers)


@operation("GET", ROOT, **_common, query=SubscriptionsQuery, answers={200: SubscriptionPage})
async def list_subscriptions(call: Call) -> Answer:
    """List subscriptions in the order of their ids. A filtered page may be short: follow ``next``.

    With ``count=true`` the response has the ``total`` number that fits the filter, on every page.
    """
    query: SubscriptionsQuery = call.query
    owner = None if query.owner == EVERYBODY else call.owner
    filters = listing.SubscriptionFilter(owner, query.status, query.text)
    after = cursors.decode_name(query.cursor)
    most = call.page_items

    def read(connection: Connection) -> tuple[Page[StoredSubscription, str], int | None]:
        total = listing.subscriptions_total(connection, filters) if query.count else None
        return listing.subscriptions_page(connection, filters, after, most), total

    page, total = await call.service.read(read)
    items = [_response(current, call) for current in page.items]
    return Answer(SubscriptionPage(items=items, next=cursors.encode(page.next), total=total))


@operation(
    "GET",
    ONE,
    **_common,
    query=OwnerQuery,
    answers={200: Subscription, 304: None},
    headers=(_IF_NONE_MATCH,),
    refusals=(404,),
)
async def read_subscription(call: Call) -> Answer:
    """Read a subscription. ``ETag`` is its version."""
    current = registry.existing(await _current(call), call.stored)
    if Conditions.of(call.request.headers).is_unchanged(current):
        return Answer(None, 304, {"etag": tag_of(current.version)})
    return _read(current, call)


@operation(
    "PUT",
    ONE,
    **_common,
    query=OwnerQuery,
    body=SubscriptionDefinition,
    answers={200: Subscription, 201: Subscription},
    headers=(_IF_MATCH, _IF_NONE_MATCH),
    refusals=(412, 422),
)
async def replace_subscription(call: Call) -> Answer:
    """Create or replace a subscription. An update that changes nothing keeps the version."""
    name = checked_name(call.part("id"))
    outcome = await _alter(call, lambda current: _entry(call, name, call.body, current))
    return _created(outcome, call) if outcome.before is None else _read(outcome.after, call)


@operation(
    "PATCH", ONE, **_changes, body=SubscriptionPatch, media=(MERGE_PATCH, JSON), answers={200: Subscription}
)
async def change_subscription(call: Call) -> Answer:
    """Change some fields and keep the others. ``null`` removes a schedule or delivery."""

    def make(current: StoredSubscription | None) -> Entry:
        there = registry.existing(current, call.stored)
        return _entry(call, call.part("id"), conversion.patched(there, call.body), current)

    return _read((await _alter(call, make)).after, call)


@operation("DELETE", ONE, **_changes, answers={204: None})
async def delete_subscription(call: Call) -> Answer:
    """Delete a subscription. It matches no event that is published after the response."""
    stored, conditions = call.stored, Conditions.of(call.request.headers)
    await call.service.commit(lambda connection: registry.remove(connection, stored, conditions.check))
    return Answer(None, 204)


@operation("POST", f"{ONE}/pause", **_changes, answers={200: Subscription})
async def pause_subscription(call: Call) -> Answer:
    """Pause a subscription: it is kept but not matched."""
    return await _switch(call, PAUSED)


@operation("POST", f"{ONE}/resume", **_changes, answers={200: Subscription})
async def resume_subscription(call: Call) -> Answer:
    """Resume a paused subscription."""
    return await _switch(call, ACTIVE)


async def _switch(call: Call, status: str) -> Answer:
    def make(current: StoredSubscription | None) -> Entry:
        there = registry.existing(current, call.stored)
        return there.as_entry()._replace(status=status)

    return _read((await _alter(call, make)).after, call)


def _entry(
    call: Call, name: str, definition: SubscriptionDefinition, current: StoredSubscription | None
) -> Entry:
    service = call.service
    return service.delivery_checker.admit(
        conversion.entry_of(call.owner, name, definition, service.limits, service.store.analysers, current),
        current,
    )


# -- changes -----------------------------------------------------------------------------------------------


async def _alter(call: Call, make: Callable[[StoredSubscription | None], Entry]) -> Outcome:
    """Read the subscription, make its new version and write it; if another write came first, start again."""
    service, conditions = call.service, Conditions.of(call.request.headers)
    for _ in range(ATTEMPTS):
        current = await _current(call)
        conditions.check(current)
        entry = await service.in_thread(make, current)
        try:
            return await service.put(Put(entry, _still(current)))
        except VersionConflict:
            continue
    raise ServiceBusy("others change this subscription all the time; ask again")


def _still(before: StoredSubscription | None) -> registry.Check:
    def check(current: StoredSubscription | None) -> None:
        if (current and current.version) != (before and before.version):
            raise VersionConflict("it was changed between reading and writing")

    return check


def checked_name(name: str) -> str:
    """Return a valid subscription id, or raise ``RequestInvalid``."""
    if name in RESERVED:
        raise RequestInvalid(f"{name} is a word of the API and cannot be an id", field="id")
    return check_local(name)


def _is_new(current: StoredSubscription | None) -> None:
    if current is not None:
        name = local_name(current.id)
        raise DuplicateSubscription(
            f"there is a subscription {name!r} already; PUT replaces it", subscription=name
        )


def _once(
    connection: Connection, retryable: IdempotentRequest, entry: Entry, call: Call
) -> tuple[StoredResponse, bool]:
    """Create the subscription, or return the stored response of the first request with this key."""
    lock_counter(connection, CHANGE_ORDER)
    response = idempotency.find(connection, retryable)
    if response is not None:
        return response, True
    (outcome,) = registry.put(connection, [Put(entry, _is_new)], call.service.limits)
    if isinstance(outcome, TamisError):
        raise outcome
    made = _created(outcome, call)
    response = StoredResponse(made.status, made.headers, _encode(made.body).decode())
    idempotency.keep(connection, [(retryable, response)])
    return response, False


def _fingerprint(definition: Any) -> str:
    return hashlib.sha256(_encode([ROOT, definition])).hexdigest()


# -- responses ---------------------------------------------------------------------------------------------


def _created(outcome: Outcome, call: Call) -> Answer:
    current = outcome.after
    another = "" if call.owner == call.caller.owner else f"?owner={call.owner}"
    headers = {"etag": tag_of(current.version), "location": f"{ROOT}/{local_name(current.id)}{another}"}
    return Answer(_response(current, call), 201, headers)


def _read(current: StoredSubscription, call: Call) -> Answer:
    return Answer(_response(current, call), 200, {"etag": tag_of(current.version)})


def _response(current: StoredSubscription, call: Call) -> Subscription:
    return conversion.subscription_response(current, call.service.delivery_checker.warnings(current.delivery))


async def _current(call: Call) -> StoredSubscription | None:
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
