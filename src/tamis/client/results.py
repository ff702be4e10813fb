"""The results of the client: the service's responses as types.

They accept responses of later versions: unknown fields are ignored, and values such as a status are plain
strings, because later versions may add more.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from tamis.contract.drawing import drawn
from tamis.errors import TamisError
from tamis.values.marks import MarkStyle, with_marks


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A response or a part of one."""


# -- subscriptions ---------------------------------------------------------------------------------------


class Row(Result, frozen=True, kw_only=True):
    """A subscription as exported and imported."""

    id: str
    expression: str
    priority: float = 0.0
    schedule: str | None = None
    delivery: dict[str, Any] | None = None
    status: str = "active"


class Fault(Result, frozen=True, kw_only=True):
    """A fault in a field, or a warning about it: ``code`` is for programs, ``message`` for people."""

    field: str
    code: str
    message: str
    position: int | None = None


class Subscription(Row, frozen=True, kw_only=True):
    """A stored subscription; ``version`` is the number of its last change.

    ``warnings`` lists problems, for example a delivery by e-mail if the service has no mail server.
    """

    owner: str
    version: int
    cost: int
    created: datetime
    updated: datetime
    warnings: list[Fault] = []


class Selectivity(Result, frozen=True, kw_only=True):
    """The share of events that match: ``matched`` of ``events`` examined, or an estimate."""

    share: float
    events: int
    matched: int
    measured: bool


class ExpressionWarning(Result, frozen=True, kw_only=True):
    """A likely mistake, and its place in the canonical text."""

    code: str
    text: str
    start: int | None = None
    end: int | None = None


class Advice(Result, frozen=True, kw_only=True):
    """The form of an expression in an index, and how much it matches."""

    kind: str
    predicates: int
    attributes: list[str]
    clauses: int
    cost: dict[str, Any]
    selectivity: Selectivity
    warnings: list[ExpressionWarning]


class Highlight(Result, frozen=True, kw_only=True):
    """A part of a value, and the term that it satisfies; offsets count characters of the value in NFC."""

    value: int
    start: int
    end: int
    term: str
    text: str


class Snippet(Result, frozen=True, kw_only=True):
    """A text around its first highlight, in unmarked and marked ``pieces`` in turn."""

    attribute: str
    value: int
    pieces: list[str]

    def marked(self, style: MarkStyle = "html") -> str:
        """Return the snippet as escaped HTML with ``<mark>``, or as text with ``**``."""
        return with_marks(self.pieces, style)


class Highlights(Result, frozen=True, kw_only=True):
    """The words of an event because of which a subscription matches; ``more`` if a limit left some out."""

    attributes: dict[str, list[Highlight]]
    snippets: list[Snippet]
    more: bool = False


class Explanation(Result, frozen=True, kw_only=True):
    """The reasons why an expression matches or not, node by node; ``str()`` draws the tree."""

    matched: bool
    text: str
    reason: str
    start: int = 0
    end: int = 0
    attribute: str | None = None
    cause: str | None = None
    values: list[Any] = []
    value_count: int = 0
    children: list[Explanation] = []
    expression: str | None = None
    found: list[Highlight] = []
    more_found: bool = False
    snippets: list[Snippet] = []

    def __str__(self) -> str:
        return drawn(self)


class Validation(Result, frozen=True, kw_only=True):
    """The result of a validation: the errors, or the meaning and the cost."""

    valid: bool
    errors: list[Fault]
    warnings: list[Fault] = []
    text: str | None = None
    tree: dict[str, Any] | None = None
    cost: int | None = None
    schedule: str | None = None
    advice: Advice | None = None
    explanation: Explanation | None = None

    def __bool__(self) -> bool:
        return self.valid


# -- events ----------------------------------------------------------------------------------------------


class Published(Result, frozen=True, kw_only=True):
    """A stored event that will be matched; a ``duplicate`` was stored earlier and is not matched again."""

    id: str
    status: str


class Match(Result, frozen=True, kw_only=True):
    """A subscription that matches, or the one requested by id."""

    id: str
    matched: bool
    version: int | None = None
    score: float | None = None
    status: str | None = None
    explanation: Explanation | None = None
    highlights: Highlights | None = None


class Matches(list[str]):
    """The ids of the matching subscriptions; ``found`` has the details of each.

    ``highlights`` has the highlights of each id, if the call asked for them.
    """

    def __init__(self, found: list[Match]) -> None:
        super().__init__(match.id for match in found)
        self.found = found
        self.highlights = {match.id: match.highlights for match in found if match.highlights is not None}


class PublishedEvent(Result, frozen=True, kw_only=True):
    """The event of a match; ``time`` is a number if it is outside the calendar's range."""

    id: str
    attributes: Any = None
    owner: str | None = None
    time: datetime | int | None = None


class StreamedMatch(Result, frozen=True, kw_only=True):
    """A match, or a digest of several (``content``), from the stream; ``number`` is its position."""

    number: int
    subscription: str
    version: int
    at: datetime
    kind: str = "match"
    score: float | None = None
    event: PublishedEvent | None = None
    content: Any = None


class Outcome(Result, frozen=True, kw_only=True):
    """The outcome of one line: ``error`` is the reason of a refusal; ``warnings`` lists problems."""

    line: int
    status: str
    id: str | None = None
    version: int | None = None
    error: TamisError | None = None
    warnings: list[Fault] = []


class Report(Result, frozen=True, kw_only=True):
    """The outcome of many lines: the number for each status, the refused lines, and those with warnings."""

    lines: int
    counts: dict[str, int]
    refused: list[Outcome]
    warned: list[Outcome] = []


# -- notifications ---------------------------------------------------------------------------------------


class Notification(Result, frozen=True, kw_only=True):
    """A notification and the state of its delivery."""

    number: int
    message: str
    subscription: str
    kind: str
    event: PublishedEvent
    version: int
    at: datetime
    state: str
    score: float | None = None
    attempts: int = 0
    next_attempt: datetime | None = None
    finished: datetime | None = None
    error: str | None = None
    delivery: dict[str, Any] | None = None


class Retried(Result, frozen=True, kw_only=True):
    """The number of deliveries that are retried."""

    retried: int


# -- keys and owners -------------------------------------------------------------------------------------


class Key(Result, frozen=True, kw_only=True):
    """A key, without its secret text."""

    id: str
    owner: str
    scopes: list[str]
    created: datetime
    name: str | None = None
    expires: datetime | None = None
    revoked: datetime | None = None


class CreatedKey(Key, frozen=True, kw_only=True):
    """A new key; ``key`` is its text, which is shown only once."""

    key: str


class Quotas(Result, frozen=True, kw_only=True):
    """An owner's quotas: stored amounts, then rates per second, then the numbers open at once."""

    subscriptions: int | None = None
    predicates: int | None = None
    requests: int | None = None
    events: int | None = None
    changes: int | None = None
    streams: int | None = None
    requests_at_once: int | None = None


class OwnerUsage(Result, frozen=True, kw_only=True):
    """The amounts that an owner uses."""

    subscriptions: int
    predicates: int


class Owner(Result, frozen=True, kw_only=True):
    """An owner: the ``quotas`` in force, those ``given`` to it, and the amounts ``held``."""

    owner: str
    quotas: Quotas
    given: Quotas
    held: OwnerUsage


class Refusal(Result, frozen=True, kw_only=True):
    """A quarantined event or subscription."""

    id: int
    source: str
    code: str
    message: str
    at: datetime
    event: str | None = None
    subscription: str | None = None
    text: str | None = None


# -- health ----------------------------------------------------------------------------------------------


class Health(Result, frozen=True, kw_only=True):
    """The process is alive."""

    status: str
    version: str


class Readiness(Result, frozen=True, kw_only=True):
    """Whether the service is ready, and the reasons if it is not."""

    ready: bool
    reasons: list[str]
    lag: int | None = None

    def __bool__(self) -> bool:
        return self.ready


class ServiceStatus(Result, frozen=True, kw_only=True):
    """The owner's quotas and use of them, and the lag; for administrators also the index."""

    version: str
    owner: Owner
    scopes: list[str]
    lag: int
    deliveries: dict[str, int]
    rates: list[dict[str, int]] = []
    index: dict[str, Any] | None = None
