"""Measure the k best matches, one event at a time, against finding all."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from bench import report
from bench.run import EngineSpec, Plan
from bench.run.material import generate, library_build, make_index
from bench.run.measure import warm_up
from bench.timing import PROBE, per_event, seconds
from bench.workloads import WORKLOADS
from bench.workloads.base import changed
from bench.workloads.truth import rows_of

LATEST = report.RESULTS / "top.json"
TOPS = (1, 10)
SORTED = "sorted"  # all matches, by their scores
CLOCK_S = 0.4
"""The approximate time for which one kind of search is measured."""

MOST_PASSES = 100
WORK = ("candidates", "verified")
Measured = dict[str, float]


class Data(NamedTuple):
    """A workload whose weights follow a law."""

    law: str
    workload: str
    changes: dict[str, Any]


DATA = (
    Data("Zipf", "w2-zipf", {}),  # the inverse frequency of attributes that follow Zipf's law, with noise
    Data("uniform", "w2", {}),  # the same for attributes that are equally frequent: noise alone
    Data("equal", "w2", {"weight_deviation": 0.0}),
)


class Row(NamedTuple):
    """One engine on one workload: time and work of one search, by the kind of search."""

    law: str
    engine: str
    measured: Measured


def searched(index: Any, events: list[Any], tops: Iterable[int], clock_s: float = CLOCK_S) -> Measured:
    """Return microseconds and work of a search for all matches, without and with scores, and for each k.

    All searches take turns, so that a busy machine slows all of them. Of several times the best counts.
    """
    searches: dict[str, Callable[[Any], Any]] = {"all": index.match}
    searches |= {SORTED: partial(index.top_k, k=len(index))}
    searches |= {f"top{k}": partial(index.top_k, k=k) for k in tops}
    probes = [_pass(search, events[:PROBE]) / PROBE for search in searches.values()]
    some = events[: max(PROBE, min(len(events), int(clock_s / max(*probes, 1e-6))))]
    spent: dict[str, list[float]] = {name: [] for name in searches}
    while not spent["all"] or (sum(spent["all"]) < clock_s and len(spent["all"]) < MOST_PASSES):
        for name, search in searches.items():
            spent[name].append(_pass(search, some))
    found = {f"{name}_us": per_event(min(times), len(some)) for name, times in spent.items()}
    for name, search in searches.items():
        work = [search(event).work for event in some]
        found |= {f"{name}_{count}": sum(getattr(one, count) for one in work) / len(some) for count in WORK}
    return found


def _pass(search: Callable[[Any], Any], events: list[Any]) -> float:
    """Return the seconds of a search for each event."""
    return seconds(lambda: [search(event) for event in events])[0]


def measure(subscriptions: int, events: int, engines: tuple[str, ...], seed: int) -> list[Row]:
    """Measure every engine on every law of weights."""
    rows = []
    for law, workload, changes in DATA:
        plan = Plan(changed(WORKLOADS[workload], changes), subscriptions, events, engines, seed)
        material = generate(plan)
        sources = list(rows_of(material.events))
        for code in engines:
            spec, build = EngineSpec.read(code), library_build()
            warm_up(material, spec, build)
            index = make_index(material, spec, build)
            for event in sources:  # a search keeps scores and experience for the next one
                for k in TOPS:
                    index.top_k(event, k)
            rows.append(Row(law, code, searched(index, sources, TOPS, 4 * CLOCK_S)))
            report.say(f"{law}, {code}: measured")
            del index
            gc.collect()
    return rows


def as_table(rows: list[Row]) -> str:
    """Return a table with a line for each search, and its ratio to finding all."""
    lines = []
    for law, engine, found in rows:
        for name in ("all", SORTED, *(f"top{k}" for k in TOPS)):
            ratios = [f"{found[f'{base}_us'] / found[f'{name}_us']:.2f}" for base in ("all", SORTED)]
            fewer = [100 * (1 - found[f"{name}_{count}"] / max(found[f"all_{count}"], 1)) for count in WORK]
            cells = (report.figure(found[f"{name}_{what}"]) for what in ("us", *WORK))
            lines.append((law, engine, name, *cells, *ratios, *(f"{part:.0f} %" for part in fewer)))
    faster = (f"times as fast as {base}" for base in ("all", SORTED))
    heads = ("weights", "engine", "search", "µs", *WORK, *faster, *(f"fewer {name}" for name in WORK))
    return report.table(heads, lines)
