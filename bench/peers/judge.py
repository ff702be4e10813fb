"""The table for people, and whether the goals are met."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bench import report
from bench.peers.contest import Row

FASTEST_GOAL = 20.0
PYTHON_GOAL = 1_000.0
STATED_FOR = 100_000

HEADINGS = ("peer", "version", "takes", "subscriptions", "events", "build s", "µs/event", "× tamis")


def table(rows: Iterable[Row]) -> str:
    """One mix as a table, with a note on each peer below it; one that failed says why."""
    rows = list(rows)
    return "\n".join([report.table(HEADINGS, [_cells(row) for row in rows]), *map(_note, rows)])


def _note(row: Row) -> str:
    wrong = f"WRONG, {row.difference}; " if row.difference else ""
    return f"  {row.peer}: {row.failure or wrong + row.remark}"


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
    ]


def verdicts(rows: list[Row], subscriptions: int) -> list[dict[str, Any]]:
    """Each goal on each mix: the peer that comes nearest to Tamis at full size, and whether it is met."""
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
        engines = [row for row in able if row.python_engine]
        for goal, times, among in (("peer", FASTEST_GOAL, able), ("Python engine", PYTHON_GOAL, engines)):
            nearest = min(among, key=lambda row: row.ratio or 0.0, default=None)
            found.append(_verdict(mix, goal, times, nearest, subscriptions))
    return found


def _verdict(mix: str, goal: str, times: float, nearest: Row | None, subscriptions: int) -> dict[str, Any]:
    return {
        "mix": mix,
        "goal": f"at least {times:,.0f} times the fastest {goal} with {STATED_FOR:,} subscriptions",
        "peer": nearest.peer if nearest else None,
        "takes": ("batches" if nearest.batch else "one") if nearest else None,
        "ratio": nearest.ratio if nearest else None,
        "subscriptions": subscriptions,
        "met": bool(nearest and nearest.ratio and nearest.ratio >= times),
    }


def sentence(verdict: dict[str, Any]) -> str:
    """A verdict for people."""
    if verdict["peer"] is None:
        return f"{verdict['mix']}: {verdict['goal']}: no such peer came through with all subscriptions"
    stated = "" if verdict["subscriptions"] == STATED_FOR else f", here with {verdict['subscriptions']:,}"
    times = f"{report.figure(verdict['ratio'])} times {verdict['peer']} ({verdict['takes']})"
    return f"{verdict['mix']}: {verdict['goal']}{stated}: {times}, {'met' if verdict['met'] else 'MISSED'}"
