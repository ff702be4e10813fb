"""What a client gets: the answers of the service as types.

They are open to a later service: fields that are not known here are left out, and words such as a status
are plain strings, since there may be more of them one day.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from tamis.contract.drawing import drawn
from tamis.errors import TamisError


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, or a part of one."""


# -- subscriptions ---------------------------------------------------------------------------------------


class Row(Result, frozen=True, kw_only=True):
    """A subscription as an export gives it and an import takes it."""

    id: str
    expression: str
    priority: float = 0.0
    schedule: str | None = None
    delivery: dict[str, Any] | None = None
    status: str = "active"


class Fault(Result, frozen=True, kw_only=True):
    """What is wrong with a field, or will not work: ``code`` is for programs, ``message`` for people."""

    field: str
    code: str
    message: str
    position: int | None = None


class Subscription(Row, frozen=True, kw_only=True):
    """A subscription as it is: ``version`` is the number of the change that made it so.

    ``warnings`` says what will not work, such as a delivery by mail where the service has no mail server.
    """

    owner: str
    version: int
    cost: int
    created: datetime
    updated: datetime
    warnings: list[Fault] = []


class Selectivity(Result, frozen=True, kw_only=True):
    """The share of events that match: ``matched`` of ``events`` looked at, or a guess."""

    share: float
    events: int
    matched: int
    measured: bool


class Warned(Result, frozen=True, kw_only=True):
    """Something that looks wrong, and where it stands in the canonical text."""

    code: str
    text: str
    start: int | None = None
    end: int | None = None


class Advice(Result, frozen=True, kw_only=True):
    """What an index makes of an expression, and how much it matches."""

    kind: str
    predicates: int
    attributes: list[str]
    clauses: int
    cost: dict[str, Any]
    selectivity: Selectivity
    warnings: list[Warned]


class Explanation(Result, frozen=True, kw_only=True):
    """Why an expression holds or not, node by node; ``str()`` draws the tree."""

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

    def __str__(self) -> str:
        return drawn(self)


class Validation(Result, frozen=True, kw_only=True):
    """What is to be said about a draft: what is wrong, or what it means and costs."""

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
    """An event that is kept and will be matched; a ``duplicate`` was, and is not matched again."""

    id: str
    status: str


class Match(Result, frozen=True, kw_only=True):
    """A subscription that matches, or the one that was asked for."""

    id: str
    matched: bool
    version: int | None = None
    score: float | None = None
    status: str | None = None
    explanation: Explanation | None = None


class Matches(list[str]):
    """The ids that an event matches; ``found`` has more about each."""

    def __init__(self, found: list[Match]) -> None:
        super().__init__(match.id for match in found)
        self.found = found


class PublishedEvent(Result, frozen=True, kw_only=True):
    """The event of a match; ``time`` is a number where no calendar has it."""

    id: str
    attributes: Any = None
    owner: str | None = None
    time: datetime | int | None = None


class Told(Result, frozen=True, kw_only=True):
    """A match, or a digest of some (``content``), as the stream tells it; ``number`` is where to go on."""

    number: int
    subscription: str
    version: int
    at: datetime
    kind: str = "match"
    score: float | None = None
    event: PublishedEvent | None = None
    content: Any = None


class Outcome(Result, frozen=True, kw_only=True):
    """What became of one of many: ``error`` says why, if it was refused; ``warnings`` what will not work."""

    line: int
    status: str
    id: str | None = None
    version: int | None = None
    error: TamisError | None = None
    warnings: list[Fault] = []


class Report(Result, frozen=True, kw_only=True):
    """What became of many: how many of each status, those not taken, and those taken with a warning."""

    lines: int
    counts: dict[str, int]
    refused: list[Outcome]
    warned: list[Outcome] = []


# -- notifications ---------------------------------------------------------------------------------------


class Notification(Result, frozen=True, kw_only=True):
    """Something that was to be told, and what became of it."""

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
    """How many are tried again."""

    retried: int


# -- who may what ----------------------------------------------------------------------------------------


class Key(Result, frozen=True, kw_only=True):
    """A key, without what makes it one."""

    id: str
    owner: str
    scopes: list[str]
    created: datetime
    name: str | None = None
    expires: datetime | None = None
    revoked: datetime | None = None


class MadeKey(Key, frozen=True, kw_only=True):
    """A key that was just made; ``key`` is its text, shown this once."""

    key: str


class Quotas(Result, frozen=True, kw_only=True):
    """How much an owner may: hold of the first two, do of the next three in a second, have open at once."""

    subscriptions: int | None = None
    predicates: int | None = None
    requests: int | None = None
    events: int | None = None
    changes: int | None = None
    streams: int | None = None
    requests_at_once: int | None = None


class Holding(Result, frozen=True, kw_only=True):
    """What an owner holds."""

    subscriptions: int
    predicates: int


class Owner(Result, frozen=True, kw_only=True):
    """An owner: the ``quotas`` in force, those that were ``given`` to it, and what it holds."""

    owner: str
    quotas: Quotas
    given: Quotas
    held: Holding


class Refusal(Result, frozen=True, kw_only=True):
    """An event or subscription that was put aside."""

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
    """The process lives."""

    status: str
    version: str


class Readiness(Result, frozen=True, kw_only=True):
    """Whether the service can do its work, and why not."""

    ready: bool
    reasons: list[str]
    lag: int | None = None

    def __bool__(self) -> bool:
        return self.ready


class ServiceStatus(Result, frozen=True, kw_only=True):
    """What the owner holds and may, how much waits; for administrators also how the index is built."""

    version: str
    owner: Owner
    scopes: list[str]
    lag: int
    deliveries: dict[str, int]
    rates: list[dict[str, int]] = []
    index: dict[str, Any] | None = None
