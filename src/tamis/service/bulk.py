"""Imports and exports many subscriptions as lines of JSON."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from typing import NamedTuple

import msgspec
from starlette.responses import Response, StreamingResponse

from tamis.contract.names import local_name, new_name, stored_name
from tamis.errors import TamisError
from tamis.service import bodies, conversion
from tamis.service.bodies import NDJSON, Line
from tamis.service.operation import Call, Stream, operation
from tamis.service.rate_limits import TokenBucket
from tamis.service.report import Report, defect, written
from tamis.service.schemas.subscriptions import ExportQuery, ImportQuery, NewSubscription
from tamis.service.service import Service
from tamis.service.subscriptions import checked_name
from tamis.store import listing, registry
from tamis.store.keys import ADMIN, SUBSCRIBE
from tamis.store.registry import Outcome, Put
from tamis.store.subscriptions import StoredSubscription

PAGE = 1_000  # subscriptions read at a time

_line = msgspec.json.Decoder(NewSubscription)
_encode = msgspec.json.Encoder().encode


@operation(
    "POST",
    "/v1/subscriptions/import",
    scope=SUBSCRIBE,
    tag="subscriptions",
    query=ImportQuery,
    body=NewSubscription,
    media=(NDJSON,),
    reads_itself=True,
    answers={200: Stream(NDJSON, "A result for each line, and a last line with the totals.")},
)
async def import_subscriptions(call: Call) -> Response:
    """Create or replace many subscriptions, one in each line. A line without an id creates a new one.

    A refused line is reported with its number; the other lines are still imported. Lines are stored as they
    arrive. If the connection breaks, the earlier lines have been stored; it is safe to send all lines again.
    """
    bodies.media_of(call.request.scope, (NDJSON,))
    service, owner = call.service, call.owner
    report = Report(call.query.report == "refused")
    bucket = service.changes.of(owner, call.caller.quotas.changes)
    await report.fill(
        call,
        lambda group: _paced(service, bucket, owner, group),
        lambda drafted: _put(service, drafted, report),
    )
    return report.response(service, 200)


async def _paced(service: Service, bucket: TokenBucket, owner: str, group: list[Line]) -> list[_Drafted]:
    """Read lines as subscriptions, no faster than the owner's quota of changes allows."""
    await bucket.pause(len(group))
    return await service.long_work(_drafted, owner, group, service)


class _Drafted(NamedTuple):
    line: int
    write: Put | TamisError


def _drafted(owner: str, group: list[Line], service: Service) -> list[_Drafted]:
    """Return each line as a subscription or as the error that refuses it."""
    return [_Drafted(line.number, _write(owner, line, service)) for line in group]


def _write(owner: str, line: Line, service: Service) -> Put | TamisError:
    try:
        if line.text is None:
            raise bodies.long_line(service.limits)
        definition = bodies.decoded(line.text, _line, "the line")
        name = new_name() if definition.id is None else checked_name(definition.id)
        is_needed = service.delivery_checker.is_strict or conversion.is_masked(definition.delivery)
        current = service.store.get(stored_name(owner, name)) if is_needed else None
        entry = conversion.entry_of(owner, name, definition, service.limits, service.store.analysers, current)
        return Put(service.delivery_checker.admit(entry, current))
    except TamisError as bad:
        return bad
    except Exception:  # a defect, ours or a third-party transport's, costs only its line
        return defect()


async def _put(service: Service, drafted: list[_Drafted], report: Report) -> None:
    good = [(line, write) for line, write in drafted if isinstance(write, Put)]
    writes = [write for _, write in good]
    outcomes: list[Outcome | TamisError] = []
    if writes:
        outcomes = await written(writes, lambda some: _commit(service, some))
    made = dict(zip((line for line, _ in good), outcomes, strict=True))
    for line, write in drafted:
        outcome = made.get(line, write)
        if isinstance(outcome, Outcome):
            current, warnings = outcome.after, service.delivery_checker.warnings(outcome.after.delivery)
            report.add(line, outcome.verb, warnings, id=local_name(current.id), version=current.version)
        elif isinstance(outcome, TamisError):
            report.refuse(line, outcome)


async def _commit(service: Service, writes: list[Put]) -> list[Outcome | TamisError]:
    return await service.commit(lambda connection: registry.put(connection, writes, service.limits))


@operation(
    "GET",
    "/v1/subscriptions/export",
    scope=SUBSCRIBE,
    tag="subscriptions",
    query=ExportQuery,
    answers={200: Stream(NDJSON, "A subscription in each line, in the format of the import.")},
)
async def export_subscriptions(call: Call) -> Response:
    """Export all subscriptions as lines of JSON, in the order of their ids."""
    if call.query.secrets:
        call.caller.need(ADMIN)
    return StreamingResponse(_exported(call.service, call.owner, call.query.secrets), media_type=NDJSON)


async def _exported(service: Service, owner: str, secrets: bool) -> AsyncIterator[bytes]:
    after: str | None = ""
    while after is not None:
        page = await service.read(
            functools.partial(
                listing.subscriptions_page,
                filters=listing.SubscriptionFilter(owner),
                after=after,
                most=PAGE,
            )
        )
        yield await service.in_thread(_lines, page.items, secrets)
        after = page.next


def _lines(items: list[StoredSubscription], secrets: bool) -> bytes:
    return b"".join(_encode(conversion.exported(current, secrets)) + b"\n" for current in items)


OPERATIONS = (import_subscriptions, export_subscriptions)
