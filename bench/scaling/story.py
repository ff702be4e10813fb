"""What the curves say: growth, where they bend, and how far the hardware's limits are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Point = Mapping[str, Any]
MOST_GROWTH = 3.0
"""From one million subscriptions to ten, at a constant number of matches."""


LEAST_BEND = 0.1
"""Powers that differ by less are called the same."""


class Growth(NamedTuple):
    """Cost per event at ten times the subscriptions, over that before."""

    times: float
    matches: float  # by how much they grew

    @property
    def met(self) -> bool:
        """Whether it keeps the bound."""
        return self.times <= MOST_GROWTH


def growth(points: Sequence[Point]) -> Growth | None:
    """From the largest book that has one ten times larger; the aim is for one million."""
    known = {point["subscriptions"]: point for point in points}
    pairs = [(known[n], known[10 * n]) for n in known if 10 * n in known and 10 * n <= 10_000_000]
    if not pairs:
        return None
    small, large = pairs[-1]
    matches = large["matches_per_event"] / max(small["matches_per_event"], 1e-9)
    return Growth(large["us_per_event"] / small["us_per_event"], matches)


def exponents(points: Sequence[Point]) -> list[tuple[float, float]]:
    """Between points the power of the value that cost grows with: 0 is flat, 1 is in proportion."""
    return [
        (b["value"], math.log(b["us_per_event"] / a["us_per_event"]) / math.log(b["value"] / a["value"]))
        for a, b in pairwise(points)
    ]


def bend(points: Sequence[Point], caches: Mapping[str, int]) -> str:
    """Where cost begins to grow faster, and which cache the index has outgrown there.

    Books in pieces are another matter: each piece costs its visits again.
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
    """A point against what memory can do."""

    touched: float  # bytes per event
    gb_s: float
    share: float  # of the bandwidth in order


def distance(point: Point, machine: Mapping[str, Any]) -> Distance | None:
    """Return how fast memory is read, and how fast it could be; nothing for books in pieces."""
    if "touched" not in point:
        return None
    touched = sum(point["touched"].values())
    gb_s = touched / point["us_per_event"] / 1e3
    return Distance(touched, gb_s, gb_s / machine["bandwidth_gb_s"])
