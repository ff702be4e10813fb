"""Define the runs of the suite, and make its report."""

from __future__ import annotations

from typing import Any, NamedTuple

from bench import report
from bench.run import Plan, run, summary
from bench.run.summary import bare_ratios, ratios
from bench.suite.small import SMALL
from bench.suite.targets import TARGETS
from bench.workloads import WORKLOADS

LATEST = report.RESULTS / "suite.json"


class Entry(NamedTuple):
    """A run of the suite."""

    workload: str
    subscriptions: int
    events: int
    engines: tuple[str, ...]


ENTRIES = (
    Entry("w4-dense", 1_000_000, 8_192, ("scan", "hybrid", "psthash")),
    Entry("w4-sparse", 1_000_000, 8_192, ("scan", "hybrid", "pstbloom")),
    Entry("w1", 1_000_000, 8_192, ("hybrid", "opindex")),
    Entry("w2", 300_000, 4_096, ("hybrid", "bestar")),
    Entry("w3", 300_000, 2_048, ("hybrid", "presearch")),
    Entry("w4-ads", 1_000_000, 4_096, ("hybrid", "psthash")),
    Entry("market", 300_000, 4_096, ("hybrid",)),
)


def suite(*, quick: bool = False) -> dict[str, Any]:
    """Measure everything; ``quick`` uses a hundredth of the subscriptions and events."""
    scale = 100 if quick else 1
    runs = []
    for entry in ENTRIES:
        size = entry.subscriptions // scale, max(64, entry.events // scale)
        plan = Plan(WORKLOADS[entry.workload], *size, entry.engines, repeats=5)
        runs.append(run(plan, say=report.under(entry.workload, report.say)))
        report.say(summary(runs[-1]))
    figures = _ratios(runs)
    for title, measure in SMALL.items():
        report.say(title)
        figures[title] = measure(scale)
    return {
        "quick": quick,
        "figures": [target.judged(figures[target.name]) for target in TARGETS],
        "runs": runs,
        "machine": report.machine(),
        "versions": report.versions(),
        "commit": report.commit(),
    }


def _ratios(runs: list[dict[str, Any]]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for outcome in runs:
        name, results = outcome["workload"], outcome["results"]
        if any(result["engine"] == "scan" for result in results):
            hybrid = next(result for result in results if result["engine"] == "hybrid")
            figures[f"{name}, match, against scan"] = ratios(results)["hybrid"]
            figures[f"{name}, match, against a bare loop"] = bare_ratios(results)["hybrid"]
            figures[f"{name}, end to end, against scan"] = ratios(results, "end_to_end_us")["hybrid"]
            figures[f"{name}, build"] = hybrid["build_s"]
            figures[f"{name}, on disk"] = hybrid["disk_bytes"] / outcome["parameters"]["subscriptions"]
    return figures


def suite_summary(outcome: dict[str, Any]) -> str:
    """Return one table, with a line per figure."""
    rows = [
        (f["name"], report.figure(f["value"]), _bound(f), f["unit"], "yes" if f["met"] else "NO")
        for f in outcome["figures"]
    ]
    note = "\nmeasured at a hundredth of the size: ratios and bytes mean little" if outcome["quick"] else ""
    return report.table(("figure", "measured", "target", "unit", "met"), rows) + note


def _bound(judged: dict[str, Any]) -> str:
    return f"{'>=' if judged['at_least'] else '<='} {judged['bound']:,}"
