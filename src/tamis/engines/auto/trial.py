"""Trials: what an engine costs on some of the clauses and so, by a line through two sizes, on all."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from tamis.engines.arena import Arena, pack
from tamis.engines.auto.groups import Ints
from tamis.engines.engines import PARTS, engine_class
from tamis.engines.units import Statistics, reorder
from tamis.space.located import Located
from tamis.space.space import Clauses

Parameters = dict[str, Any]
ROUNDS = 3
SHRINK = 8  # the smaller trial has this many times fewer clauses
HOPELESS = 6.0  # engines this many times slower than the best in the small trial are not tried again
FINALISTS = 4
# What is tried besides every engine as it is.
VARIANTS: tuple[tuple[str, Parameters], ...] = (("hybrid", {"pairs": 0}),)


class Cost(NamedTuple):
    """What an engine with these parameters would cost."""

    engine: str
    parameters: Parameters
    us: float  # per event, estimated for all clauses

    @property
    def label(self) -> str:
        """The engine and what is unusual about it."""
        return " ".join([self.engine, *(f"{name}={value}" for name, value in self.parameters.items())])


class Trials:
    """Tries engines on samples of the clauses of a group."""

    def __init__(self, clauses: Clauses, events: Located, size: int) -> None:
        self._clauses, self._events, self._size = clauses, events, size

    def costs(self, group: Ints) -> list[Cost]:
        """Return the costs of the engines that are worth knowing, cheapest first."""
        small, large = (self._some(group, n) for n in (self._size // SHRINK, self._size))
        contenders = [*((name, {}) for name in PARTS), *VARIANTS]
        quick = {n: self._time(small, *who) for n, who in enumerate(contenders)}
        bound = HOPELESS * min(quick.values())
        finalists = sorted((us, n) for n, us in quick.items() if us <= bound)[:FINALISTS]
        if large.count == small.count:
            found = [Cost(*contenders[n], us) for us, n in finalists]
        else:
            found = [self._extrapolated(contenders[n], us, small, large, len(group)) for us, n in finalists]
        # The others are taken to grow like the finalist that grows most.
        grown = max(cost.us / max(us, 1e-9) for cost, (us, _) in zip(found, finalists, strict=True))
        slower = [Cost(*contenders[n], us * grown) for n, us in quick.items() if (us, n) not in finalists]
        return sorted(found, key=_us) + sorted(slower, key=_us)

    def _extrapolated(
        self, who: tuple[str, Parameters], us: float, small: Any, large: Any, total: int
    ) -> Cost:
        """Return a fixed part and one that grows with the clauses, from two sizes."""
        more = self._time(large, *who)
        slope = max(more - us, 0.0) / (large.count - small.count)
        return Cost(*who, more + slope * max(total - large.count, 0))

    def _some(self, group: Ints, count: int) -> Clauses:
        chosen = group
        if count < len(group):
            chosen = np.sort(np.random.default_rng(len(group)).choice(group, max(count, 1), replace=False))
        return reorder(self._clauses, chosen)

    def _time(self, clauses: Clauses, engine: str, parameters: Parameters) -> float:
        statistics = Statistics(clauses, self._events)
        made = make(engine, *engine_class(engine).build(clauses, statistics, parameters))
        return time_events(made, self._events)


def make(engine: str, clauses: Clauses, arrays: dict[str, Any]) -> Any:
    """Return an engine in memory over clauses and arrays as ``build`` returns them."""
    return engine_class(engine)(packed(clauses, arrays))


def packed(clauses: Clauses, arrays: dict[str, Any]) -> Arena:
    """Return the arena of an engine alone."""
    mine = {f"clauses.{name}": array for name, array in clauses._asdict().items()}
    return pack(mine | {f"engine.{name}": array for name, array in arrays.items()})


def time_events(engine: Any, events: Located) -> float:
    """Microseconds per event, the best of some rounds; the first, which may compile, does not count."""
    engine.candidates(events)
    best = np.inf
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        engine.candidates(events)
        best = min(best, time.perf_counter() - begin)
    return float(best) * 1e6 / max(events.count, 1)


def _us(cost: Cost) -> float:
    return cost.us
