"""Rank all engines on all workloads in one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import report
from bench.engines import engine_names
from bench.run import Plan, run
from bench.workloads import WORKLOADS

LATEST = report.RESULTS / "ranking.json"
PAPERS = ("kindex", "opindex", "bestar", "presearch", "pstbloom", "psthash", "filtertree")
SIZES = {
    "w1-dnf": 20_000,
    "w1-cnf": 20_000,
    "w5": 300_000,
    "w3": 1_099_925,
    "w4-ads": 3_000_000,
    "w4-queries": 2_100_000,
}


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
    """Measure every engine on every workload; raise :class:`Disagreement` if two find different pairs."""
    rows = []
    for name in workloads:
        count = SIZES.get(name, 1_000_000) // scale
        plan = Plan(WORKLOADS[name], count, events, engines, sample=sample, detail=False)
        outcome = run(plan, say=report.under(name, report.say))
        rows += [_row(name, result) for result in outcome["results"]]
    return rows


def _row(workload: str, result: dict[str, Any]) -> Row:
    counts = ("visited", "candidates", "verified", "matches")
    return Row(
        workload,
        result["engine"],
        result["us_per_event"],
        result["build_s"],
        result["bytes_per_subscription"],
        choice=result["choice"],
        **{name: result[f"{name}_per_event"] for name in counts},
    )


def as_table(rows: list[Row], value: Callable[[Row], float]) -> str:
    """Return a table: engines down, workloads across, with the first of each workload marked."""
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
    """Return how many times slower than ``engine`` the best of the other papers' engines is."""
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
    Aim("w4-ads: 240 µs against psthash", lambda rows: 240 / rows["w4-ads", "psthash"].us, 1),
    Aim("w4-ads: 15 s against building psthash", lambda rows: 15 / rows["w4-ads", "psthash"].build_s, 1),
    *(
        Aim(f"{name}: the fastest engine against auto", _auto(name), 0.9)
        for name in ("w1", "w2", "w2-zipf", "w3", "w4-dense", "w4-sparse", "w4-ads", "market")
    ),
)


def judged(rows: list[Row]) -> str:
    """Return every aim whose engines and workloads were measured."""
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
    """Write the rows, the machine and the versions."""
    body = {"rows": [vars(row) for row in rows], "machine": report.machine(), "versions": report.versions()}
    report.write_json(body | {"commit": report.commit()}, file)


def all_engines() -> tuple[str, ...]:
    """Return every engine, ``auto`` last, so that its trials warm up no other engine."""
    names = engine_names()
    return (*(name for name in names if name != "auto"), "auto")
