"""Events: published one by one or as lines of JSON; kept before they are acknowledged."""

from __future__ import annotations

import hashlib
import logging
import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import pyarrow as pa
from sqlalchemy.engine import Connection
from starlette.responses import Response

from tamis.contract.names import check_local
from tamis.errors import EventConflict, RateExceeded, TamisError
from tamis.limits import Limits
from tamis.service import bodies
from tamis.service.bodies import JSON, NDJSON, Line
from tamis.service.conditions import KEY, idempotency_key
from tamis.service.operation import Answer, Call, Header, Stream, operation
from tamis.service.rates import Bucket
from tamis.service.report import Report, defect, written
from tamis.service.schemas import events as shapes
from tamis.service.schemas.common import Moment, Strict
from tamis.service.service import Service
from tamis.store import outbox
from tamis.store.events import CONFLICT, NewEvent, Published
from tamis.store.keys import PUBLISH
from tamis.store.subscriptions import REFUSED_TEXT
from tamis.values.event import decode_event, event_from
from tamis.values.value import clean_time, micros_of

_log = logging.getLogger(__name__)

SOURCE = "http"  # of refused events in the quarantine
SMALL = 8 * 1024  # bytes that are read in the loop: going to a thread would take longer


class _Sent(Strict):
    """:class:`~tamis.service.schemas.events.NewEvent` with the attributes as they were written."""

    attributes: msgspec.Raw
    id: str | None = None
    time: Moment | None = None


_decoder = msgspec.json.Decoder(_Sent)


@operation(
    "POST",
    "/v1/events",
    scope=PUBLISH,
    tag="events",
    query=shapes.PublishOf,
    body=shapes.NewEvent,
    media=(JSON, NDJSON),
    reads_itself=True,
    headers=(
        Header("Idempotency-Key", "Events without ids get ids by this key, so a repetition is known.", KEY),
    ),
    answers={202: (shapes.Published, Stream(NDJSON, "A line for each line, and a last one with the sums."))},
    refusals=(409, 422),
)
async def publish_events(call: Call) -> Answer | Response:
    """Publish an event, or one in each line. The answer comes when they are kept; then they are matched.

    A line that cannot be used is reported with its number, put into quarantine, and stops nothing, unless
    ``on_error`` says otherwise.
    """
    if bodies.media_of(call.request.scope, (JSON, NDJSON)) == NDJSON:
        return await _publish_lines(call)
    service = call.service
    bucket = service.events.of(call.owner, call.caller.quotas.events)
    if (wait := bucket.wait()) > 0:
        raise RateExceeded(
            f"{call.owner} may publish {call.caller.quotas.events} events a second; wait",
            limit="events",
            retry_after=math.ceil(wait),
        )
    text = await bodies.whole(call.request, service.limits)
    naming = _Naming(call)
    if len(text) <= SMALL:
        event = read_event(text, 1, naming, service.limits)
    else:
        event = await service.in_thread(read_event, text, 1, naming, service.limits)
    bucket.take()
    (published,) = await service.done(service.live.publish(call.owner, [event]))
    service.metrics.events(published.status, 1)
    if published.status == CONFLICT:
        raise EventConflict(f"another event was published as {published.id!r}", event=published.id)
    return Answer(shapes.Published(*published), 202)


class _Naming:
    """Names for events that have none: by an idempotency key, if there is one."""

    def __init__(self, call: Call) -> None:
        self._key = idempotency_key(call.request.scope, call.service.limits)

    def name(self, line: int) -> str | None:
        """Return the name of the event in a line."""
        if self._key is None:
            return None
        return hashlib.sha256(f"{line} {self._key}".encode()).hexdigest()[:32]


def read_event(text: bytes, line: int, naming: _Naming, limits: Limits) -> NewEvent:
    """Return an event that can be kept: what it holds has been looked at."""
    sent = bodies.decoded(text, _decoder, "the event", lambda sent: sent.attributes)
    attributes = bytes(sent.attributes)
    event_from(decode_event(attributes, limits), limits)
    name = naming.name(line) if sent.id is None else check_local(sent.id)
    return NewEvent(
        name, None if sent.time is None else micros_of(clean_time(sent.time)), attributes.decode()
    )


# -- many --------------------------------------------------------------------------------------------------


class _Read(NamedTuple):
    line: Line
    event: NewEvent | TamisError


async def _publish_lines(call: Call) -> Response:
    service, owner, naming, report = call.service, call.owner, _Naming(call), Report()
    bucket = service.events.of(owner, call.caller.quotas.events)
    try:
        await bodies.piped(
            bodies.lines(call.request, service.limits),
            lambda group: _paced(service, bucket, group, naming),
            lambda found: _publish(service, owner, found, report, call.query.on_error),
        )
    except TamisError as bad:
        report.close()
        bad.details["lines"] = report.last
        raise
    if (refused := report.counts["refused"]) and call.query.on_error == "report":
        _log.warning("%s: %d of %d lines of events were refused", owner, refused, report.counts.total())
    return report.sent(service, 202)


async def _paced(service: Service, bucket: Bucket, group: list[Line], naming: _Naming) -> list[_Read]:
    """Events, no faster than the owner may publish: a stream is slowed down, not refused."""
    await bucket.pause(len(group))
    return await service.work(_read_lines, group, naming, service.limits)


def _read_lines(group: list[Line], naming: _Naming, limits: Limits) -> list[_Read]:
    return [_Read(line, _event_or_why(line, naming, limits)) for line in group]


def _event_or_why(line: Line, naming: _Naming, limits: Limits) -> NewEvent | TamisError:
    if line.text is None:
        return bodies.long_line(limits)
    try:
        return read_event(line.text, line.number, naming, limits)
    except TamisError as bad:
        return bad
    except Exception:  # a defect in one line costs that line
        return defect()


async def _publish(service: Service, owner: str, found: list[_Read], report: Report, on_error: str) -> None:
    stop = next((at for at, read in enumerate(found) if isinstance(read.event, TamisError)), None)
    if on_error == "raise" and stop is not None:
        await _publish(service, owner, found[:stop], report, on_error)
        raise _placed(found[stop])
    good = [event for _, event in found if isinstance(event, NewEvent)]

    async def publish(events: list[NewEvent]) -> list[Published]:
        return await service.done(service.live.publish(owner, events))

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
    """Why a line was refused, with its number."""
    bad = read.event
    assert isinstance(bad, TamisError)
    bad.details["line"] = read.line.number
    bad.message = f"line {read.line.number}: {bad.message}"
    return bad


def _put_aside(connection: Connection, bad: Sequence[tuple[Line, TamisError]], owner: str) -> None:
    outbox.quarantine_rows(connection, _refused(bad), outbox.REFUSED_EVENT, f"{SOURCE} {owner}", 0)


def _refused(bad: Sequence[tuple[Line, TamisError]]) -> pa.Table:
    texts = [(line.text or b"").decode(errors="replace")[:REFUSED_TEXT] for line, _ in bad]
    columns = [[None] * len(bad), [why.code for _, why in bad], [why.message for _, why in bad], texts]
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.table(arrays, list(outbox.REFUSED_EVENT))


OPERATIONS = (publish_events,)
