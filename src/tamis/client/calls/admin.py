"""How the service is, and for administrators: keys, owners, and what was put aside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from tamis.client.core import WELL, Call, Core, Page, path
from tamis.client.results import Health, Key, MadeKey, Owner, Quotas, Readiness, Refusal, ServiceStatus
from tamis.client.steps import Feed, Flow
from tamis.contract.names import check_local, check_owner
from tamis.values.value import clean_time, format_time

Scope = Literal["publish", "subscribe", "admin"]


def health(core: Core) -> Flow[Health]:
    """That the process lives, and its version."""
    return core.ask(Call(method="GET", path="/healthz", result=Health, for_owner=False))


def ready(core: Core) -> Flow[Readiness]:
    """Return whether the service can do its work, and why not; it is true or false."""
    well = WELL | {503}
    return core.ask(Call(method="GET", path="/readyz", result=Readiness, well=well, for_owner=False))


def status(core: Core) -> Flow[ServiceStatus]:
    """What the owner holds and may, and how much waits; for administrators also the index."""
    return core.ask(Call(method="GET", path=path("status"), result=ServiceStatus))


# -- for administrators ------------------------------------------------------------------------------------


def create_key(
    core: Core,
    owner: str,
    scopes: Sequence[Scope],
    *,
    name: str | None = None,
    expires: datetime | None = None,
) -> Flow[MadeKey]:
    """Make an API key; its text is in the answer and nowhere else."""
    body = {"owner": owner, "scopes": list(scopes), "name": name}
    if expires is not None:
        body["expires"] = format_time(clean_time(expires))
    call = Call(method="POST", path=path("keys"), result=MadeKey, body=body, harmless=False, for_owner=False)
    return core.ask(call)


def keys(core: Core, owner: str | None = None, *, page: int | None = None) -> Feed[Key]:
    """Return all keys, or those of an owner."""
    query = {"of": owner, "limit": page}
    return core.pages(Call(method="GET", path=path("keys"), result=Page[Key], query=query, for_owner=False))


def revoke_key(core: Core, key: str) -> Flow[None]:
    """End the key with this id (not its text)."""
    return core.ask(
        Call(method="DELETE", path=path("keys", check_local(key)), result=type(None), for_owner=False)
    )


def owner(core: Core, owner: str) -> Flow[Owner]:
    """What an owner may, and what it holds."""
    return core.ask(
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
    """Say what an owner may; what is left out is as for everybody."""
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
    return core.ask(Call(method="PUT", path=where, result=Owner, body=given, for_owner=False))


def quarantine(core: Core, *, page: int | None = None) -> Feed[Refusal]:
    """Events and subscriptions that were put aside, the latest first."""
    query = {"limit": page}
    return core.pages(
        Call(method="GET", path=path("quarantine"), result=Page[Refusal], query=query, for_owner=False)
    )
