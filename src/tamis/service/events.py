"""Publishes events, one by one or as lines of JSON; they are stored before they are acknowledged."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import pyarrow as pa
from sqlalchemy.engine import Connection
from starlette.responses import Response

from tamis.contract.names import check_local
from tamis.errors import EventConflict, TamisError
from tamis.limits import Limits
from tamis.service import bodies
from tamis.service.bodies import JSON, NDJSON, Line
from tamis.service.conditions import KEY, idempotency_key
from tamis.service.operation import Answer, Call, Header, Stream, operation
from tamis.service.rate_limits import TokenBucket
from tamis.service.report import Report, defect, written
from tamis.service.schemas import events as schemas
from tamis.service.schemas.common import Moment, RequestModel
from tamis.service.service import Service
from tamis.store import outbox
from tamis.store.bulk import table_of
from tamis.store.events import CONFLICT, NewEvent, Published
from tamis.store.keys import PUBLISH
from tamis.store.subscriptions import REFUSED_TEXT
from tamis.values.event import decode_event, event_from
from tamis.values.value import clean_time, micros_of

_log = logging.getLogger(__name__)

SOURCE = "http"  # source of refused events in the quarantine
SMALL = 8 * 1024  # bytes; a smaller event is read in the event loop, because a thread would take longer


class _PublishedEvent(RequestModel):
    """:class:`~tamis.service.schemas.events.NewEvent` with undecoded attributes."""

    attributes: msgspec.Raw
    id: str | None = None
    time: Moment | None = None


_decoder = msgspec.json.Decoder(_PublishedEvent)


@operation(
    "POST",
    "/v1/events",
    scope=PUBLISH,
    tag="events",
    query=schemas.PublishQuery,
    body=schemas.NewEvent,
    media=(JSON, NDJSON),
    reads_itself=True,
    headers=(
        Header("Idempotency-Key", "Gives ids to events without one, so that a retry is recognised.", KEY),
    ),
    answers={
        202: (schemas.Published, Stream(NDJSON, "A result for each line, and a last line with the totals."))
    },
    refusals=(409, 422),
)
async def publish_events(call: Call) -> Answer | Response:
    """Publish one event, or one in each line. The response comes when they are stored; then they are matched.

    A refused line is reported with its number and put into quarantine; the other lines are still published.
    ``on_error`` changes this.
    """
    if bodies.media_of(call.request.scope, (JSON, NDJSON)) == NDJSON:
        return await _publish_lines(call)
    service = call.service
    bucket = service.events.of(call.owner, call.caller.quotas.events)
    bucket.check(f"{call.owner} may publish {call.caller.quotas.events} events a second; wait", "events")
    text = await bodies.read_whole(call.request, service.limits)
    event_ids = _EventIds(call)
    if len(text) <= SMALL:
        event = read_event(text, 1, event_ids, service.limits)
    else:
        event = await service.in_thread(read_event, text, 1, event_ids, service.limits)
    bucket.take()
    (published,) = await service.wait_for(service.live.publish(call.owner, [event]))
    service.metrics.events(published.status, 1)
    if published.status == CONFLICT:
        raise EventConflict(f"another event was published as {published.id!r}", event=published.id)
    return Answer(schemas.Published(*published), 202)


class _EventIds:
    """Ids for events without one, derived from the idempotency key if there is one."""

    def __init__(self, call: Call) -> None:
        self._key = idempotency_key(call.request.scope, call.service.limits)

    def name(self, line: int) -> str | None:
        """Return the id of the event in a line, or ``None`` to have one generated."""
        if self._key is None:
            return None
        return hashlib.sha256(f"{line} {self._key}".encode()).hexdigest()[:32]


def read_event(text: bytes, line: int, event_ids: _EventIds, limits: Limits) -> NewEvent:
    """Return an event that has been checked and can be stored."""
    sent = bodies.decoded(text, _decoder, "the event", lambda sent: sent.attributes)
    attributes = bytes(sent.attributes)
    event_from(decode_event(attributes, limits), limits)
    name = event_ids.name(line) if sent.id is None else check_local(sent.id)
    return NewEvent(
        name, None if sent.time is None else micros_of(clean_time(sent.time)), attributes.decode()
    )


# -- many events -------------------------------------------------------------------------------------------


class _Read(NamedTuple):
    line: Line
    event: NewEvent | TamisError


async def _publish_lines(call: Call) -> Response:
    service, owner, event_ids, report = call.service, call.owner, _EventIds(call), Report()
    bucket = service.events.of(owner, call.caller.quotas.events)
    await report.fill(
        call,
        lambda group: _paced(service, bucket, group, event_ids),
        lambda found: _publish(service, owner, found, report, call.query.on_error),
    )
    if (refused := report.counts["refused"]) and call.query.on_error == "report":
        _log.warning("%s: %d of %d lines of events were refused", owner, refused, report.counts.total())
    return report.response(service, 202)


async def _paced(
    service: Service, bucket: TokenBucket, group: list[Line], event_ids: _EventIds
) -> list[_Read]:
    """Read lines as events, no faster than the owner may publish: a stream is slowed down, not refused."""
    await bucket.pause(len(group))
    return await service.long_work(_read_lines, group, event_ids, service.limits)


def _read_lines(group: list[Line], event_ids: _EventIds, limits: Limits) -> list[_Read]:
    return [_Read(line, _event_or_why(line, event_ids, limits)) for line in group]


def _event_or_why(line: Line, event_ids: _EventIds, limits: Limits) -> NewEvent | TamisError:
    if line.text is None:
        return bodies.long_line(limits)
    try:
        return read_event(line.text, line.number, event_ids, limits)
    except TamisError as bad:
        return bad
    except Exception:  # a defect costs only its line
        return defect()


async def _publish(service: Service, owner: str, found: list[_Read], report: Report, on_error: str) -> None:
    stop = next((at for at, read in enumerate(found) if isinstance(read.event, TamisError)), None)
    if on_error == "raise" and stop is not None:
        await _publish(service, owner, found[:stop], report, on_error)
        raise _placed(found[stop])
    good = [event for _, event in found if isinstance(event, NewEvent)]

    async def publish(events: list[NewEvent]) -> list[Published]:
        return await service.wait_for(service.live.publish(owner, events))

    outcomes = iter(await written(good, publish) if good else [])
    bad: list[tuple[Line, TamisError]] = []
    counts: Counter[str] = Counter()
    for line, event in found:  # in the order of the lines
        outcome = event if isinstance(event, TamisError) else next(outcomes)
        if isinstance(outcome, TamisError):
            bad.append((line, outcome))
            report.refuse(line.number, outcome, is_quiet=on_error == "skip")
        else:
            counts[outcome.status] += 1
            report.add(line.number, outcome.status, id=outcome.id)
    if bad and on_error != "skip":
        await service.commit(lambda connection: _put_aside(connection, bad, owner))
    for status, number in counts.items():
        service.metrics.events(status, number)
    service.metrics.events("refused", len(bad))


def _placed(read: _Read) -> TamisError:
    """Return the error of a refused line, with the line's number."""
    bad = read.event
    assert isinstance(bad, TamisError)
    bad.details["line"] = read.line.number
    bad.message = f"line {read.line.number}: {bad.message}"
    return bad


def _put_aside(connection: Connection, bad: Sequence[tuple[Line, TamisError]], owner: str) -> None:
    outbox.quarantine_rows(connection, _refused(bad), outbox.REFUSED_EVENT, f"{SOURCE} {owner}", 0)


def _refused(bad: Sequence[tuple[Line, TamisError]]) -> pa.Table:
    rows = [
        (None, why.code, why.message, (line.text or b"").decode(errors="replace")[:REFUSED_TEXT])
        for line, why in bad
    ]
    return table_of(rows, outbox.REFUSED_EVENT)


OPERATIONS = (publish_events,)
