"""Answers that come in pieces: lines, and server-sent events."""

from __future__ import annotations

from typing import NamedTuple


class Lines:
    """Bytes into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that end in this piece, without their ends."""
        *ended, self._rest = (self._rest + piece).split(b"\n")
        return [line.removesuffix(b"\r") for line in ended]

    @property
    def is_whole(self) -> bool:
        """Whether the last line had an end."""
        return not self._rest


class Sent(NamedTuple):
    """A server-sent event."""

    kind: str
    data: bytes


class Events:
    """Bytes into server-sent events; remembers the last id, and how long to wait before coming again."""

    def __init__(self) -> None:
        self._lines, self._kind, self._data = Lines(), "message", list[bytes]()
        self._id: str | None = None  # of what has begun: it counts when that has ended
        self.last: str | None = None
        self.retry: float | None = None  # seconds

    def feed(self, piece: bytes) -> list[Sent]:
        """Return the events that end in this piece."""
        return [sent for line in self._lines.feed(piece) for sent in self._line(line)]

    def _line(self, line: bytes) -> list[Sent]:
        if not line:
            ended = [Sent(self._kind, b"\n".join(self._data))] if self._data else []
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
