"""Plans digests: which parts a schedule sends now, and until when the others wait.

A part holds the matches of one subscription in one tick. This module does not access the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from tamis.contract.schedule import AtMost, AtOnce, Schedule, period
from tamis.store.timestamps import iso
from tamis.values.value import micros_of, moment_of


class Part(NamedTuple):
    """The matches of a subscription in one tick; times are microseconds."""

    subscription_id: str
    version: int
    start: int
    end: int
    matches: int
    events: str  # JSON: the first of them, in order of time
    id: int | None = None  # id of a stored part; ``None`` for a new one


class Digest(NamedTuple):
    """The parts of one digest, and the time that names it."""

    parts: tuple[Part, ...]
    named: int
    start: int
    end: int


class DigestPlan(NamedTuple):
    """The plan for the parts of one subscription."""

    digests: list[Digest]
    waiting: list[tuple[Part, int]]  # with the time to examine them again
    sent: dict[tuple[int, int], int]  # digests written so far in each period


class Clock(NamedTuple):
    """The digest time: all parts that end by ``closed`` have arrived, and no other will."""

    closed: int
    tick: int

    def whole(self, end: int) -> int:
        """Return the time at which all parts that begin before ``end`` have arrived."""
        return -(-end // self.tick) * self.tick


def plan_digests(parts: Iterable[Part], schedule: Schedule, clock: Clock, sent: dict[int, int]) -> DigestPlan:
    """Plan the digests of one subscription; ``sent`` counts the digests of its unfinished periods."""
    plan = DigestPlan([], [], {})
    if isinstance(schedule, AtOnce):
        plan.digests.append(_as_it_comes(tuple(parts)))
        return plan
    for (start, end), group in _by_period(parts, schedule):
        due = clock.whole(end)
        if isinstance(schedule, AtMost):
            _limited(plan, group, schedule, (start, end), due <= clock.closed, due, sent.get(start, 0))
        elif due <= clock.closed:
            plan.digests.append(Digest(group, start, start, end))
        else:
            plan.waiting.extend((part, due) for part in group)
    return plan


def _limited(
    plan: DigestPlan,
    group: tuple[Part, ...],
    schedule: AtMost,
    span: tuple[int, int],
    is_over: bool,
    due: int,
    sent: int,
) -> None:
    """Send at once while that leaves one digest for the rest of the period."""
    if is_over:
        plan.digests.append(_as_it_comes(group))
    elif sent < schedule.number - 1:
        plan.digests.append(_as_it_comes(group))
        plan.sent[span] = sent + 1
    else:
        plan.waiting.extend((part, due) for part in group)


def _as_it_comes(parts: tuple[Part, ...]) -> Digest:
    start = min(part.start for part in parts)
    return Digest(parts, start, start, max(part.end for part in parts))


def _by_period(
    parts: Iterable[Part], schedule: Schedule
) -> Iterator[tuple[tuple[int, int], tuple[Part, ...]]]:
    def span(part: Part) -> tuple[int, int]:
        start, end = period(schedule, moment_of(part.start))
        return micros_of(start), micros_of(end)

    for key, group in groupby(sorted(parts, key=lambda part: part.start), span):
        yield key, tuple(group)


def digest_text(digest: Digest, most_events: int) -> str:
    """Return a digest as JSON: from, to, count, and the first events in order of time."""
    events: list[dict[str, Any]] = []
    for part in digest.parts:
        events += msgspec.json.decode(part.events)
    events.sort(key=lambda event: (event.get("event_time", ""), event["event_id"]))
    count = sum(part.matches for part in digest.parts)
    body = {"from": iso(digest.start), "to": iso(digest.end), "count": count, "events": events[:most_events]}
    return msgspec.json.encode(body).decode()


def name_of(moment: int) -> str:
    """Return the event id of a digest."""
    return f"digest/{iso(moment)}"
