"""Calls: what to ask and how to read the answer; and how a call is made, with its repetitions."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from types import NoneType
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from tamis.client.failures import NOT_DONE, UNSURE, refusal
from tamis.client.retry import RetryBudget
from tamis.client.steps import Answer, Feed, Flow, Open, Request, Send, Wait
from tamis.errors import AnswerInvalid, InputError, TamisError
from tamis.version import __version__

JSON, NDJSON, MERGE_PATCH = "application/json", "application/x-ndjson", "application/merge-patch+json"
WELL = frozenset({200, 201, 202, 204})

T = TypeVar("T")
Parameters = Mapping[str, str | int | bool | None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call(Generic[T]):
    """A request to the service, and what its answer is read as."""

    method: str
    path: str
    result: type[T]
    query: Parameters = dataclasses.field(default_factory=dict)
    body: Any = None  # bytes as they are, anything else as JSON
    media: str = JSON
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    well: frozenset[int] = WELL
    harmless: bool = True  # to repeat, though it may have been done
    done: tuple[str, T] | None = None  # a code that a repetition gets if the first time did it
    about: str | None = None  # the expression, if it is a text: errors point into it
    for_owner: bool = True  # an administrator may make it for others
    quiet: float | None = None

    def read(self, answer: Answer) -> T:
        """Return the result that an answer holds."""
        if self.result is NoneType:
            return None  # type: ignore[return-value]  # that is what T is
        try:
            return msgspec.json.decode(answer.content, type=self.result)
        except (msgspec.DecodeError, UnicodeError) as bad:
            raise AnswerInvalid(f"the answer to {self.method} {self.path} cannot be read: {bad}") from None

    def may_repeat(self, error: TamisError) -> bool:
        """Return whether it is worth another try after this error, and does no harm."""
        return isinstance(error, NOT_DONE) or (self.harmless and isinstance(error, UNSURE))


class Page(msgspec.Struct, Generic[T]):
    """Some of many; ``next`` leads to more."""

    items: list[T]
    next: str | None = None


class Settings(NamedTuple):
    """Where the service is, and how to speak with it."""

    url: str
    key: str | None
    patience: float

    @classmethod
    def of(cls, url: str | None, key: str | None, patience: float) -> Settings:
        """What was given, or else stands in the environment."""
        url = url or os.environ.get("TAMIS_URL")
        if not url:
            raise InputError("say where the service is: Client('http://…'), or set TAMIS_URL")
        if not patience >= 0:
            raise InputError(f"patience is a number of seconds, 0 or more, not {patience!r}")
        return cls(_checked_url(url), _checked_key(key or os.environ.get("TAMIS_KEY")), patience)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "the URL of a service is http:// or https://, a host and perhaps a path; a key goes by itself"
        )
    return url.rstrip("/")


def _checked_key(key: str | None) -> str | None:
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise InputError("a key is what the service showed when it was made: tamis_…, without spaces")
    return key


class Core:
    """Turns calls into requests, and sees them through."""

    def __init__(self, settings: Settings, owner: str | None = None) -> None:
        self.settings, self._owner = settings, owner
        self._headers = {"user-agent": f"tamis/{__version__}"}
        if settings.key is not None:
            self._headers["authorization"] = f"Bearer {settings.key}"

    def acting_for(self, owner: str | None) -> Core:
        """Return the same for another owner's things."""
        return Core(self.settings, owner)

    def request(self, call: Call[Any]) -> Request:
        """Return a call as a request."""
        given = {"owner": self._owner, **call.query} if call.for_owner else call.query
        said = {name: _parameter(value) for name, value in given.items() if value is not None}
        url = self.settings.url + call.path + _query(said)
        headers = {**self._headers, **call.headers}
        if call.body is None:
            return Request(call.method, url, headers, None, call.quiet)
        headers["content-type"] = call.media
        content = call.body if isinstance(call.body, bytes) else encoded(call.body)
        return Request(call.method, url, headers, content, call.quiet)

    def ask(self, call: Call[T]) -> Flow[T]:
        """Make a call: again, if that may help and does no harm."""
        request, patience, may_be_done = self.request(call), self.patience(), False
        while True:
            answer: Answer | TamisError = yield Send(request)
            if isinstance(answer, Answer) and answer.status in call.well:
                return call.read(answer)
            error = failure(answer, call)
            if may_be_done and call.done is not None and error.code == call.done[0]:
                return call.done[1]
            may_be_done = may_be_done or isinstance(error, UNSURE)
            yield from wait_or_raise(patience, error, call)

    def open(self, call: Call[Any], patience: RetryBudget) -> Flow[None]:
        """Make a call whose answer comes piece by piece."""
        while True:
            answer: Answer | TamisError = yield Open(self.request(call))
            if isinstance(answer, Answer) and answer.status in call.well:
                return
            yield from wait_or_raise(patience, failure(answer, call), call)

    def pages(self, call: Call[Page[T]]) -> Feed[T]:
        """Yield all items, page by page."""
        while True:
            page = yield from self.ask(call)
            yield page.items
            if page.next is None:
                return
            call = dataclasses.replace(call, query={**call.query, "cursor": page.next})

    def patience(self) -> RetryBudget:
        """As much as there is."""
        return RetryBudget(self.settings.patience)


def encoded(value: Any) -> bytes:
    """Return a value as JSON."""
    try:
        return msgspec.json.encode(value, enc_hook=_as_base)
    except (TypeError, ValueError, OverflowError, RecursionError) as bad:
        raise InputError(f"this cannot be written as JSON: {bad}") from None


def _as_base(value: Any) -> Any:
    """Return a subclass of text or of a number as what it is."""
    for base in (str, int, float):
        if isinstance(value, base):
            return base.__str__(value) if base is str else base(value)
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def failure(answer: Answer | TamisError, call: Call[Any]) -> TamisError:
    """What an answer that is not well says, or what came in its place."""
    return refusal(answer, call.about) if isinstance(answer, Answer) else answer


def wait_or_raise(patience: RetryBudget, error: TamisError, call: Call[Any]) -> Flow[None]:
    """Wait for another attempt, or raise the error."""
    wait = patience.pause(error) if call.may_repeat(error) else None
    if wait is None:
        if patience.attempts > 1:
            error.details["attempts"] = patience.attempts
        raise error
    yield Wait(wait)


def path(*parts: str | int) -> str:
    """Return a path under ``/v1``."""
    return "/v1/" + "/".join(map(str, parts))


def _query(said: Mapping[str, str]) -> str:
    try:
        return f"?{urlencode(said)}" if said else ""
    except UnicodeEncodeError:
        raise InputError("a parameter holds a lone surrogate, which is no text") from None


def _parameter(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
