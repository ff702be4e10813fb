"""Reports the result of each line of a streamed request, after the whole body has been read.

Most clients send a complete body before they read the response. A response sent during the upload could fill
the connection and block both sides, so the report waits in memory or, if it is long, in a temporary file.
"""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec
from starlette.responses import StreamingResponse

from tamis.errors import InternalError, StoreError, StoreUnavailable, TamisError
from tamis.service import bodies
from tamis.service.bodies import NDJSON, Line
from tamis.service.operation import Call
from tamis.service.schemas.subscriptions import Fault
from tamis.service.service import Service

IN_MEMORY = 1024 * 1024
CHUNK = 256 * 1024

S = TypeVar("S")
T = TypeVar("T")
_encode = msgspec.json.Encoder().encode
_log = logging.getLogger(__name__)


class Report:
    """The outcome of each line, and the number of lines for each outcome."""

    def __init__(self, only_refused: bool = False) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (closed after the response)
        self._only_refused = only_refused
        self.counts: Counter[str] = Counter()
        self.last = 0  # the last line with an outcome

    def add(self, line: int, status: str, warnings: Sequence[Fault] = (), **more: Any) -> None:
        """Record the outcome of a line."""
        self._count(line, status)
        entry = {"line": line, "status": status, **more} | ({"warnings": warnings} if warnings else {})
        if not self._only_refused or warnings or status in ("refused", "conflict"):
            self._file.write(_encode(entry) + b"\n")

    def refuse(self, line: int, error: TamisError, is_quiet: bool = False) -> None:
        """Record a refused line and the reason; if ``is_quiet``, only count it."""
        if is_quiet:
            self._count(line, "refused")
        else:
            self.add(line, "refused", **error.as_dict())

    def _count(self, line: int, status: str) -> None:
        self.counts[status] += 1
        self.last = max(self.last, line)

    async def fill(
        self,
        call: Call,
        prepare: Callable[[list[Line]], Awaitable[T]],
        finish: Callable[[T], Awaitable[None]],
    ) -> None:
        """Prepare and finish all lines of a request; an error names the last finished line."""
        try:
            await bodies.pipelined(bodies.lines(call.request, call.service.limits), prepare, finish)
        except TamisError as bad:
            self.close()
            bad.details["lines"] = self.last
            raise

    def response(self, service: Service, status: int) -> StreamingResponse:
        """Return the report as a response; its last line has the totals."""
        self._file.write(_encode({"summary": dict(self.counts)}) + b"\n")
        return StreamingResponse(self._chunks(service), status, media_type=NDJSON)

    async def _chunks(self, service: Service) -> AsyncIterator[bytes]:
        self._file.seek(0)
        try:
            while chunk := await service.in_thread(self._file.read, CHUNK):
                yield chunk
        finally:
            self._file.close()

    def close(self) -> None:
        """Discard the report."""
        self._file.close()


def defect() -> InternalError:
    """Log the exception in progress, and return the error that refuses its line."""
    _log.exception("a line failed: this is a defect")
    return InternalError("the service failed on this line; its log says why, under the id of the request")


async def written(
    items: list[S], write: Callable[[list[S]], Awaitable[Sequence[T | TamisError]]]
) -> list[T | TamisError]:
    """Write all items at once, and return the outcome of each.

    If one item makes the whole write fail, each item is written separately, and only that one is refused.
    """
    try:
        return list(await write(items))
    except StoreUnavailable:
        raise
    except Exception as bad:
        if isinstance(bad, TamisError) and not isinstance(bad, StoreError):
            raise
        if len(items) == 1:
            return [defect()]
    return [one for item in items for one in await written([item], write)]
