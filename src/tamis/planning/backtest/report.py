"""Show what a backtest found: as text with bars, as HTML for a notebook, as data for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from tamis.index import display
from tamis.index.refused_events import Refusal

WIDTH = 40  # characters of the longest bar
SHOWN = 60  # periods in the text
_BLOCKS = " ▏▎▍▌▋▊▉█"
_LINE = 160  # characters of an example


class Rows(msgspec.Struct, frozen=True):
    """A number of events, and the first of them with their row numbers."""

    count: int
    first: tuple[tuple[int, dict[str, Any]], ...] = ()


class Period(NamedTuple):
    """A day or an hour in UTC: its events, and the matches of the new and the old expression."""

    start: str
    events: int
    matched: int
    matched_before: int


class Backtest(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a backtest; ``str`` of it is a report, ``as_dict`` is for programs.

    ``matched_before``, ``only_new`` and ``only_old`` compare with the expression in force; they are ``None``
    without one.
    """

    expression: str
    against: str | None
    events: int
    refused: int
    first_refused: tuple[Refusal, ...]
    matched: int
    matched_before: int | None
    examples: Rows
    only_new: Rows | None
    only_old: Rows | None
    time: str | None
    periods: tuple[Period, ...]
    without_time: int

    @property
    def share(self) -> float:
        """The share of the events that match; refused events do not count."""
        understood = self.events - self.refused
        return self.matched / understood if understood else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the result as data for JSON."""

        def rows(found: Rows | None) -> dict[str, Any] | None:
            if found is None:
                return None
            first = [{"row": row, "event": event} for row, event in found.first]
            return {"count": found.count, "first": first}

        return {
            "expression": self.expression,
            "against": self.against,
            "events": self.events,
            "refused": self.refused,
            "first_refused": [
                {"row": one.position, "code": one.code, "message": one.message} for one in self.first_refused
            ],
            "matched": self.matched,
            "share": self.share,
            "matched_before": self.matched_before,
            "examples": rows(self.examples),
            "only_new": rows(self.only_new),
            "only_old": rows(self.only_old),
            "time": self.time,
            "periods": [period._asdict() for period in self.periods],
            "without_time": self.without_time,
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        of = display.many(self.events, "event")
        return f"<Backtest of {self.expression[:80]!r}: {self.matched:,} of {of} match>"

    def _repr_html_(self) -> str:
        rows = [(one.start, one.events, one.matched, one.matched_before) for one in self.periods]
        names = ("", "events", "matched", "in force")
        width = len(names) if self.against is not None else 3
        periods = display.table(names[:width], [row[:width] for row in rows]) if rows else ""
        return display.pairs(dict(self._facts()), self.expression) + periods

    def _facts(self) -> Iterator[tuple[str, str]]:
        refused = f" ({self.refused:,} refused)" if self.refused else ""
        yield "events", f"{self.events:,}{refused}"
        yield "matched", f"{self.matched:,} ({self.share:.3g} of the events)"
        if self.only_new is not None and self.only_old is not None:
            yield "in force", str(self.against)
            yield "", f"{self.matched_before:,} matched"
            yield "only new", f"{self.only_new.count:,}"
            yield "only in force", f"{self.only_old.count:,}"
        if self.without_time:
            yield "no time", f"{self.without_time:,} events without {self.time}"

    def _lines(self) -> Iterator[str]:
        yield f"{'expression':14}{self.expression}"
        for name, fact in self._facts():
            yield f"{name:14}{fact}"
        if self.periods:
            yield ""
            yield from self._bars()
        for title, rows in (
            ("matches", self.examples),
            ("only the new expression matches", self.only_new),
            ("only the expression in force matches", self.only_old),
        ):
            if rows is not None and rows.first:
                yield ""
                yield f"{title}:"
                yield from (f"  row {row}: {_shortened(event)}" for row, event in rows.first)
        if self.first_refused:
            yield ""
            yield "refused:"
            yield from (f"  row {one.position}: {one.code}: {one.message}" for one in self.first_refused)

    def _bars(self) -> Iterator[str]:
        """Yield a line for each period, the latest if there are many."""
        if len(self.periods) > SHOWN:
            yield f"the last {SHOWN} of {len(self.periods):,} periods:"
        shown = self.periods[-SHOWN:]
        most = max(max(one.matched, one.matched_before) for one in shown)
        for one in shown:
            before = f" (in force {one.matched_before:,})" if self.against is not None else ""
            yield f"{one.start:18}{_bar(one.matched, most)} {one.matched:,} of {one.events:,}{before}"


def _bar(count: int, most: int) -> str:
    eighths = round(8 * WIDTH * count / most) if most else 0
    return ("█" * (eighths // 8) + _BLOCKS[eighths % 8].strip()) or "▏"[: min(1, count)]


def _shortened(event: dict[str, Any]) -> str:
    text = json.dumps(event, ensure_ascii=False)
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"
