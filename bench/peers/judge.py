"""Print the table for people, and judge the goals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bench import report
from bench.peers.contest import Row

STATED_FOR = 100_000
GOALS: tuple[tuple[str, float, Callable[[Row], bool]], ...] = (
    ("peer that takes single events", 20.0, lambda row: not row.batch),
    ("peer that takes batches", 20.0, lambda row: row.batch),
    ("Python engine", 1_000.0, lambda row: row.python_engine),
)
"""The peers of a goal, how many times faster Tamis should be, and a name for these peers."""

HEADINGS = ("peer", "version", "takes", "subscriptions", "events", "build s", "µs/event", "× tamis", "remark")


def table(rows: Iterable[Row]) -> str:
    """Return one mix as a table; the row of a peer that failed gives the reason."""
    cells = [_cells(row) for row in rows]
    width = max(len(row[-1]) for row in cells)
    return report.table(HEADINGS, [[*row[:-1], row[-1].ljust(width)] for row in cells])


def _cells(row: Row) -> list[str]:
    figures = row.figures
    size, events = (f"{figures[name]:,}" if figures else "–" for name in ("subscriptions", "events"))
    return [
        row.peer,
        row.version or "–",
        "batches" if row.batch else "one",
        size,
        events,
        report.figure(figures.get("build_s")),
        report.figure(row.us),
        report.figure(row.ratio),
        row.failure or (f"WRONG, {row.difference}; " if row.difference else "") + row.remark,
    ]


def verdicts(rows: list[Row], subscriptions: int) -> list[dict[str, Any]]:
    """Return each goal on each mix: the peer nearest to Tamis at full size, and whether it is met."""
    found = []
    for mix in dict.fromkeys(row.mix for row in rows):
        able = [
            row
            for row in rows
            if row.mix == mix
            and row.ratio
            and not row.difference
            and not row.peer.startswith("tamis")
            and row.figures["subscriptions"] == subscriptions
        ]
        for goal, times, wanted in GOALS:
            nearest = min(filter(wanted, able), key=lambda row: row.ratio or 0.0, default=None)
            found.append(_verdict(mix, goal, times, nearest, subscriptions))
    return found


def _verdict(mix: str, goal: str, times: float, nearest: Row | None, subscriptions: int) -> dict[str, Any]:
    return {
        "mix": mix,
        "goal": f"at least {times:,.0f} times the fastest {goal} with {STATED_FOR:,} subscriptions",
        "bound": times,
        "peer": nearest.peer if nearest else None,
        "takes": ("batches" if nearest.batch else "one") if nearest else None,
        "ratio": nearest.ratio if nearest else None,
        "subscriptions": subscriptions,
        "met": bool(nearest and nearest.ratio and nearest.ratio >= times),
    }


def sentence(verdict: dict[str, Any]) -> str:
    """Return a verdict as a sentence."""
    if verdict["peer"] is None:
        return f"{verdict['mix']}: {verdict['goal']}: no such peer came through with all subscriptions"
    stated = "" if verdict["subscriptions"] == STATED_FOR else f", here with {verdict['subscriptions']:,}"
    times = f"{report.figure(verdict['ratio'])} times {verdict['peer']}"
    return f"{verdict['mix']}: {verdict['goal']}{stated}: {times}, {'met' if verdict['met'] else 'MISSED'}"
