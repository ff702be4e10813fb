"""Check whether a run fits into memory, before it starts."""

from __future__ import annotations

import math
from pathlib import Path

from bench.run.plan import Plan

_TRIAL = 20_000  # subscriptions and events from whose size the others' is estimated
_TIMES = 11  # peak while building, over the bytes of the columns: 7 to 10.9 were seen
_EVENT_TIMES = 6
_BASE = 0.5e9  # Python, the libraries, compiled code
_SHARE = 0.9  # of the free memory


class TooLarge(Exception):
    """An error: a run would need more memory than it may have."""


def estimate(plan: Plan) -> float:
    """Return the bytes that ``plan`` needs at its peak, estimated from a small part of its data."""
    few, some = min(_TRIAL, plan.subscriptions), min(_TRIAL // 20, plan.events)
    workload = plan.workload
    book: int = workload.subscriptions(few, plan.seed).nbytes + workload.texts(few, plan.seed).nbytes
    events: int = workload.events(some, plan.seed, few).nbytes
    stream = (plan.events + plan.sample) / some
    return _BASE + _TIMES * book * plan.subscriptions / few + _EVENT_TIMES * events * stream


def available() -> float | None:
    """Return the bytes that a new process may use, if this system reports them."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")), None)


def allowance(budget: float | None = None) -> float:
    """Return the bytes that may be used: ``budget``, or most of the free memory."""
    free = available()
    return budget or (_SHARE * free if free else math.inf)


def insist(plan: Plan, budget: float | None = None) -> None:
    """Raise :class:`TooLarge` if ``plan`` needs more than ``budget`` bytes, or than is free."""
    allowed, needed = allowance(budget), estimate(plan)
    if needed > allowed:
        fewer = int(plan.subscriptions * allowed / needed * 0.9)
        raise TooLarge(
            f"{plan.subscriptions:,} subscriptions of {plan.workload.name} would need about "
            f"{needed / 1e9:.1f} GB, {allowed / 1e9:.1f} GB may be used: try --subscriptions {fewer}, "
            "or allow more with --memory"
        )
