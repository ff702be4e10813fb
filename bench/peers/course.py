"""The course that every peer runs: build, warm up, then timed passes over as many events as time allows.

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
"""A build stops, with the subscriptions it has, after so many times the budget."""


class Peer(Protocol):
    """A matcher written in Python, or driven from it."""

    batch: int
    """How many events a call takes."""

    def add(self, number: int, predicates: tuple[Predicate, ...]) -> None:
        """Take a subscription."""

    def ready(self) -> None:
        """Finish building."""

    def prepare(self, events: Sequence[tuple[int, ...]]) -> Any:
        """``events`` in the form that :meth:`match` wants; not timed."""

    def match(self, prepared: Any) -> Any:
        """Return the answer in the form that is natural to the peer; timed."""

    def ids(self, answer: Any, count: int) -> list[list[int]]:
        """What is in an answer: the subscriptions of each of the ``count`` events; not timed."""

    def version(self) -> str:
        """Return which release this is."""


@dataclass(frozen=True)
class Outcome:
    """What a peer reports, as one line of JSON."""

    version: str
    subscriptions: int
    build_s: float
    events: int
    repeats: int
    us_per_event: float
    us_per_event_best: float
    matches: int


def run(peer: Peer, content: Content, budget_s: float, answers: Path) -> Outcome:
    """Put ``peer`` through the course; its answers go to ``answers``, a line of ids per event."""
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
    """Return the answers of the first pass, which half of the budget may cut short, and what each pass
    took."""
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
    """Return the line of JSON."""
    return json.dumps(asdict(outcome))
