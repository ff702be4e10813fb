"""The choice: how to divide the clauses, and which engine for each part."""

from __future__ import annotations

from typing import Any, NamedTuple

from tamis.engines.auto.events import trial_events
from tamis.engines.auto.groups import Group, groups_of
from tamis.engines.auto.trial import Cost, Trials
from tamis.engines.units import Statistics
from tamis.space.space import Clauses

DEFAULT = "hybrid"
CLEARLY = 0.9  # the default gives way only to an engine that takes less than this share of its time


class Part(NamedTuple):
    """A group, the engine for it, and what was considered."""

    group: Group
    engine: str
    parameters: dict[str, Any]
    considered: list[Cost]
    why: str

    @property
    def us(self) -> float:
        """The estimated cost."""
        return next((c.us for c in self.considered if c[:2] == (self.engine, self.parameters)), 0.0)


def choose(
    clauses: Clauses, statistics: Statistics, least: int, trial: int, events: int
) -> tuple[list[Part], str]:
    """Return the parts of the cheapest division, and why it is that one."""
    ways = groups_of(clauses, statistics, least // 4)
    if clauses.count < max(least, 1):
        why = f"{clauses.count} clauses, fewer than {least}: nothing was tried"
        return [Part(ways[0][0], DEFAULT, {}, [], why)], why
    trials = Trials(clauses, trial_events(clauses, statistics, events), trial)
    known: dict[tuple[str, int], Part] = {}
    divisions = []
    for way in ways:
        for group in way:
            key = group.name, len(group.clauses)
            if key not in known:
                known[key] = _best(group, trials.costs(group.clauses))
        divisions.append([known[group.name, len(group.clauses)] for group in way])
    whole = divisions[0]
    # A division is one more structure to visit and to keep: it must pay clearly, and by its engines.
    paying = [parts for parts in divisions[1:] if _several(parts) and _total(parts) < CLEARLY * _total(whole)]
    chosen = min(paying, key=_total, default=whole)
    return chosen, _reason(divisions, chosen, statistics)


def _several(parts: list[Part]) -> bool:
    return len({(part.engine, str(part.parameters)) for part in parts}) > 1


def _total(parts: list[Part]) -> float:
    return sum(part.us for part in parts)


def _best(group: Group, costs: list[Cost]) -> Part:
    """Return the cheapest engine, but the default if it is as good as."""
    first = costs[0]
    usual = next((cost for cost in costs if cost.engine == DEFAULT), first)
    chosen = first if first.us < CLEARLY * usual.us else usual
    if chosen.engine == DEFAULT and first is not chosen:
        why = f"{first.engine} seemed only {usual.us / max(first.us, 1e-9):.2f} times as fast"
    else:
        second = min((cost for cost in costs if cost.engine != chosen.engine), key=lambda cost: cost.us)
        why = f"{second.us / max(chosen.us, 1e-9):.1f} times as fast as {second.engine}, the next"
    return Part(group, chosen.engine, chosen.parameters, costs, why)


def _reason(divisions: list[list[Part]], chosen: list[Part], statistics: Statistics) -> str:
    events = "a sample of events" if statistics.sampled else "events suggested by the subscriptions"
    costs = [
        f"{_total(parts):.3g} µs as {' + '.join(part.group.name for part in parts)}" for parts in divisions
    ]
    return f"with {events}: {', '.join(costs)}" + (f"; {chosen[0].why}" if len(chosen) == 1 else "")
