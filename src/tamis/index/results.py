"""Define the results that users get: the ids of one event, and the table of many."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tamis.expression.highlight import Highlights
from tamis.index import display
from tamis.index.refused_events import Refusal
from tamis.index.work import WorkReport


class Matches(list[str]):
    """The ids that an event matches; ``work`` reports the work of finding them.

    ``highlights`` has the highlights of each id, if ``match`` was asked for them.
    """

    def __init__(
        self, ids: list[str], work: WorkReport, highlights: dict[str, Highlights] | None = None
    ) -> None:
        super().__init__(ids)
        self.work, self.highlights = work, highlights

    def _repr_html_(self) -> str:
        return display.table(("subscription",), [(name,) for name in self], display.many(len(self), "match"))


class MatchTable:
    """All matches of many events.

    ``table`` is an Arrow table (event, subscription). All its methods and attributes work here, too, and
    libraries that read Arrow take the whole object. ``refused`` lists the events that were not understood
    (position, id, code, message), ``work`` reports the work, and ``events`` is the number of events.
    """

    def __init__(self, table: pa.Table, refused: list[Refusal], work: WorkReport, events: int) -> None:
        self.table, self.refused, self.work, self.events = table, refused, work, events

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also stops copying and pickling from reading `table` too early
            raise AttributeError(name)
        return getattr(self.table, name)

    def __getitem__(self, key: Any) -> Any:
        return self.table[key]

    def __len__(self) -> int:
        return len(self.table)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MatchTable | pa.Table) and self.equals(other)

    def equals(self, other: Any, check_metadata: bool = False) -> bool:
        """Return whether ``other`` has the same matches in the same order (as for Arrow tables)."""
        theirs = other.table if isinstance(other, MatchTable) else other
        return bool(self.table.equals(theirs, check_metadata=check_metadata))

    __hash__ = None  # type: ignore[assignment]  # like the table

    def __repr__(self) -> str:
        return f"<tamis.MatchTable: {self._summary()}>"

    def _repr_html_(self) -> str:
        columns = self.table.slice(0, display.ROWS).to_pydict()
        return display.table(tuple(columns), list(zip(*columns.values(), strict=True)), self._summary())

    def _summary(self) -> str:
        matches, events = display.many(len(self.table), "match"), display.many(self.events, "event")
        return f"{matches} of {events}, {len(self.refused):,} refused"
