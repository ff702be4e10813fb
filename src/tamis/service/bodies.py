"""Reads request bodies within their limits; a body that is too long is refused before all of it is read."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.types import Scope

from tamis.errors import EventSyntax, MediaType, RequestInvalid, RequestTimeout, RequestTooLarge
from tamis.limits import Limits
from tamis.values.jsontext import NOT_JSON, refusal_of, repeated_name, twice

JSON, NDJSON, MERGE_PATCH = "application/json", "application/x-ndjson", "application/merge-patch+json"

S = TypeVar("S")
T = TypeVar("T")
_PLACE = re.compile(r"(?:field `(.*?)`)?(?: - at `([^`]*)`)?$")


class Line(NamedTuple):
    """A line of a streamed body; ``text`` is ``None`` if the line was too long to keep."""

    number: int
    text: bytes | None


def header(scope: Scope, name: bytes) -> str | None:
    """Return a header that may occur only once; the middleware has put all headers into a dictionary."""
    found: bytes | None = scope["state"]["headers"].get(name)
    return None if found is None else found.decode("latin-1")


def media_of(scope: Scope, allowed: tuple[str, ...]) -> str:
    """Return the media type of a body, which must be one of those allowed; the default is JSON."""
    if (header(scope, b"content-encoding") or "identity").strip().lower() != "identity":
        raise MediaType("bodies are not decompressed here; send it as it is", allowed=list(allowed))
    said = header(scope, b"content-type") or JSON
    if said in allowed:
        return said
    media, _, more = said.partition(";")
    media = media.strip().lower()
    charset = re.search(r'charset\s*=\s*"?([^\s";]+)', more, re.IGNORECASE | re.ASCII)
    if media not in allowed or (charset and charset[1].lower() not in ("utf-8", "utf8")):
        raise MediaType(
            f"a body of {said[:80]} is not read here; send {' or '.join(allowed)} in UTF-8",
            allowed=list(allowed),
        )
    return media


async def read_whole(request: Request, limits: Limits) -> bytes:
    """Return the complete body."""
    chunks = [chunk async for chunk in _chunks(request, limits.request_bytes, "request_bytes", limits)]
    return b"".join(chunks)


async def lines(request: Request, limits: Limits) -> AsyncIterator[list[Line]]:
    """Yield the lines of a body in groups as they arrive, without blank lines."""
    splitter = _Splitter(limits.line_bytes)
    async for chunk in _chunks(request, limits.lines_bytes, "lines_bytes", limits):
        if found := splitter.feed(chunk):
            yield found
    if found := splitter.end():
        yield found


async def pipelined(
    groups: AsyncIterator[S], prepare: Callable[[S], Awaitable[T]], finish: Callable[[T], Awaitable[None]]
) -> None:
    """Prepare each group while the previous one is being finished; never leave one half-finished."""
    finishing: asyncio.Future[None] | None = None
    try:
        async for group in groups:
            ready = await prepare(group)
            if finishing is not None:
                await finishing
            finishing = asyncio.ensure_future(finish(ready))
    finally:
        if finishing is not None:
            await finishing


def long_line(limits: Limits) -> RequestTooLarge:
    """Return the error for a line that is too long."""
    return RequestTooLarge(f"the line has more than line_bytes = {limits.line_bytes}", limit="line_bytes")


def decoded(
    text: bytes,
    decoder: msgspec.json.Decoder[T],
    what: str = "the body",
    attributes: Callable[[T], msgspec.Raw] | None = None,
) -> T:
    """Decode JSON as an object of the decoder's type, or raise an error that names the faulty field.

    ``attributes`` returns an event's attributes within the object, which are not examined here. With
    ``attributes``, a text that is not JSON raises the same error as an invalid event.
    """
    try:
        found = decoder.decode(text)
        around = text if attributes is None else _around(text, bytes(attributes(found)))
        name = repeated_name(around, msgspec.json.decode(around))
    except msgspec.ValidationError as bad:
        raise RequestInvalid(f"{what} does not fit: {bad}", **_place(str(bad))) from None
    except NOT_JSON as bad:
        why = refusal_of(text, what, bad)
        raise RequestInvalid(why.message) if attributes is None else why from None
    if name is not None:
        raise (RequestInvalid if attributes is None else EventSyntax)(twice(name))
    return found


def _around(text: bytes, attributes: bytes) -> bytes:
    """Return a text without an event's attributes; attributes that are not an object are refused later."""
    return text.replace(attributes, b"null", 1) if attributes.startswith(b"{") else b"null"


def converted(values: dict[str, Any], kind: type[T], what: str) -> T:
    """Convert query parameters to an object, or raise an error that names the faulty parameter."""
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as bad:
        raise RequestInvalid(f"{what}: {bad}", **_place(str(bad))) from None


def _place(said: str) -> dict[str, str]:
    """Return the field that msgspec names: ``$.delivery`` and ``url`` become ``delivery.url``."""
    found = _PLACE.search(said)
    field, path = found.groups() if found else (None, None)
    parts = [part for part in ((path or "").removeprefix("$").strip("."), field) if part]
    return {"field": ".".join(parts)} if parts else {}


async def _chunks(request: Request, most: int, limit: str, limits: Limits) -> AsyncIterator[bytes]:
    said = header(request.scope, b"content-length") or ""
    if said.isdecimal() and int(said) > most:
        raise _too_large(f"the body has {int(said):,} bytes", limit, most)
    stream, seen, deadline = request.stream(), 0, BodyDeadline(limits)
    while True:
        began = time.monotonic()  # the time that we spend between two chunks is not charged to the sender
        try:
            async with asyncio.timeout(deadline.left):
                chunk = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise deadline.end() from None
        except ClientDisconnect:
            raise RequestInvalid("the connection ended within the body") from None
        deadline.spend(time.monotonic() - began, len(chunk))
        seen += len(chunk)
        if seen > most:
            raise _too_large(f"the body has more than {most:,} bytes", limit, most)
        if chunk:
            yield chunk


def _too_large(said: str, limit: str, most: int) -> RequestTooLarge:
    return RequestTooLarge(f"{said}; {limit} = {most}", limit=limit)


class BodyDeadline:
    """The time left to receive a body: received bytes extend it in proportion to their number.

    So a long body may take hours over a slow connection, but a client cannot hold a slot by sending a byte
    now and then.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.left = float(limits.request_seconds)

    def spend(self, seconds: float, size: int) -> None:
        """Subtract the seconds of a wait and add the time earned by the bytes received."""
        earned = size / self._limits.body_bytes_per_second
        self.left = min(self._limits.request_seconds, max(0.0, self.left - seconds) + earned)

    def end(self) -> RequestTimeout:
        """Return the error for a body that was too slow."""
        seconds, rate = self._limits.request_seconds, self._limits.body_bytes_per_second
        return RequestTimeout(
            f"the body came too slowly: nothing for request_seconds = {seconds}, or fewer than "
            f"body_bytes_per_second = {rate}",
            limit="request_seconds",
        )


class _Splitter:
    """Splits the chunks of a body into lines; keeps only the number of a line that is too long."""

    def __init__(self, most: int) -> None:
        self._most, self._number = most, 1
        self._rest, self._too_long = b"", False

    def feed(self, chunk: bytes) -> list[Line]:
        """Return the lines that end in this chunk."""
        *ended, rest = (self._rest + chunk).split(b"\n") if not self._too_long else chunk.split(b"\n")
        found = []
        for text in ended:
            found += self._line(text)
        self._rest = rest
        if len(rest) > self._most:
            self._rest, self._too_long = b"", True
        elif self._too_long:
            self._rest = b""
        return found

    def end(self) -> list[Line]:
        """Return the last line, which may lack a line break."""
        return self._line(self._rest) if self._rest or self._too_long else []

    def _line(self, text: bytes) -> list[Line]:
        number, too_long = self._number, self._too_long or len(text) > self._most
        self._number, self._too_long = number + 1, False
        if too_long:
            return [Line(number, None)]
        return [Line(number, text)] if text.strip() else []
