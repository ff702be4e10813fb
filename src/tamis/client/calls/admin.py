"""Calls for health and status, and for administrators: keys, owners and the quarantine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from tamis.client.core import SUCCESS, Call, Core, Page, path
from tamis.client.results import CreatedKey, Health, Key, Owner, Quotas, Readiness, Refusal, ServiceStatus
from tamis.client.steps import Feed, Flow
from tamis.contract.names import check_local, check_owner
from tamis.values.value import clean_time, format_time

Scope = Literal["publish", "subscribe", "admin"]


def health(core: Core) -> Flow[Health]:
    """Check that the process is alive, and return its version."""
    return core.call(Call(method="GET", path="/healthz", result=Health, for_owner=False))


def ready(core: Core) -> Flow[Readiness]:
    """Return whether the service is ready, with the reasons if not; the result has a truth value."""
    success = SUCCESS | {503}
    return core.call(Call(method="GET", path="/readyz", result=Readiness, success=success, for_owner=False))


def status(core: Core) -> Flow[ServiceStatus]:
    """Return the owner's quotas and use of them, and the lag; administrators also see the index."""
    return core.call(Call(method="GET", path=path("status"), result=ServiceStatus))


# -- for administrators ------------------------------------------------------------------------------------


def create_key(
    core: Core,
    owner: str,
    scopes: Sequence[Scope],
    *,
    name: str | None = None,
    expires: datetime | None = None,
) -> Flow[CreatedKey]:
    """Create an API key; only this result contains its text."""
    body = {"owner": owner, "scopes": list(scopes), "name": name}
    if expires is not None:
        body["expires"] = format_time(clean_time(expires))
    call = Call(
        method="POST", path=path("keys"), result=CreatedKey, body=body, is_idempotent=False, for_owner=False
    )
    return core.call(call)


def keys(core: Core, owner: str | None = None, *, page: int | None = None) -> Feed[Key]:
    """Yield all keys, or those of one owner."""
    query = {"of": owner, "limit": page}
    return core.pages(Call(method="GET", path=path("keys"), result=Page[Key], query=query, for_owner=False))


def revoke_key(core: Core, key: str) -> Flow[None]:
    """Revoke the key with this id (not its text)."""
    return core.call(
        Call(method="DELETE", path=path("keys", check_local(key)), result=type(None), for_owner=False)
    )


def owner(core: Core, owner: str) -> Flow[Owner]:
    """Return an owner's quotas and its use of them."""
    return core.call(
        Call(method="GET", path=path("owners", check_owner(owner)), result=Owner, for_owner=False)
    )


def set_quotas(
    core: Core,
    owner: str,
    *,
    subscriptions: int | None = None,
    predicates: int | None = None,
    requests: int | None = None,
    events: int | None = None,
    changes: int | None = None,
    streams: int | None = None,
    requests_at_once: int | None = None,
) -> Flow[Owner]:
    """Set an owner's quotas; a quota that is left out has its default value."""
    where = path("owners", check_owner(owner))
    given = Quotas(
        subscriptions=subscriptions,
        predicates=predicates,
        requests=requests,
        events=events,
        changes=changes,
        streams=streams,
        requests_at_once=requests_at_once,
    )
    return core.call(Call(method="PUT", path=where, result=Owner, body=given, for_owner=False))


def quarantine(core: Core, *, page: int | None = None) -> Feed[Refusal]:
    """Yield the quarantined events and subscriptions, the latest first."""
    query = {"limit": page}
    return core.pages(
        Call(method="GET", path=path("quarantine"), result=Page[Refusal], query=query, for_owner=False)
    )
