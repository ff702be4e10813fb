"""Time additions, updates, removals and batches of changes, and match fresh subscriptions."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from bench.workloads import Workload
from bench.workloads.truth import rows_of
from tamis import Index, Limits, parse, to_text
from tamis.contract.change import Change
from tamis.head.structures import DEFAULT

ROOMY = Limits(head_subscriptions=1 << 30, head_bytes=1 << 40)
PASSES = 3


class ChangeCost(NamedTuple):
    """The cost of changes of an index of some size, in microseconds each, and of parsing the same texts."""

    subscriptions: int
    parse: float
    add: float
    update: float
    remove: float
    apply: float

    def in_parses(self) -> dict[str, float]:
        """Return the cost of each kind of change as a multiple of a parse."""
        return {name: getattr(self, name) / self.parse for name in ("add", "update", "remove", "apply")}


class MatchCost(NamedTuple):
    """The cost of an event with fresh subscriptions and with the same ones in a segment, in microseconds."""

    subscriptions: int
    head_table: float
    segment_table: float
    head_one: float
    segment_one: float


def texts_of(workload: Workload, count: int, seed: int) -> list[str]:
    """Return the expressions of ``count`` subscriptions as text."""
    index = Index.build(workload.subscriptions(count, seed))
    return [to_text(index.expression(name)) for name in index]


def change_cost(
    workload: Workload, size: int, changes: int, head: str = DEFAULT, seed: int = 1, passes: int = 3
) -> ChangeCost:
    """Change indexes of ``size`` subscriptions, one after the other; the best of each time counts."""
    texts = texts_of(workload, 2 * changes, seed + 1)
    costs = []
    for _ in range(passes):
        index = Index.build(workload.subscriptions(size, seed) if size else (), head=head)
        costs.append(_change(index, texts[:changes], texts[changes:]))
    return ChangeCost(size, *map(min, zip(*costs, strict=True)))


def _change(index: Index, news: list[str], others: list[str]) -> tuple[float, ...]:
    """Return the microseconds of a parse, an addition, an update, a removal and a change in a batch."""
    log = [Change(at + 1, f"c{at}", text) for at, text in enumerate(others)]
    return (
        _each(parse, [(text,) for text in news]),
        _each(index.add, [(f"a{at}", text) for at, text in enumerate(news)]),
        _each(index.update, [(f"a{at}", text) for at, text in enumerate(others)]),
        _each(index.remove, [(f"a{at}",) for at in range(len(news))]),
        _cpu(lambda: index.apply(log)) / len(log),
    )


def warm_up(workload: Workload, head: str) -> None:
    """Compile the kernels that changes use."""
    change_cost(workload, 300, 300, head, passes=1)


def _each(action: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> float:
    """Return the processor time of one call, in microseconds."""
    calls = list(arguments)

    def run() -> None:
        for call in calls:
            action(*call)

    return _cpu(run) / len(calls)


def _cpu(run: Callable[[], Any]) -> float:
    """Return the processor time of a run in microseconds; the garbage collector ignores the material."""
    gc.freeze()
    try:
        begin = time.process_time()
        run()
        return (time.process_time() - begin) * 1e6
    finally:
        gc.unfreeze()


def match_cost(workload: Workload, count: int, events: int, head: str = DEFAULT, seed: int = 1) -> MatchCost:
    """Match the same events with fresh subscriptions and with the same ones in a segment."""
    segment = Index.build(workload.subscriptions(count, seed))
    fresh = Index.build(head=head, limits=ROOMY)
    for name in segment:
        fresh.add(segment.subscription(name))
    table = workload.events(events, seed, count)
    singles = [(event,) for event in rows_of(table.slice(0, min(events, 300)))]
    if _pairs(fresh, table) != _pairs(segment, table):
        raise RuntimeError("head and segment disagree; this is a bug of Tamis")
    best = [float("inf")] * 4
    for _ in range(PASSES):
        for at, index in enumerate((fresh, segment)):
            spent = _cpu(lambda index=index: index.match_many(table, threads=1)) / events  # type: ignore[misc]
            best[at] = min(best[at], spent)
            best[2 + at] = min(best[2 + at], _each(index.match, singles))
    return MatchCost(count, best[0], best[1], best[2], best[3])


def _pairs(index: Index, table: pa.Table) -> list[tuple[int, str]]:
    found = index.match_many(table, threads=1).to_pydict()
    return sorted(zip(found["event"], found["subscription"], strict=True))
