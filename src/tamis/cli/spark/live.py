"""A running query on a terminal: a line that changes, and a last word."""

from __future__ import annotations

import sys
import time
from typing import Any

from tamis.cli.support import counted, note

_EVERY_S = 10.0  # where the line cannot be overwritten, in a log, it comes this often


class LiveLine:
    """Shows batches: on a terminal in place, elsewhere now and then."""

    def __init__(self) -> None:
        self.batches = self.events = self.rows = 0
        self._last = -_EVERY_S

    def __call__(self, batch: Any) -> None:
        """Show a :class:`tamis.spark.progress.Batch`."""
        from tamis.spark.progress import line_of

        self.batches += 1
        self.events += batch.events
        self.rows += int(batch.numbers.get("rows", 0))
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line_of(batch)}")
            sys.stderr.flush()
        elif time.monotonic() - self._last >= _EVERY_S:
            self._last = time.monotonic()
            note(line_of(batch))

    def close(self, where: str) -> None:
        """The sum of it all."""
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        rows = f", {counted(self.rows, 'new row')}" if self.rows else ""
        note(
            f"{where}: {counted(self.batches, 'batch', 'batches')}, {counted(self.events, 'row')} read{rows}"
        )
