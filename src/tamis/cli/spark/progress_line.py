"""Shows a running query on a terminal: a line that changes, and a final summary."""

from __future__ import annotations

import sys
import time
from typing import Any

from tamis.cli.support import counted, note


class ProgressLine:
    """Shows batches: on a terminal in one line; in a log, at most one line per ``every`` seconds."""

    def __init__(self, every: float = 10.0) -> None:
        self.batches = self.events = self.rows = 0
        self._every, self._last = every, -every

    def __call__(self, batch: Any) -> None:
        """Show a :class:`tamis.spark.progress.Batch`."""
        from tamis.spark.progress import line_of

        self.batches += 1
        self.events += batch.events
        self.rows += int(batch.numbers.get("rows", 0))
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line_of(batch)}")
            sys.stderr.flush()
        elif time.monotonic() - self._last >= self._every:
            self._last = time.monotonic()
            note(line_of(batch))

    def close(self, where: str) -> None:
        """Show the totals."""
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        rows = f", {counted(self.rows, 'new row')}" if self.rows else ""
        note(
            f"{where}: {counted(self.batches, 'batch', 'batches')}, {counted(self.events, 'row')} read{rows}"
        )
