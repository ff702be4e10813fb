"""From what is sent to what is stored, and from what is stored to what is shown."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from tamis import language
from tamis.contract.delivery import (
    MASK,
    delivery_text,
    parse_delivery,
    settings_of,
    shown_delivery,
    stored_delivery,
)
from tamis.contract.names import local_name, owner_of, stored_name
from tamis.errors import DeliveryError, RequestInvalid
from tamis.limits import Limits
from tamis.live.matcher import QUERY
from tamis.service.schemas.events import ToldEvent
from tamis.service.schemas.subscriptions import Change, Draft, Exported, Fault, Subscription, Wanted
from tamis.store import subscriptions
from tamis.store.subscriptions import Entry, Held
from tamis.values.value import moment_of


def entry_of(owner: str, name: str, wanted: Wanted, limits: Limits, held: Held | None = None) -> Entry:
    """Return a subscription that can be stored; ``held`` is what it replaces."""
    delivery = None
    if wanted.delivery is not None:
        given = unmasked(wanted.delivery, held)
        delivery = delivery_text(parse_delivery(given, limits))
    row = {
        "id": stored_name(owner, name),
        "owner": owner,
        "expression": _source(wanted, limits),
        "priority": wanted.priority,
        "schedule": wanted.schedule,
        "delivery": delivery,
        "status": wanted.status,
    }
    return subscriptions.entry_from(row, limits)


def _source(wanted: Wanted, limits: Limits) -> Any:
    """Return the text itself, which is kept word for word, or the tree of any other form."""
    text = wanted.expression
    if isinstance(text, str) and wanted.form in (None, "text") and not text.lstrip().startswith("{"):
        return text
    return language.read(text, wanted.form, limits)


def tree_of(draft: Draft, limits: Limits) -> Any:
    """Return the tree of an expression in any form."""
    return language.read(draft.expression, draft.form, limits)


def patched(held: Held, change: Change) -> Wanted:
    """Return the subscription as it shall be when some fields change."""
    if change.form is not UNSET and change.expression is UNSET:
        raise RequestInvalid("a form is that of an expression; send both", field="form")
    delivery = settings(held.delivery)
    if change.delivery is not UNSET:
        delivery = None if change.delivery is None else _merged(delivery or {}, change.delivery)
    given = {
        name: value
        for name in ("expression", "form", "priority", "schedule", "status")
        if (value := getattr(change, name)) is not UNSET
    }
    kept = {name: getattr(held, name) for name in ("expression", "priority", "schedule", "status")}
    return Wanted(**(kept | given), delivery=delivery)


def _merged(there: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """RFC 7396: objects are merged, ``null`` removes, anything else replaces."""
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


# -- what is shown -----------------------------------------------------------------------------------------


def shown(held: Held, warnings: list[Fault]) -> Subscription:
    """Return a subscription for its owner; secrets are masked."""
    return Subscription(
        id=local_name(held.id),
        owner=held.owner or owner_of(held.id),
        expression=held.expression,
        priority=held.priority,
        schedule=held.schedule,
        delivery=masked(held.delivery),
        status=held.status,  # type: ignore[arg-type]
        version=held.version,
        cost=held.size,
        created=moment_of(held.created),
        updated=moment_of(held.updated),
        warnings=warnings,
    )


def shown_event(stored: str, query: str) -> ToldEvent:
    """Return the event of a row of the outbox; one that was published here is its owner's, others have no
    owner."""
    if query != QUERY:
        return ToldEvent(id=stored)
    return ToldEvent(id=local_name(stored), owner=owner_of(stored) or None)


def exported(held: Held, secrets: bool) -> Exported:
    """Return a subscription as an import reads it."""
    delivery = settings(held.delivery) if secrets else masked(held.delivery)
    return Exported(
        id=local_name(held.id),
        expression=held.expression,
        priority=held.priority,
        schedule=held.schedule,
        delivery=delivery,
        status=held.status,  # type: ignore[arg-type]
    )


def settings(text: str | None) -> dict[str, Any] | None:
    """Return a stored delivery as an object, secrets and all."""
    return None if text is None else msgspec.json.decode(text, type=dict[str, Any])


def masked(text: str | None) -> dict[str, Any] | None:
    """Return a stored delivery for its owner."""
    if text is None:
        return None
    try:
        return shown_delivery(stored_delivery(text))
    except DeliveryError:  # a transport that is not installed here: who knows what is secret in it
        return {"transport": (settings(text) or {}).get("transport")}


def unmasked(given: dict[str, Any], held: Held | None) -> dict[str, Any]:
    """What was sent, with the secrets that are kept where the sender only has their mask."""
    if not is_masked(given):
        return given
    wanted = [name for name in _secrets(given) if given.get(name) == MASK]
    kept = (held and settings(held.delivery)) or {}
    if kept.get("transport") != given.get("transport") or any(name not in kept for name in wanted):
        raise DeliveryError(f"{wanted[0]}: {MASK} stands for a secret that is not there; send the secret")
    return given | {name: kept[name] for name in wanted}


def is_masked(given: dict[str, Any] | None) -> bool:
    """Return whether something stands there for a secret that the sender does not have."""
    return given is not None and any(given.get(name) == MASK for name in _secrets(given))


def _secrets(plain: dict[str, Any]) -> tuple[str, ...]:
    """Return the fields that hold secrets."""
    try:
        return settings_of(str(plain.get("transport"))).secret_fields
    except DeliveryError:  # it will be refused for that
        return ()
