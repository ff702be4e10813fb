"""Interpret the curves: growth, bends, and the distance to the hardware's limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Point = Mapping[str, Any]
MOST_GROWTH = 3.0
"""From one million subscriptions to ten, at a constant number of matches."""


LEAST_BEND = 0.1
"""Powers that differ by less count as equal."""


class Growth(NamedTuple):
    """The cost per event at ten times the subscriptions over the cost before."""

    times: float
    matches: float  # the factor by which matches grew

    @property
    def met(self) -> bool:
        """Whether the growth keeps the bound."""
        return self.times <= MOST_GROWTH


def growth(points: Sequence[Point]) -> Growth | None:
    """Return the growth from the largest book that has one ten times larger; the goal is for one million."""
    known = {point["subscriptions"]: point for point in points}
    pairs = [(known[n], known[10 * n]) for n in known if 10 * n in known and 10 * n <= 10_000_000]
    if not pairs:
        return None
    small, large = pairs[-1]
    matches = large["matches_per_event"] / max(small["matches_per_event"], 1e-9)
    return Growth(large["us_per_event"] / small["us_per_event"], matches)


def exponents(points: Sequence[Point]) -> list[tuple[float, float]]:
    """Return the power of the value that cost grows with, between points: 0 is flat, 1 is proportional."""
    return [
        (b["value"], math.log(b["us_per_event"] / a["us_per_event"]) / math.log(b["value"] / a["value"]))
        for a, b in pairwise(points)
    ]


def bend(points: Sequence[Point], caches: Mapping[str, int]) -> str:
    """Return where cost begins to grow faster, and the cache that the index has outgrown there.

    Books in pieces do not count: each piece costs its visits again.
    """
    points = [point for point in points if "pieces" not in point]
    steps = exponents(points)
    if len(steps) < 2:
        return ""
    powers = [power for _, power in steps]
    jump, at = max((powers[at + 1] - powers[at], at) for at in range(len(powers) - 1))
    if jump < LEAST_BEND:
        return f"no bend: cost grows with the power {min(powers):.2f} to {max(powers):.2f}"
    before, where, after = points[at : at + 3]
    outgrown = [name for name, size in caches.items() if before["bytes"] <= size < after["bytes"]]
    text = f"bends at {where['value']:,}: the power is {powers[at]:.2f} before, {powers[at + 1]:.2f} after"
    if outgrown:
        text += f"; there the index ({where['bytes'] / 1e6:,.0f} MB) outgrows {' and '.join(outgrown)}"
    if all("candidates" in point for point in (before, where, after)):
        grown = [_over(where, before), _over(after, where)]
        text += f"; the postings that an event meets grow {grown[0]:.1f}× before and {grown[1]:.1f}× after"
    return text


def _over(point: Point, other: Point) -> float:
    return float(point["candidates"]) / max(float(other["candidates"]), 1e-9)


class Distance(NamedTuple):
    """A point against the speed of memory."""

    touched: float  # bytes per event
    gb_s: float
    share: float  # of the bandwidth in order


def distance(point: Point, machine: Mapping[str, Any]) -> Distance | None:
    """Return the speed at which memory is read, and could be read; nothing for books in pieces."""
    if "touched" not in point:
        return None
    touched = sum(point["touched"].values())
    gb_s = touched / point["us_per_event"] / 1e3
    return Distance(touched, gb_s, gb_s / machine["bandwidth_gb_s"])
