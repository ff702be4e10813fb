"""All engines on all workloads in one run: which is first where, and by how much."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench import parts, report
from bench.engines import engine_names
from bench.run import Disagreement, Material, Plan, generate, library_build, make_index, say
from bench.timing import affordable, per_event, seconds, timed
from bench.workloads import WORKLOADS

LATEST = report.ROOT / "bench" / "results" / "ranking.json"
PAPERS = ("kindex", "opindex", "bestar", "presearch", "pstbloom", "psthash", "filtertree")
SIZES = {"w3": 1_099_925, "ads": 3_000_000}
FEWEST = 16  # events that even the slowest engine is timed on


@dataclass(frozen=True)
class Row:
    """One engine on one workload."""

    workload: str
    engine: str
    us: float  # per event, from located events to matches
    build_s: float
    bytes_per_subscription: float
    visited: float
    candidates: float
    verified: float
    matches: float
    choice: str = ""


def rank(
    workloads: tuple[str, ...], engines: tuple[str, ...], scale: int, events: int, sample: int
) -> list[Row]:
    """Measure every engine on every workload; :class:`Disagreement` if two find different pairs."""
    rows = []
    for name in workloads:
        count = SIZES.get(name, 1_000_000) // scale
        plan = Plan(WORKLOADS[name], count, events, sample=sample)
        spent, material = seconds(partial(generate, plan))
        say(f"{name}: {count:,} subscriptions generated in {spent:.0f} s")
        found: dict[str, Any] = {}
        for engine in engines:
            row, found[engine] = _measure(name, material, engine, count)
            _agree(found, engine)
            rows.append(row)
            say(f"  {engine:10} {row.us:10.2f} µs  built in {row.build_s:5.1f} s  {row.choice}")
            gc.collect()
    return rows


def _measure(name: str, material: Material, engine: str, count: int) -> tuple[Row, Any]:
    build_s, index = seconds(lambda: make_index(material, engine, library_build()))
    index.match_many(material.events.slice(0, FEWEST), threads=1)
    enough = affordable(lambda part: index.match_many(part, threads=1), material.events)
    events = material.events.slice(0, enough)
    located = parts.locate_events(index, events)
    spent = min(timed(lambda: parts.match_located(index, located), 3))
    first = material.events.slice(0, FEWEST)
    pairs = index.match_many(first, threads=1)
    work = [batch.work for batch in index.match_batches(events, threads=1)]
    info = index.info()
    counts = ("visited", "candidates", "verified", "matches")
    means = {field: sum(getattr(w, field) for w in work) / enough for field in counts}
    us, size = per_event(spent, enough), info["bytes"] / count
    row = Row(name, engine, us, build_s, size, choice=_choice(info), **means)
    return row, sorted(zip(*(pairs.column(n).to_pylist() for n in ("event", "subscription")), strict=True))


def _choice(info: dict[str, Any]) -> str:
    """What ``auto`` took, segment by segment."""
    taken = [part for segment in info["segments"] for part in segment.get("choice", {}).get("parts", [])]
    return " + ".join(f"{part['engine']} ({part['name']})" for part in taken)


def _agree(found: dict[str, Any], engine: str) -> None:
    for other, pairs in found.items():
        if pairs != found[engine]:
            raise Disagreement(f"{other} and {engine} find different pairs")


def as_table(rows: list[Row], value: Callable[[Row], float]) -> str:
    """Engines down, workloads across; the first of each workload is marked."""
    workloads = list(dict.fromkeys(row.workload for row in rows))
    engines = list(dict.fromkeys(row.engine for row in rows))
    known = {(row.engine, row.workload): value(row) for row in rows}
    best = {w: min(v for (_, at), v in known.items() if at == w) for w in workloads}
    lines = []
    for engine in engines:
        cells = [known.get((engine, w)) for w in workloads]
        marks = [
            report.figure(v) + ("*" if v == best[w] else " ") for v, w in zip(cells, workloads, strict=True)
        ]
        lines.append([engine, *marks])
    return report.table(["µs per event", *workloads], lines)


@dataclass(frozen=True)
class Aim:
    """Something that should hold between the rows."""

    text: str
    value: Callable[[dict[tuple[str, str], Row]], float]
    at_least: float


def _times(workload: str, slow: str, fast: str) -> Callable[[dict[tuple[str, str], Row]], float]:
    return lambda rows: rows[workload, slow].us / rows[workload, fast].us


def _first(workload: str, engine: str) -> Callable[[dict[tuple[str, str], Row]], float]:
    """How many times slower than ``engine`` the best of the other papers' engines is."""
    return lambda rows: (
        min(row.us for (w, e), row in rows.items() if w == workload and e in PAPERS and e != engine)
        / rows[workload, engine].us
    )


def _auto(workload: str) -> Callable[[dict[tuple[str, str], Row]], float]:
    return lambda rows: (
        min(row.us for (w, e), row in rows.items() if w == workload and e != "auto")
        / rows[workload, "auto"].us
    )


AIMS = (
    Aim("w1: opindex against kindex", _times("w1", "kindex", "opindex"), 10),
    Aim("w4-sparse: pstbloom first of the papers' engines", _first("w4-sparse", "pstbloom"), 1),
    Aim("w4-dense: psthash first of the papers' engines", _first("w4-dense", "psthash"), 1),
    Aim("ads: 240 µs against psthash", lambda rows: 240 / rows["ads", "psthash"].us, 1),
    Aim("ads: 15 s against building psthash", lambda rows: 15 / rows["ads", "psthash"].build_s, 1),
    *(
        Aim(f"{name}: the fastest engine against auto", _auto(name), 0.9)
        for name in ("w1", "w2", "w2-zipf", "w3", "w4-dense", "w4-sparse", "ads", "market")
    ),
)


def judged(rows: list[Row]) -> str:
    """Every aim whose engines and workloads were measured."""
    known = {(row.workload, row.engine): row for row in rows}
    lines = []
    for aim in AIMS:
        try:
            value = aim.value(known)
        except (KeyError, ValueError):
            continue
        met = "yes" if value >= aim.at_least else "NO"
        lines.append((aim.text, report.figure(value), f">= {aim.at_least:g}", met))
    return report.table(("aim", "measured", "bound", "met"), lines) if lines else ""


def write(rows: list[Row], file: Path) -> None:
    """The rows and what they were measured on."""
    body = {"rows": [vars(row) for row in rows], "machine": report.machine(), "versions": report.versions()}
    report.write_json(body | {"commit": report.commit()}, file)


def all_engines() -> tuple[str, ...]:
    """Every engine, ``auto`` last, so that what it tries is compiled and warm for none but itself."""
    names = engine_names()
    return (*(name for name in names if name != "auto"), "auto")
