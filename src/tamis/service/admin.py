"""For administrators: keys, quotas, and what was put aside. An owner may look at its own quotas."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Connection

from tamis.contract.names import check_owner, is_storable
from tamis.errors import RequestInvalid, ResourceUnknown
from tamis.service import cursors
from tamis.service.operation import Answer, Call, operation
from tamis.service.schemas import service as shapes
from tamis.service.service import Service
from tamis.store import keys, listing, owners
from tamis.store.keys import ADMIN, Key
from tamis.store.listing import Refusal
from tamis.store.moments import calendar_moment, now
from tamis.values.value import micros_of, moment_of

_known = {"scope": ADMIN, "tag": "administration"}


@operation("POST", "/v1/keys", **_known, body=shapes.NewKey, answers={201: shapes.MadeKey})
async def create_key(call: Call) -> Answer:
    """Make an API key. Its text is in this answer and nowhere else."""
    wanted: shapes.NewKey = call.body
    owner = check_owner(wanted.owner)
    expires = None if wanted.expires is None else micros_of(wanted.expires)
    if expires is not None and not now() < expires <= now() + keys.LONGEST:
        raise RequestInvalid(
            "a key expires after it is made and within a hundred years; without expires it never does",
            field="expires",
        )
    if wanted.name is not None and not wanted.name.isprintable():
        raise RequestInvalid("the name of a key is plain text on one line", field="name")
    key, text = await call.service.commit(
        lambda connection: keys.make(connection, owner, wanted.scopes, wanted.name, expires)
    )
    call.service.access.forget()
    return Answer(shapes.MadeKey(**_fields(key), key=text), 201, {"location": f"/v1/keys/{key.id}"})


@operation("GET", "/v1/keys", **_known, query=shapes.KeysPageOf, answers={200: shapes.KeyPage})
async def list_keys(call: Call) -> Answer:
    """List keys, those of one owner or all."""
    after, owner = cursors.place(call.query.cursor), call.query.of
    most = min(call.query.limit, call.service.limits.page_items)
    found = await call.service.read(lambda connection: keys.page(connection, owner, after, most + 1))
    items = [shapes.Key(**_fields(key)) for key in found[:most]]
    return Answer(
        shapes.KeyPage(items=items, next=cursors.cursor(items[-1].id if len(found) > most else None))
    )


@operation("DELETE", "/v1/keys/{id}", **_known, answers={204: None}, refusals=(404,))
async def revoke_key(call: Call) -> Answer:
    """End a key: here at once, in other processes of the service within a second."""
    identity = call.part("id")
    if not is_storable(identity) or not await call.service.commit(
        lambda connection: keys.revoke(connection, identity)
    ):
        raise ResourceUnknown(f"there is no key {identity[:40]!r}")
    call.service.access.forget()
    return Answer(None, 204)


def _fields(key: Key) -> dict[str, Any]:
    moments = {
        name: value and calendar_moment(value)
        for name, value in (("created", key.created), ("expires", key.expires), ("revoked", key.revoked))
    }
    return {"id": key.id, "owner": key.owner, "scopes": sorted(key.scopes), "name": key.name, **moments}


@operation("GET", "/v1/owners/{owner}", **_known, answers={200: shapes.Owner})
async def read_owner(call: Call) -> Answer:
    """What an owner may, and what it holds."""
    owner = check_owner(call.part("owner"))
    return Answer(await owner_shown(call.service, owner))


@operation("PUT", "/v1/owners/{owner}", **_known, body=shapes.GivenQuotas, answers={200: shapes.Owner})
async def replace_quotas(call: Call) -> Answer:
    """Say what an owner may; what is left out is as for everybody. Other processes know within a second."""
    owner = check_owner(call.part("owner"))
    given = {
        name: amount for name in owners.Quotas._fields if (amount := getattr(call.body, name)) is not None
    }
    await call.service.commit(lambda connection: owners.put(connection, owner, given))
    call.service.access.forget()
    return Answer(await owner_shown(call.service, owner))


async def owner_shown(service: Service, owner: str) -> shapes.Owner:
    """Return an owner for people."""

    def ask(connection: Connection) -> owners.Owner:
        return owners.found(connection, owner)

    found = await service.read(ask)
    return shapes.Owner(
        owner=owner,
        quotas=shapes.Quotas(**found.quotas(service.limits)._asdict()),
        given=shapes.GivenQuotas(**found.given),
        held=shapes.Held(subscriptions=found.subscriptions, predicates=found.predicates),
    )


@operation(
    "GET", "/v1/quarantine", **_known, query=shapes.QuarantinePageOf, answers={200: shapes.RefusalPage}
)
async def list_quarantine(call: Call) -> Answer:
    """Events and subscriptions that were put aside, the latest first."""
    before = cursors.number(call.query.cursor)
    most = min(call.query.limit, call.service.limits.page_items)
    page = await call.service.read(lambda connection: listing.refusals_page(connection, before, most))
    items = [_refusal(one) for one in page.items]
    return Answer(shapes.RefusalPage(items=items, next=cursors.cursor(page.next)))


def _refusal(one: Refusal) -> shapes.Refusal:
    return shapes.Refusal(
        id=one.id,
        source=one.query,
        event=one.event_id,
        subscription=one.subscription_id,
        code=one.code,
        message=one.message,
        text=one.text,
        at=moment_of(one.created_at),
    )


OPERATIONS = (create_key, list_keys, revoke_key, read_owner, replace_quotas, list_quarantine)
