"""Measure all curves, and print them in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import report
from bench.report import figure, table
from bench.run.cli import bar
from bench.scaling.curves import Curve, measure
from bench.scaling.hardware import hardware
from bench.scaling.story import MOST_GROWTH, bend, distance, growth

LATEST = report.RESULTS / "scaling.json"
_SAID = 4  # steps per point


def outcome(curves: list[Curve], scale: int, most: int | None, file: Path) -> dict[str, Any]:
    """Measure everything, and return it with machine and versions.

    The report is written to ``file`` after every curve; curves of the same scale in that file are kept.
    """
    known = report.read_json(file) if file.exists() else {}
    found = dict(known["curves"]) if known.get("scale") == scale else {}
    with bar(1 + _SAID * sum(len(curve.values) for curve in curves)) as say:
        say("hardware")
        report_so_far = {
            "hardware": hardware(),
            "scale": scale,
            "curves": found,
            "machine": report.machine(),
            "versions": report.versions(),
            "commit": report.commit(),
        }
        for curve in curves:
            found[curve.name] = _described(curve, measure(curve, say, scale, most))
            report.write_json(report_so_far, file)
    return report_so_far


def _described(curve: Curve, points: list[dict[str, Any]]) -> dict[str, Any]:
    about = {"title": curve.title, "workload": curve.workload, "parameter": curve.parameter}
    return about | {"constant_matches": curve.constant, "points": points}


HEADINGS = (
    "", "µs", "matches", "visited", "candidates", "KB touched", "GB/s", "of bandwidth", "build s", "MB",
)  # fmt: skip


def rows(curve: dict[str, Any], machine: dict[str, Any]) -> list[list[str]]:
    """Return a line per point."""
    lines = []
    for point in curve["points"]:
        far = distance(point, machine)
        lines.append(
            [
                _value(point),
                figure(point["us_per_event"]),
                figure(point["matches_per_event"]),
                figure(point.get("visited")),
                figure(point.get("candidates")),
                figure(far and far.touched / 1e3),
                figure(far and far.gb_s),
                f"{far.share:.0%}" if far else "–",
                figure(point["build_s"]),
                figure(point["bytes"] / 1e6),
            ]
        )
    return lines


def _value(point: dict[str, Any]) -> str:
    value = point["value"]
    pieces = f" in {point['pieces']} pieces" if "pieces" in point else ""
    return (f"{value:g}" if value < 1 else f"{int(value):,}") + pieces


def verdicts(found: dict[str, Any]) -> list[str]:
    """Return the growth, judged if the matches do not grow, and the bends of the curves."""
    lines = []
    for name, curve in found["curves"].items():
        if curve["parameter"] != "subscriptions":
            continue
        grown = growth(curve["points"])
        if grown is not None:
            judged = f" (aim: at most {MOST_GROWTH:g}×: {'met' if grown.met else 'MISSED'})"
            aim = judged if curve["constant_matches"] else f" ({grown.matches:.3g}× the matches)"
            lines.append(f"{name}: ten times the subscriptions cost {grown.times:.3g}×{aim}")
        lines.append(f"{name}: {bend(curve['points'], found['hardware']['caches'])}")
    return lines


def summary(found: dict[str, Any]) -> str:
    """Return a table per curve, then their interpretation."""
    machine = found["hardware"]
    parts = [memory(machine)]
    for curve in found["curves"].values():
        headings = (curve["parameter"], *HEADINGS[1:])
        parts.append(f"\n{curve['workload']}: {curve['title']}\n" + table(headings, rows(curve, machine)))
    return "\n".join([*parts, "", *verdicts(found)])


def memory(machine: dict[str, Any]) -> str:
    """Return the speed of memory, in a line."""
    sizes = ", ".join(f"{name} {size / 1024:,.0f} KB" for name, size in machine["caches"].items())
    return (
        f"memory in order {machine['bandwidth_gb_s']:.1f} GB/s; a line from anywhere "
        f"{machine['anywhere_ns']:.1f} ns, if each waits for the last {machine['latency_ns']:.0f} ns; {sizes}"
    )
