"""Defines calls to the service, and executes them with retries."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from types import NoneType
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from tamis.client.failures import MAYBE_EXECUTED, NOT_EXECUTED, refusal
from tamis.client.retry import RetryBudget
from tamis.client.steps import Feed, Flow, Open, Request, Send, ServiceResponse, Wait
from tamis.errors import AnswerInvalid, InputError, TamisError
from tamis.version import __version__

JSON, NDJSON, MERGE_PATCH = "application/json", "application/x-ndjson", "application/merge-patch+json"
SUCCESS = frozenset({200, 201, 202, 204})

T = TypeVar("T")
Parameters = Mapping[str, str | int | bool | None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call(Generic[T]):
    """A request to the service, and the type of its response."""

    method: str
    path: str
    result: type[T]
    query: Parameters = dataclasses.field(default_factory=dict)
    body: Any = None  # bytes are sent unchanged, anything else as JSON
    media: str = JSON
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    success: frozenset[int] = SUCCESS
    is_idempotent: bool = True  # a retry is safe even if the request was executed
    # The error code of a retry after a first attempt that succeeded, and the result then.
    done: tuple[str, T] | None = None
    about: str | None = None  # the expression, if it is a text: error positions refer to it
    for_owner: bool = True  # an administrator may make the call for another owner
    read_timeout: float | None = None

    def read(self, response: ServiceResponse) -> T:
        """Return the result in a response."""
        if self.result is NoneType:
            return None  # type: ignore[return-value]  # here T is None
        try:
            return msgspec.json.decode(response.content, type=self.result)
        except (msgspec.DecodeError, UnicodeError) as bad:
            raise AnswerInvalid(f"the answer to {self.method} {self.path} cannot be read: {bad}") from None

    def may_retry(self, error: TamisError) -> bool:
        """Return whether a retry after this error may succeed and is safe."""
        return isinstance(error, NOT_EXECUTED) or (self.is_idempotent and isinstance(error, MAYBE_EXECUTED))


class Page(msgspec.Struct, Generic[T]):
    """A page of items; ``next`` is the cursor of the next page."""

    items: list[T]
    next: str | None = None


class Settings(NamedTuple):
    """The address of the service, the key and the retry time."""

    url: str
    key: str | None
    retry_for: float

    @classmethod
    def of(cls, url: str | None, key: str | None, retry_for: float) -> Settings:
        """Return the given settings, with defaults from the environment."""
        url = url or os.environ.get("TAMIS_URL")
        if not url:
            raise InputError("say where the service is: Client('http://…'), or set TAMIS_URL")
        if not retry_for >= 0:
            raise InputError(f"retry_for is a number of seconds, 0 or more, not {retry_for!r}")
        return cls(_checked_url(url), _checked_key(key or os.environ.get("TAMIS_KEY")), retry_for)


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
        raise InputError(
            "a key is the text that the service showed when it was created: tamis_…, without spaces"
        )
    return key


class Core:
    """Turns calls into requests, and retries them."""

    def __init__(self, settings: Settings, owner: str | None = None) -> None:
        self.settings, self._owner = settings, owner
        self._headers = {"user-agent": f"tamis/{__version__}"}
        if settings.key is not None:
            self._headers["authorization"] = f"Bearer {settings.key}"

    def acting_for(self, owner: str | None) -> Core:
        """Return a copy that acts for another owner."""
        return Core(self.settings, owner)

    def request(self, call: Call[Any]) -> Request:
        """Return a call as a request."""
        given = {"owner": self._owner, **call.query} if call.for_owner else call.query
        parameters = {name: _parameter(value) for name, value in given.items() if value is not None}
        url = self.settings.url + call.path + _query(parameters)
        headers = {**self._headers, **call.headers}
        if call.body is None:
            return Request(call.method, url, headers, None, call.read_timeout)
        headers["content-type"] = call.media
        content = call.body if isinstance(call.body, bytes) else encoded(call.body)
        return Request(call.method, url, headers, content, call.read_timeout)

    def call(self, call: Call[T]) -> Flow[T]:
        """Execute a call; retry it if a retry may succeed and is safe."""
        request, budget, may_be_executed = self.request(call), self.retry_budget(), False
        while True:
            response: ServiceResponse | TamisError = yield Send(request)
            if isinstance(response, ServiceResponse) and response.status in call.success:
                return call.read(response)
            error = failure(response, call)
            if may_be_executed and call.done is not None and error.code == call.done[0]:
                return call.done[1]
            may_be_executed = may_be_executed or isinstance(error, MAYBE_EXECUTED)
            yield from wait_or_raise(budget, error, call)

    def open(self, call: Call[Any], budget: RetryBudget) -> Flow[None]:
        """Open a call whose response is read in chunks."""
        while True:
            response: ServiceResponse | TamisError = yield Open(self.request(call))
            if isinstance(response, ServiceResponse) and response.status in call.success:
                return
            yield from wait_or_raise(budget, failure(response, call), call)

    def pages(self, call: Call[Page[T]]) -> Feed[T]:
        """Yield the items of all pages."""
        while True:
            page = yield from self.call(call)
            yield page.items
            if page.next is None:
                return
            call = dataclasses.replace(call, query={**call.query, "cursor": page.next})

    def retry_budget(self) -> RetryBudget:
        """Return a full retry budget."""
        return RetryBudget(self.settings.retry_for)


def encoded(value: Any) -> bytes:
    """Return a value as JSON."""
    try:
        return msgspec.json.encode(value, enc_hook=_as_base)
    except (TypeError, ValueError, OverflowError, RecursionError) as bad:
        raise InputError(f"this cannot be written as JSON: {bad}") from None


def _as_base(value: Any) -> Any:
    """Return an instance of a subclass of str, int or float as that type."""
    for base in (str, int, float):
        if isinstance(value, base):
            return base.__str__(value) if base is str else base(value)
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def failure(response: ServiceResponse | TamisError, call: Call[Any]) -> TamisError:
    """Return the error of an unsuccessful response, or the error that replaced it."""
    return refusal(response, call.about) if isinstance(response, ServiceResponse) else response


def wait_or_raise(budget: RetryBudget, error: TamisError, call: Call[Any]) -> Flow[None]:
    """Wait for the next attempt, or raise the error."""
    wait = budget.pause(error) if call.may_retry(error) else None
    if wait is None:
        if budget.attempts > 1:
            error.details["attempts"] = budget.attempts
        raise error
    yield Wait(wait)


def path(*parts: str | int) -> str:
    """Return a path under ``/v1``."""
    return "/v1/" + "/".join(map(str, parts))


def _query(parameters: Mapping[str, str]) -> str:
    try:
        return f"?{urlencode(parameters)}" if parameters else ""
    except UnicodeEncodeError:
        raise InputError("a parameter holds a lone surrogate, which is no text") from None


def _parameter(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
