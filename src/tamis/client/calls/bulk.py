"""Sends many events or subscriptions as batches of JSON lines, and reports the outcome of each line.

Every line has an id before it is sent, so a batch whose response was lost can be sent again safely.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from tamis.client.core import NDJSON, Call, Core, encoded, path
from tamis.client.failures import error_of
from tamis.client.request_bodies import event_body, has_id, row_body, text_of
from tamis.client.results import Fault, Outcome, Report
from tamis.client.steps import END, Flow, ServiceResponse, Take
from tamis.contract.on_error import RAISE, REPORT, SKIP, check_on_error
from tamis.errors import AnswerInvalid, EventConflict, EventSyntax, InputError, RefusedWarning, TamisError

BATCH_LINES, BATCH_BYTES = 1_000, 1024 * 1024
REFUSED, CONFLICT = "refused", "conflict"

Each = Callable[[Outcome], None]
Write = Callable[[Any], dict[str, Any]]


def publish_many(core: Core, each: Each | None, on_error: str = REPORT) -> Flow[Report]:
    """Publish all given events; ``on_error`` decides how refused events are treated."""
    check_on_error(on_error)
    call = _Lines(method="POST", path=path("events"), result=_BatchReport, query={"on_error": on_error})
    return _send_all(core, call, event_body, each, on_error)


def import_rows(core: Core, each: Each | None) -> Flow[Report]:
    """Create or replace all given subscriptions."""
    query = {"report": "refused" if each is None else "all"}
    call = _Lines(method="POST", path=path("subscriptions", "import"), result=_BatchReport, query=query)
    return _send_all(core, call, row_body, each)


def events_given(events: Any, id: object, time: object, kinds: tuple[type, ...] = (Iterable,)) -> Any:
    """Return the given events, or raise an error if they are not an iterable of events."""
    if isinstance(events, str | bytes) or not isinstance(events, kinds):
        raise EventSyntax(f"an event is an object with named attributes, not a {type(events).__name__}")
    if id is not None or time is not None:
        raise InputError("an id and a time are those of one event; give each its own, as tamis.Event")
    return events


def rows_given(rows: Any, kinds: tuple[type, ...] = (Iterable,)) -> Any:
    """Return the given subscriptions; a dictionary maps ids to expressions."""
    if not isinstance(rows, kinds):
        raise InputError(f"subscriptions come from something to iterate over, not a {type(rows).__name__}")
    return rows.items() if isinstance(rows, Mapping) else rows


# -- batches -----------------------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """A line to send, or the error that keeps it from being sent."""

    text: bytes
    id: str | None = None
    has_generated_id: bool = False
    about: str | None = None
    error: TamisError | None = None


def _entry(given: Any, write: Write) -> _Entry:
    try:
        sent = write(given)
        text = encoded(sent) + b"\n"
    except TamisError as bad:
        return _Entry(b"", error=bad)
    return _Entry(text, sent["id"], not has_id(given), text_of(sent.get("expression")))


def _send_all(
    core: Core, call: _Lines, write: Write, each: Each | None, on_error: str = SKIP
) -> Flow[Report]:
    totals, batch, size = _Totals(each), list[_Entry](), 0
    while (given := (yield Take())) is not END:
        entry = _entry(given, write)
        if entry.error is not None and on_error == RAISE:
            if batch:
                yield from _send(core, call, batch, totals)
            entry.error.details["line"] = totals.lines + 1
            raise entry.error
        if len(batch) == BATCH_LINES or (batch and size + len(entry.text) > BATCH_BYTES):
            yield from _send(core, call, batch, totals)
            batch, size = [], 0
        batch.append(entry)
        size += len(entry.text)
    if batch:
        yield from _send(core, call, batch, totals)
    report = totals.report()
    if on_error == REPORT and (refused := report.counts.get(REFUSED, 0)):
        reported = "see `refused` of the report" if each is None else "`each` received them"
        message = f"{refused:,} of {report.lines:,} events were refused; {reported}"
        warnings.warn(message, RefusedWarning, stacklevel=2)
    return report


def _send(core: Core, call: _Lines, batch: list[_Entry], totals: _Totals) -> Flow[None]:
    body = b"".join(entry.text for entry in batch)
    reported = _BatchReport({}, {})
    if body:
        try:
            reported = yield from core.call(dataclasses.replace(call, body=body))
        except TamisError as bad:
            bad.details["lines"] = totals.lines  # lines up to here have a known outcome
            raise
    totals.add(batch, reported)


class _Line(msgspec.Struct):
    line: int
    status: str
    version: int | None = None
    code: str | None = None
    warnings: list[Fault] = []


class _Last(msgspec.Struct):
    summary: dict[str, int]


class _BatchReport(NamedTuple):
    """The service's report on a batch: on all lines or only the refused ones, and the totals."""

    lines: dict[int, tuple[_Line, bytes]]
    totals: dict[str, int]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Lines(Call[_BatchReport]):
    """A call that sends lines and receives a line for each."""

    media: str = NDJSON

    def read(self, response: ServiceResponse) -> _BatchReport:
        """Return the outcome of the lines; the last line of the response has the totals."""
        try:
            *lines, last = response.content.splitlines() or [b""]
            reported = _BatchReport(dict(map(_numbered, lines)), _last.decode(last).summary)
        except (msgspec.DecodeError, UnicodeError) as bad:
            raise AnswerInvalid(f"the report of {self.path} cannot be read: {bad}") from None
        if sum(reported.totals.values()) != self.body.count(b"\n"):
            raise AnswerInvalid(f"the report of {self.path} does not cover every line that was sent")
        return reported


def _numbered(raw: bytes) -> tuple[int, tuple[_Line, bytes]]:
    line = _one.decode(raw)
    return line.line, (line, raw)


_one, _last = msgspec.json.Decoder(_Line), msgspec.json.Decoder(_Last)


# -- outcomes ----------------------------------------------------------------------------------------------


class _Totals:
    """The outcomes so far."""

    def __init__(self, each: Each | None) -> None:
        self._each = each
        self.lines, self._counts = 0, Counter[str]()
        self._refused, self._warned = list[Outcome](), list[Outcome]()

    def add(self, batch: list[_Entry], reported: _BatchReport) -> None:
        """Record the outcomes of a batch."""
        outcomes = list(self._outcomes(batch, reported))
        self.lines += len(batch)
        self._counts.update(outcome.status for outcome in outcomes)
        sent = sum(entry.error is None for entry in batch)
        if len(reported.lines) < sent:  # the service only counted the others
            mine = Counter(line.status for line, _ in reported.lines.values())
            self._counts.update(Counter(reported.totals) - mine)
        for outcome in outcomes:
            if self._each is not None:
                self._each(outcome)
            elif outcome.status in (REFUSED, CONFLICT):
                self._refused.append(outcome)
            elif outcome.warnings:
                self._warned.append(outcome)

    def _outcomes(self, batch: list[_Entry], reported: _BatchReport) -> Iterator[Outcome]:
        number = 0  # number of the line within the batch that was sent
        for line, entry in enumerate(batch, self.lines + 1):
            if entry.error is not None:
                yield Outcome(line=line, status=REFUSED, error=entry.error)
                continue
            number += 1
            if (result := reported.lines.get(number)) is not None:
                yield _outcome(line, entry, *result)

    def report(self) -> Report:
        """Return the report on all lines."""
        return Report(lines=self.lines, counts=dict(self._counts), refused=self._refused, warned=self._warned)


def _outcome(line: int, entry: _Entry, result: _Line, raw: bytes) -> Outcome:
    status = result.status
    # A duplicate of our own first attempt, whose response was lost.
    if status == "duplicate" and entry.has_generated_id:
        status = "accepted"
    error = _why(entry, result, raw)
    return Outcome(
        line=line, status=status, id=entry.id, version=result.version, error=error, warnings=result.warnings
    )


def _why(entry: _Entry, result: _Line, raw: bytes) -> TamisError | None:
    if result.status == CONFLICT:
        return EventConflict(f"another event was published as {entry.id!r}", event=entry.id)
    if result.code is None:
        return None
    reported = msgspec.json.decode(raw, type=dict[str, Any])
    del reported["line"]
    return error_of(reported, str(reported.get("message")), entry.about)
