"""Match an expression with stored events, beside the expression in force, and count by day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.errors import InputError
from tamis.index.batches import PieceEvents, pieces
from tamis.index.index import Index
from tamis.index.refused_events import Refusal
from tamis.language import expression_from, to_text
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.planning.backtest.periods import NO_TIME, Periods, times_of
from tamis.planning.backtest.report import Backtest, Rows
from tamis.values.event import Event, tagged

Marks = npt.NDArray[np.bool_]

ROWS = 65_536  # events that are matched at a time
EXAMPLES = 10
_NEW, _OLD = "new", "old"


def backtest(
    expression: Any,
    events: Any,
    *,
    against: Any = None,
    time: str | None = None,
    examples: int = EXAMPLES,
    analysers: Mapping[str, str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int | None], None] | None = None,
) -> Backtest:
    """Return how many of ``events`` an expression matches, by period, with examples.

    ``events`` has any form that ``match_batches`` takes. ``against`` is the expression in force: the result
    then has the difference, too. ``time`` names the attribute with the time of an event: a time, a date, or
    such a string in ISO 8601. Events that are refused, and events without a time, are counted apart.
    """
    if type(examples) is not int or examples < 0:
        raise InputError(f"examples is a whole number from 0, not {examples!r}")
    book = {_NEW: expression_from(expression, limits)}
    if against is not None:
        book[_OLD] = expression_from(against, limits)
    run = _Run(Index.build(book, analysers=analysers, limits=limits), time, examples)
    for piece in pieces(events, ROWS, limits):
        run.match(piece)
        if progress is not None:
            progress(run.events, None)
    texts = {name: to_text(tree) for name, tree in book.items()}
    return run.result(texts[_NEW], texts.get(_OLD), time)


class _Run:
    """The counts of one backtest."""

    def __init__(self, index: Index, time: str | None, examples: int) -> None:
        self._index, self._time = index, time
        self.events = self.refused = self.matched = self.matched_before = 0
        self._refusals: list[Refusal] = []
        self._most = examples
        self._is_compared = len(index) > 1
        self._new, self._only_new, self._only_old = (_Examples(examples) for _ in range(3))
        self._periods = Periods()

    def match(self, piece: Any) -> None:
        """Match one piece and count it."""
        found = self._index.match_many(piece, on_error="skip")
        size = found.events
        first, self.events = self.events, self.events + size
        self.refused += len(found.refused)
        for one in found.refused[: self._most - len(self._refusals)]:
            self._refusals.append(one._replace(position=one.position + first))
        new, old = (self._marks(found, name, size) for name in (_NEW, _OLD))
        self.matched += int(new.sum())
        self.matched_before += int(old.sum())
        event_at = PieceEvents(piece, self._index.limits)
        self._new.take(new, first, event_at)
        if self._is_compared:
            self._only_new.take(new & ~old, first, event_at)
            self._only_old.take(old & ~new, first, event_at)
        if self._time is not None:
            moments = times_of(piece, self._time, event_at)
            moments[[one.position for one in found.refused]] = NO_TIME
            self._periods.count(moments, new, old)

    @staticmethod
    def _marks(found: Any, name: str, size: int) -> Marks:
        marks = np.zeros(size, np.bool_)
        pairs = found.table
        named = np.asarray(pairs["subscription"].to_numpy()) == name
        marks[pairs["event"].to_numpy()[named]] = True
        return marks

    def result(self, text: str, against: str | None, time: str | None) -> Backtest:
        """Return the counts as a report."""
        is_compared = against is not None
        return Backtest(
            expression=text,
            against=against,
            events=self.events,
            refused=self.refused,
            first_refused=tuple(self._refusals),
            matched=self.matched,
            matched_before=self.matched_before if is_compared else None,
            examples=self._new.rows(),
            only_new=self._only_new.rows() if is_compared else None,
            only_old=self._only_old.rows() if is_compared else None,
            time=time,
            periods=self._periods.rows() if time is not None else (),
            without_time=self._periods.without_time - self.refused if time is not None else 0,
        )


class _Examples:
    """The number of some events, and the first of them."""

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._kept: list[tuple[int, dict[str, Any]]] = []

    def take(self, marks: Marks, first: int, event_at: PieceEvents) -> None:
        """Count the marked events of a piece; keep them while there is room."""
        self._count += int(marks.sum())
        for row in np.flatnonzero(marks)[: self._most - len(self._kept)].tolist():
            self._kept.append((first + row, _as_json(event_at(row))))

    def rows(self) -> Rows:
        """Return them for the report."""
        return Rows(self._count, tuple(self._kept))


def _as_json(event: Event) -> dict[str, Any]:
    """Return the attributes as JSON writes them; one value stands without a list."""
    written = ((name, [tagged(value) for value in values]) for name, values in event.attributes.items())
    return {name: values[0] if len(values) == 1 else values for name, values in written}
