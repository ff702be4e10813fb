"""Many at once: lines of JSON in bounded pieces, and what became of each line.

Every line has an id before it is sent, so a piece whose answer was lost is sent again without harm.
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
from tamis.client.results import Fault, Outcome, Report
from tamis.client.steps import END, Answer, Flow, Take
from tamis.client.writing import event_sent, has_id, row_sent, text_of
from tamis.contract.on_error import RAISE, REPORT, SKIP, check_on_error
from tamis.errors import AnswerInvalid, EventConflict, EventSyntax, InputError, RefusedWarning, TamisError

PIECE_LINES, PIECE_BYTES = 1_000, 1024 * 1024
REFUSED, CONFLICT = "refused", "conflict"

Each = Callable[[Outcome], None]
Write = Callable[[Any], dict[str, Any]]


def publish_many(core: Core, each: Each | None, on_error: str = REPORT) -> Flow[Report]:
    """Publish all that the caller gives; ``on_error`` says what happens to events that are refused."""
    check_on_error(on_error)
    call = _Lines(method="POST", path=path("events"), result=_Told, query={"on_error": on_error})
    return _send_all(core, call, event_sent, each, on_error)


def import_rows(core: Core, each: Each | None) -> Flow[Report]:
    """Make or replace all that the caller gives."""
    query = {"report": "refused" if each is None else "all"}
    call = _Lines(method="POST", path=path("subscriptions", "import"), result=_Told, query=query)
    return _send_all(core, call, row_sent, each)


def events_given(events: Any, id: object, time: object, kinds: tuple[type, ...] = (Iterable,)) -> Any:
    """Many events, if that is what they are."""
    if isinstance(events, str | bytes) or not isinstance(events, kinds):
        raise EventSyntax(f"an event is an object with named attributes, not a {type(events).__name__}")
    if id is not None or time is not None:
        raise InputError("an id and a time are those of one event; give each its own, as tamis.Event")
    return events


def rows_given(rows: Any, kinds: tuple[type, ...] = (Iterable,)) -> Any:
    """Many subscriptions; a dictionary has the expressions under their ids."""
    if not isinstance(rows, kinds):
        raise InputError(f"subscriptions come from something to iterate over, not a {type(rows).__name__}")
    return rows.items() if isinstance(rows, Mapping) else rows


# -- pieces ------------------------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """A line on its way, or why it cannot go."""

    text: bytes
    id: str | None = None
    is_named_here: bool = False
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
    tally, piece, size = _Tally(each), list[_Entry](), 0
    while (given := (yield Take())) is not END:
        entry = _entry(given, write)
        if entry.error is not None and on_error == RAISE:
            if piece:
                yield from _send(core, call, piece, tally)
            entry.error.details["line"] = tally.lines + 1
            raise entry.error
        if len(piece) == PIECE_LINES or (piece and size + len(entry.text) > PIECE_BYTES):
            yield from _send(core, call, piece, tally)
            piece, size = [], 0
        piece.append(entry)
        size += len(entry.text)
    if piece:
        yield from _send(core, call, piece, tally)
    report = tally.report()
    if on_error == REPORT and (refused := report.counts.get(REFUSED, 0)):
        told = "see `refused` of the report" if each is None else "`each` was told of them"
        message = f"{refused:,} of {report.lines:,} events were refused; {told}"
        warnings.warn(message, RefusedWarning, stacklevel=2)
    return report


def _send(core: Core, call: _Lines, piece: list[_Entry], tally: _Tally) -> Flow[None]:
    body = b"".join(entry.text for entry in piece)
    told = _Told({}, {})
    if body:
        try:
            told = yield from core.ask(dataclasses.replace(call, body=body))
        except TamisError as bad:
            bad.details["lines"] = tally.lines  # of those up to here it is known what became
            raise
    tally.add(piece, told)


class _Line(msgspec.Struct):
    line: int
    status: str
    version: int | None = None
    code: str | None = None
    warnings: list[Fault] = []


class _Last(msgspec.Struct):
    summary: dict[str, int]


class _Told(NamedTuple):
    """What the service told of a piece: of its lines, of all or only those refused, and the sums."""

    lines: dict[int, tuple[_Line, bytes]]
    sums: dict[str, int]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Lines(Call[_Told]):
    """A call with lines in both directions."""

    media: str = NDJSON

    def read(self, answer: Answer) -> _Told:
        """What became of the lines; the last line of the answer has the sums."""
        try:
            *lines, last = answer.content.splitlines() or [b""]
            told = _Told(dict(map(_numbered, lines)), _last.decode(last).summary)
        except (msgspec.DecodeError, UnicodeError) as bad:
            raise AnswerInvalid(f"the report of {self.path} cannot be read: {bad}") from None
        if sum(told.sums.values()) != self.body.count(b"\n"):
            raise AnswerInvalid(f"the report of {self.path} does not tell of every line that was sent")
        return told


def _numbered(raw: bytes) -> tuple[int, tuple[_Line, bytes]]:
    line = _one.decode(raw)
    return line.line, (line, raw)


_one, _last = msgspec.json.Decoder(_Line), msgspec.json.Decoder(_Last)


# -- what became of them -----------------------------------------------------------------------------------


class _Tally:
    """What is known so far."""

    def __init__(self, each: Each | None) -> None:
        self._each = each
        self.lines, self._counts = 0, Counter[str]()
        self._refused, self._warned = list[Outcome](), list[Outcome]()

    def add(self, piece: list[_Entry], told: _Told) -> None:
        """Note a piece."""
        outcomes = list(self._outcomes(piece, told))
        self.lines += len(piece)
        self._counts.update(outcome.status for outcome in outcomes)
        sent = sum(entry.error is None for entry in piece)
        if len(told.lines) < sent:  # the others were only counted
            mine = Counter(line.status for line, _ in told.lines.values())
            self._counts.update(Counter(told.sums) - mine)
        for outcome in outcomes:
            if self._each is not None:
                self._each(outcome)
            elif outcome.status in (REFUSED, CONFLICT):
                self._refused.append(outcome)
            elif outcome.warnings:
                self._warned.append(outcome)

    def _outcomes(self, piece: list[_Entry], told: _Told) -> Iterator[Outcome]:
        number = 0  # of the line in what was sent
        for line, entry in enumerate(piece, self.lines + 1):
            if entry.error is not None:
                yield Outcome(line=line, status=REFUSED, error=entry.error)
                continue
            number += 1
            if (said := told.lines.get(number)) is not None:
                yield _outcome(line, entry, *said)

    def report(self) -> Report:
        """Return all of it."""
        return Report(lines=self.lines, counts=dict(self._counts), refused=self._refused, warned=self._warned)


def _outcome(line: int, entry: _Entry, said: _Line, raw: bytes) -> Outcome:
    status = said.status
    if status == "duplicate" and entry.is_named_here:  # of our own first attempt, whose answer was lost
        status = "accepted"
    error = _why(entry, said, raw)
    return Outcome(
        line=line, status=status, id=entry.id, version=said.version, error=error, warnings=said.warnings
    )


def _why(entry: _Entry, said: _Line, raw: bytes) -> TamisError | None:
    if said.status == CONFLICT:
        return EventConflict(f"another event was published as {entry.id!r}", event=entry.id)
    if said.code is None:
        return None
    told = msgspec.json.decode(raw, type=dict[str, Any])
    del told["line"]
    return error_of(told, str(told.get("message")), entry.about)
