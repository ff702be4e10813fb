"""Parsers for responses that arrive in chunks: lines and server-sent events."""

from __future__ import annotations

from typing import NamedTuple


class LineParser:
    """Splits chunks of bytes into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in this chunk, without their line breaks."""
        *ended, self._rest = (self._rest + chunk).split(b"\n")
        return [line.removesuffix(b"\r") for line in ended]

    @property
    def is_whole(self) -> bool:
        """Whether the last line was complete."""
        return not self._rest


class ServerSentEvent(NamedTuple):
    """A server-sent event."""

    kind: str
    data: bytes


class ServerSentEventParser:
    """Parses chunks of bytes into server-sent events; keeps the last id and the reconnection delay."""

    def __init__(self) -> None:
        self._lines, self._kind, self._data = LineParser(), "message", list[bytes]()
        # The id of the event being parsed, which counts once the event is complete.
        self._id: str | None = None
        self.last: str | None = None
        self.retry: float | None = None  # seconds

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that end in this chunk."""
        return [sent for line in self._lines.feed(chunk) for sent in self._line(line)]

    def _line(self, line: bytes) -> list[ServerSentEvent]:
        if not line:
            ended = [ServerSentEvent(self._kind, b"\n".join(self._data))] if self._data else []
            self._kind, self._data, self.last = "message", [], self._id
            return ended
        name, _, value = line.partition(b":")
        self._field(name, value.removeprefix(b" "))
        return []

    def _field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._kind = value.decode()
        elif name == b"id":
            self._id = value.decode()
        elif name == b"retry" and value.isdigit():
            self.retry = int(value) / 1_000
