"""Report how much work a result took, so that pruning can be tested and watched."""

from __future__ import annotations

from operator import add
from typing import NamedTuple

from tamis.index.display import pairs


class WorkReport(NamedTuple):
    """The counts of one match call."""

    events: int = 0
    located: int = 0  # cells that event values were located in
    candidates: int = 0  # postings looked at
    verified: int = 0  # clauses whose literals were checked
    revised: int = 0  # subscriptions whose tree was evaluated
    matches: int = 0
    visited: int = 0  # lists, nodes or cells that the engine looked up
    audited: int = 0  # events that the tree evaluator decided again
    advice: tuple[str, ...] = ()  # lines for a person, such as an attribute that no event has

    def _repr_html_(self) -> str:
        return pairs(self._asdict(), "work")

    def plus(self, other: WorkReport) -> WorkReport:
        """Return the sum of two reports."""
        return WorkReport._make(map(add, self, other))


COUNTERS = tuple(name for name in WorkReport._fields if name != "advice")
