"""The report on a stream of lines: written while they are read, sent when all are.

Most clients send a whole body before they read an answer. A report that was sent meanwhile could fill the
connection and stop both, so it waits in memory or, when it is long, in a temporary file.
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
from tamis.service.bodies import NDJSON
from tamis.service.schemas.subscriptions import Fault
from tamis.service.service import Service

IN_MEMORY = 1024 * 1024
PIECE = 256 * 1024

S = TypeVar("S")
T = TypeVar("T")
_encode = msgspec.json.Encoder().encode
_log = logging.getLogger(__name__)


class Report:
    """What became of each line, and how many of each."""

    def __init__(self, only_refused: bool = False) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (closed when it is sent)
        self._only_refused = only_refused
        self.counts: Counter[str] = Counter()
        self.last = 0  # the last line that something is known of

    def add(self, line: int, status: str, warnings: Sequence[Fault] = (), **more: Any) -> None:
        """Note one line."""
        self._count(line, status)
        told = {"line": line, "status": status, **more} | ({"warnings": warnings} if warnings else {})
        if not self._only_refused or warnings or status in ("refused", "conflict"):
            self._file.write(_encode(told) + b"\n")

    def refuse(self, line: int, error: TamisError, is_quiet: bool = False) -> None:
        """Note a line that was refused, and why; a quiet one is only counted."""
        if is_quiet:
            self._count(line, "refused")
        else:
            self.add(line, "refused", **error.as_dict())

    def _count(self, line: int, status: str) -> None:
        self.counts[status] += 1
        self.last = max(self.last, line)

    def sent(self, service: Service, status: int) -> StreamingResponse:
        """Return the report as an answer; the last line has the sums."""
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


def defect() -> InternalError:
    """Log the exception that is being handled, and return what its line is refused with."""
    _log.exception("a line failed: this is a defect")
    return InternalError("the service failed on this line; its log says why, under the id of the request")


async def written(
    items: list[S], write: Callable[[list[S]], Awaitable[Sequence[T | TamisError]]]
) -> list[T | TamisError]:
    """Write all items at once and return what became of each.

    If one of them makes the whole fail, each is written by itself and only that one is refused.
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
