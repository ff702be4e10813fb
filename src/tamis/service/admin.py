"""Operations for administrators: keys, quotas and the quarantine. An owner may read its own quotas."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Connection

from tamis.contract.names import check_owner, is_storable
from tamis.errors import RequestInvalid, ResourceUnknown
from tamis.service import cursors
from tamis.service.operation import Answer, Call, operation
from tamis.service.schemas import service as schemas
from tamis.service.service import Service
from tamis.store import keys, listing, owners
from tamis.store.keys import ADMIN, Key
from tamis.store.listing import Refusal
from tamis.store.timestamps import calendar_moment, now
from tamis.values.value import micros_of, moment_of

_common = {"scope": ADMIN, "tag": "administration"}


@operation("POST", "/v1/keys", **_common, body=schemas.NewKey, answers={201: schemas.CreatedKey})
async def create_key(call: Call) -> Answer:
    """Create an API key. Only this response contains the text of the key."""
    requested: schemas.NewKey = call.body
    owner = check_owner(requested.owner)
    expires = None if requested.expires is None else micros_of(requested.expires)
    if expires is not None and not now() < expires <= now() + keys.LONGEST:
        raise RequestInvalid(
            "a key expires after it is made and within a hundred years; without expires it never does",
            field="expires",
        )
    if requested.name is not None and not requested.name.isprintable():
        raise RequestInvalid("the name of a key is plain text on one line", field="name")
    key, text = await call.service.commit(
        lambda connection: keys.create(connection, owner, requested.scopes, requested.name, expires)
    )
    call.service.access.forget()
    return Answer(schemas.CreatedKey(**_fields(key), key=text), 201, {"location": f"/v1/keys/{key.id}"})


@operation("GET", "/v1/keys", **_common, query=schemas.KeysQuery, answers={200: schemas.KeyPage})
async def list_keys(call: Call) -> Answer:
    """List the keys of one owner or of all owners."""
    after, owner = cursors.decode_name(call.query.cursor), call.query.of
    most = call.page_items
    found = await call.service.read(lambda connection: keys.page(connection, owner, after, most + 1))
    items = [schemas.Key(**_fields(key)) for key in found[:most]]
    return Answer(
        schemas.KeyPage(items=items, next=cursors.encode(items[-1].id if len(found) > most else None))
    )


@operation("DELETE", "/v1/keys/{id}", **_common, answers={204: None}, refusals=(404,))
async def revoke_key(call: Call) -> Answer:
    """Revoke a key. This process refuses it at once, other processes of the service within a second."""
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


@operation("GET", "/v1/owners/{owner}", **_common, answers={200: schemas.Owner})
async def read_owner(call: Call) -> Answer:
    """Read the quotas of an owner and how much of them it uses."""
    owner = check_owner(call.part("owner"))
    return Answer(await owner_response(call.service, owner))


@operation("PUT", "/v1/owners/{owner}", **_common, body=schemas.GivenQuotas, answers={200: schemas.Owner})
async def replace_quotas(call: Call) -> Answer:
    """Set the quotas of an owner; those left out have their default. Other processes know within a second."""
    owner = check_owner(call.part("owner"))
    given = {
        name: amount for name in owners.Quotas._fields if (amount := getattr(call.body, name)) is not None
    }
    await call.service.commit(lambda connection: owners.put(connection, owner, given))
    call.service.access.forget()
    return Answer(await owner_response(call.service, owner))


async def owner_response(service: Service, owner: str) -> schemas.Owner:
    """Return an owner with its quotas and its use of them."""

    def ask(connection: Connection) -> owners.Owner:
        return owners.find_or_default(connection, owner)

    found = await service.read(ask)
    return schemas.Owner(
        owner=owner,
        quotas=schemas.Quotas(**found.quotas(service.limits)._asdict()),
        given=schemas.GivenQuotas(**found.given),
        held=schemas.OwnerUsage(subscriptions=found.subscriptions, predicates=found.predicates),
    )


@operation(
    "GET", "/v1/quarantine", **_common, query=schemas.QuarantineQuery, answers={200: schemas.RefusalPage}
)
async def list_quarantine(call: Call) -> Answer:
    """List the quarantined events and subscriptions, the latest first."""
    before = cursors.decode_number(call.query.cursor)
    most = call.page_items
    page = await call.service.read(lambda connection: listing.refusals_page(connection, before, most))
    items = [_refusal(one) for one in page.items]
    return Answer(schemas.RefusalPage(items=items, next=cursors.encode(page.next)))


def _refusal(one: Refusal) -> schemas.Refusal:
    return schemas.Refusal(
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
