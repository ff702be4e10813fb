"""Converts request bodies to stored subscriptions, and stored subscriptions to responses."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from tamis import language
from tamis.contract.delivery import (
    MASK,
    delivery_text,
    masked_delivery,
    parse_delivery,
    settings_of,
    stored_delivery,
)
from tamis.contract.names import local_name, owner_of, stored_name
from tamis.errors import DeliveryError, RequestInvalid
from tamis.limits import Limits
from tamis.live.matcher import QUERY
from tamis.service.schemas.events import EventReference
from tamis.service.schemas.subscriptions import (
    Draft,
    Exported,
    Fault,
    Subscription,
    SubscriptionDefinition,
    SubscriptionPatch,
)
from tamis.store import subscriptions
from tamis.store.subscriptions import Entry, StoredSubscription
from tamis.values.analysis import Analysers
from tamis.values.value import moment_of


def entry_of(
    owner: str,
    name: str,
    definition: SubscriptionDefinition,
    limits: Limits,
    analysers: Analysers,
    current: StoredSubscription | None = None,
) -> Entry:
    """Return a subscription that can be stored; ``current`` is the one that it replaces."""
    delivery = None
    if definition.delivery is not None:
        given = unmasked(definition.delivery, current)
        delivery = delivery_text(parse_delivery(given, limits))
    row = {
        "id": stored_name(owner, name),
        "owner": owner,
        "expression": _source(definition, limits, analysers),
        "priority": definition.priority,
        "schedule": definition.schedule,
        "delivery": delivery,
        "status": definition.status,
    }
    return subscriptions.entry_from(row, limits, analysers=analysers)


def _source(definition: SubscriptionDefinition, limits: Limits, analysers: Analysers) -> Any:
    """Return the text itself, which is stored unchanged, or the tree of an expression in another form."""
    text = definition.expression
    if isinstance(text, str) and definition.form in (None, "text") and not text.lstrip().startswith("{"):
        return text
    return language.read(text, definition.form, limits, analysers)


def tree_of(draft: Draft, limits: Limits, analysers: Analysers) -> Any:
    """Return the tree of an expression in any form."""
    return language.read(draft.expression, draft.form, limits, analysers)


def patched(current: StoredSubscription, change: SubscriptionPatch) -> SubscriptionDefinition:
    """Return the definition of a stored subscription with some fields changed."""
    if change.form is not UNSET and change.expression is UNSET:
        raise RequestInvalid("a form is that of an expression; send both", field="form")
    delivery = settings(current.delivery)
    if change.delivery is not UNSET:
        delivery = None if change.delivery is None else _merged(delivery or {}, change.delivery)
    given = {
        name: value
        for name in ("expression", "form", "priority", "schedule", "status")
        if (value := getattr(change, name)) is not UNSET
    }
    kept = {name: getattr(current, name) for name in ("expression", "priority", "schedule", "status")}
    return SubscriptionDefinition(**(kept | given), delivery=delivery)


def _merged(there: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Apply a merge patch (RFC 7396): merge objects, remove at ``null``, replace any other value."""
    result = dict(there)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            inner = result.get(name)
            result[name] = _merged(inner if isinstance(inner, dict) else {}, value)
        else:
            result[name] = value
    return result


# -- responses ---------------------------------------------------------------------------------------------


def subscription_response(current: StoredSubscription, warnings: list[Fault]) -> Subscription:
    """Return a subscription for its owner, with masked secrets."""
    return Subscription(
        id=local_name(current.id),
        owner=current.owner or owner_of(current.id),
        expression=current.expression,
        priority=current.priority,
        schedule=current.schedule,
        delivery=masked(current.delivery),
        status=current.status,  # type: ignore[arg-type]
        version=current.version,
        cost=current.size,
        created=moment_of(current.created),
        updated=moment_of(current.updated),
        warnings=warnings,
    )


def event_reference(stored: str, query: str) -> EventReference:
    """Return the event of an outbox row; only events published through the service have an owner."""
    if query != QUERY:
        return EventReference(id=stored)
    return EventReference(id=local_name(stored), owner=owner_of(stored) or None)


def exported(current: StoredSubscription, secrets: bool) -> Exported:
    """Return a subscription in the format of the import."""
    delivery = settings(current.delivery) if secrets else masked(current.delivery)
    return Exported(
        id=local_name(current.id),
        expression=current.expression,
        priority=current.priority,
        schedule=current.schedule,
        delivery=delivery,
        status=current.status,  # type: ignore[arg-type]
    )


def settings(text: str | None) -> dict[str, Any] | None:
    """Return a stored delivery as an object, including its secrets."""
    return None if text is None else msgspec.json.decode(text, type=dict[str, Any])


def masked(text: str | None) -> dict[str, Any] | None:
    """Return a stored delivery for its owner, with masked secrets."""
    if text is None:
        return None
    try:
        return masked_delivery(stored_delivery(text))
    except DeliveryError:  # the transport is not installed here, so its secret fields are unknown
        return {"transport": (settings(text) or {}).get("transport")}


def unmasked(given: dict[str, Any], current: StoredSubscription | None) -> dict[str, Any]:
    """Return a delivery with each masked secret replaced by the stored one."""
    if not is_masked(given):
        return given
    definition = [name for name in _secrets(given) if given.get(name) == MASK]
    kept = (current and settings(current.delivery)) or {}
    if kept.get("transport") != given.get("transport") or any(name not in kept for name in definition):
        raise DeliveryError(f"{definition[0]}: {MASK} stands for a secret that is not there; send the secret")
    return given | {name: kept[name] for name in definition}


def is_masked(given: dict[str, Any] | None) -> bool:
    """Return whether a delivery contains the mask in place of a secret."""
    return given is not None and any(given.get(name) == MASK for name in _secrets(given))


def _secrets(plain: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the secret fields of a delivery."""
    try:
        return settings_of(str(plain.get("transport"))).secret_fields
    except DeliveryError:  # the unknown transport is refused elsewhere
        return ()
