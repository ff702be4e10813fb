"""Parts of digests, and what a schedule makes of them: which are told now, and which wait until when.

A part is what one subscription got in one tick. Nothing here touches the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from tamis.contract.schedule import AtMost, AtOnce, Schedule, period
from tamis.store.moments import iso
from tamis.values.value import micros_of, moment_of


class Part(NamedTuple):
    """The matches of a subscription in one tick; moments are microseconds."""

    subscription_id: str
    version: int
    start: int
    end: int
    matches: int
    events: str  # JSON: the first of them, in order of time
    id: int | None = None  # where it is kept; ``None``: it has just come


class Told(NamedTuple):
    """Parts that make one digest, and the moment that names it."""

    parts: tuple[Part, ...]
    named: int
    start: int
    end: int


class Verdict(NamedTuple):
    """What becomes of the parts of one subscription."""

    told: list[Told]
    waiting: list[tuple[Part, int]]  # with the moment to look again
    sent: dict[tuple[int, int], int]  # how many digests of a period have been told by now


class Clock(NamedTuple):
    """How far time has come: every part that ends by ``closed`` is here, and no other will come."""

    closed: int
    tick: int

    def whole(self, end: int) -> int:
        """Return the moment from which all parts that begin before ``end`` are here."""
        return -(-end // self.tick) * self.tick


def decide(parts: Iterable[Part], schedule: Schedule, clock: Clock, sent: dict[int, int]) -> Verdict:
    """Share out the parts of one subscription; ``sent`` counts the digests of its unfinished periods."""
    verdict = Verdict([], [], {})
    if isinstance(schedule, AtOnce):
        verdict.told.append(_as_it_comes(tuple(parts)))
        return verdict
    for (start, end), group in _by_period(parts, schedule):
        due = clock.whole(end)
        if isinstance(schedule, AtMost):
            _limited(verdict, group, schedule, (start, end), due <= clock.closed, due, sent.get(start, 0))
        elif due <= clock.closed:
            verdict.told.append(Told(group, start, start, end))
        else:
            verdict.waiting.extend((part, due) for part in group)
    return verdict


def _limited(
    verdict: Verdict,
    group: tuple[Part, ...],
    schedule: AtMost,
    span: tuple[int, int],
    is_over: bool,
    due: int,
    sent: int,
) -> None:
    """Tell what comes while that leaves one digest for the rest of the period."""
    if is_over:
        verdict.told.append(_as_it_comes(group))
    elif sent < schedule.number - 1:
        verdict.told.append(_as_it_comes(group))
        verdict.sent[span] = sent + 1
    else:
        verdict.waiting.extend((part, due) for part in group)


def _as_it_comes(parts: tuple[Part, ...]) -> Told:
    start = min(part.start for part in parts)
    return Told(parts, start, start, max(part.end for part in parts))


def _by_period(
    parts: Iterable[Part], schedule: Schedule
) -> Iterator[tuple[tuple[int, int], tuple[Part, ...]]]:
    def span(part: Part) -> tuple[int, int]:
        start, end = period(schedule, moment_of(part.start))
        return micros_of(start), micros_of(end)

    for key, group in groupby(sorted(parts, key=lambda part: part.start), span):
        yield key, tuple(group)


def digest_text(told: Told, most_events: int) -> str:
    """Return a digest as JSON: from, to, count, and the first events in order of time."""
    events: list[dict[str, Any]] = []
    for part in told.parts:
        events += msgspec.json.decode(part.events)
    events.sort(key=lambda event: (event.get("event_time", ""), event["event_id"]))
    count = sum(part.matches for part in told.parts)
    body = {"from": iso(told.start), "to": iso(told.end), "count": count, "events": events[:most_events]}
    return msgspec.json.encode(body).decode()


def name_of(moment: int) -> str:
    """Return the event id of a digest."""
    return f"digest/{iso(moment)}"
