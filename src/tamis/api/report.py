"""The report on a stream of lines: written while they are read, sent when all are.

Most clients send a whole body before they read an answer. A report that was sent meanwhile could fill the
connection and stop both, so it waits in memory or, when it is long, in a temporary file.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.responses import StreamingResponse

from tamis.api.bodies import NDJSON
from tamis.api.service import Service
from tamis.errors import TamisError

IN_MEMORY = 1024 * 1024
PIECE = 256 * 1024

_encode = msgspec.json.Encoder().encode


class Report:
    """What became of each line, and how many of each."""

    def __init__(self, only_refused: bool = False) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (closed when it is sent)
        self._only_refused = only_refused
        self.counts: Counter[str] = Counter()
        self.last = 0  # the last line that something is known of

    def add(self, line: int, status: str, **more: Any) -> None:
        """Note one line."""
        self.counts[status] += 1
        self.last = max(self.last, line)
        if not self._only_refused or status in ("refused", "conflict"):
            self._file.write(_encode({"line": line, "status": status, **more}) + b"\n")

    def refuse(self, line: int, error: TamisError) -> None:
        """Note a line that was refused, and why."""
        self.add(line, "refused", **error.as_dict())

    def sent(self, service: Service, status: int) -> StreamingResponse:
        """The report as an answer; the last line has the sums."""
        self._file.write(_encode({"summary": dict(self.counts)}) + b"\n")
        return StreamingResponse(self._pieces(service), status, media_type=NDJSON)

    async def _pieces(self, service: Service) -> AsyncIterator[bytes]:
        self._file.seek(0)
        try:
            while piece := await service.in_thread(self._file.read, PIECE):
                yield piece
        finally:
            self._file.close()

    def close(self) -> None:
        """Drop it unsent."""
        self._file.close()
