"""Run the course of every peer: build, warm up, then timed passes over as many events as time allows.

The programs in Java and Rust run the same course; README.md describes it once for all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.peers.common_file import Content, Predicate

BUILD_BUDGETS = 4
"""A build stops, with the subscriptions it has, after this many times the budget."""


class Peer(Protocol):
    """A matcher written in Python, or driven from it."""

    batch: int
    """The number of events that a call takes."""

    def add(self, number: int, predicates: tuple[Predicate, ...]) -> None:
        """Add a subscription."""

    def ready(self) -> None:
        """Finish building."""

    def prepare(self, events: Sequence[tuple[int, ...]]) -> Any:
        """Return ``events`` in the form that :meth:`match` takes; not timed."""

    def match(self, prepared: Any) -> Any:
        """Return the answer in the form that is natural to the peer; timed."""

    def ids(self, answer: Any, count: int) -> list[list[int]]:
        """Return the subscriptions of each of the ``count`` events in an answer; not timed."""

    def version(self) -> str:
        """Return the release of the peer."""


@dataclass(frozen=True)
class Outcome:
    """The report of a peer, as one line of JSON."""

    version: str
    subscriptions: int
    build_s: float
    events: int
    repeats: int
    us_per_event: float
    us_per_event_best: float
    matches: int


def run(peer: Peer, content: Content, budget_s: float, answers: Path) -> Outcome:
    """Run ``peer`` through the course; write its answers to ``answers``, a line of ids per event."""
    count, build_s = _build(peer, content, budget_s)
    size = peer.batch
    parts = [content.events[at : at + size] for at in range(0, len(content.events), size)]
    steps = [peer.prepare(part) for part in parts]
    _warm_up(peer, steps, budget_s / 4)
    found, passes = _passes(peer, steps, budget_s)
    ids = [row for answer, part in zip(found, parts, strict=False) for row in peer.ids(answer, len(part))]
    answers.write_text("".join(" ".join(map(str, sorted(row))) + "\n" for row in ids), encoding="ascii")
    each = [spent / len(ids) * 1e6 for spent in passes]
    mean = sum(each) / len(each)
    matches = sum(map(len, ids))
    return Outcome(peer.version(), count, build_s, len(ids), len(each), mean, min(each), matches)


def _build(peer: Peer, content: Content, budget_s: float) -> tuple[int, float]:
    start = time.perf_counter()
    count = 0
    for number, predicates in enumerate(content.subscriptions):
        peer.add(number, predicates)
        count += 1
        if time.perf_counter() - start > BUILD_BUDGETS * budget_s:
            break
    peer.ready()
    return count, time.perf_counter() - start


def _warm_up(peer: Peer, steps: list[Any], seconds: float) -> None:
    end = time.perf_counter() + seconds
    for step in steps:
        peer.match(step)
        if time.perf_counter() > end:
            return


def _passes(peer: Peer, steps: list[Any], budget_s: float) -> tuple[list[Any], list[float]]:
    """Return the answers of the first pass, and the time of each pass.

    Half of the budget may cut the first pass short.
    """
    begin = time.perf_counter()
    found: list[Any] = []
    for step in steps:
        found.append(peer.match(step))
        if time.perf_counter() - begin > budget_s / 2:
            break
    passes = [time.perf_counter() - begin]
    while time.perf_counter() - begin + passes[-1] < budget_s:
        start = time.perf_counter()
        for step in steps[: len(found)]:
            peer.match(step)
        passes.append(time.perf_counter() - start)
    return found, passes


def as_line(outcome: Outcome) -> str:
    """Return the outcome as a line of JSON."""
    return json.dumps(asdict(outcome))
