"""Compare two reports: find changes, estimate their noise, and judge them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.report import figure, table

FLOOR = 0.05
"""Between two processes on one machine, times differ by this much without a reason."""

EXACT = 0.001
"""Counts and sizes do not vary by themselves; a greater difference is a change."""

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Measure:
    """A compared figure: smaller is better, and its spread is another figure, a constant or both."""

    title: str
    name: str
    spread: str | None = None
    timed: bool = True

    def value(self, result: dict[str, Any]) -> float | None:
        """Return the figure in ``result``, if it was measured."""
        found: Any = result
        for part in self.name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return None if found is None else float(found)

    def noise(self, result: dict[str, Any]) -> float:
        """Return the share by which the figure may differ without a reason."""
        if not self.timed:
            return EXACT
        return max(FLOOR, float(result.get(self.spread, 0.0)) if self.spread else 2 * FLOOR)


MEASURES = (
    Measure("match µs", "us_per_event", "spread"),
    Measure("all µs", "end_to_end_us", "end_to_end_spread"),
    Measure("all cores µs", "all_cores_us"),
    Measure("p50 µs", "one_event.p50_us"),
    Measure("build s", "build_s"),
    Measure("bytes", "bytes", timed=False),
    Measure("candidates", "candidates_per_event", timed=False),
)


@dataclass(frozen=True)
class Change:
    """One figure before and after."""

    run: str
    engine: str
    measure: str
    before: float
    after: float
    noise: float

    @property
    def share(self) -> float:
        """The relative change: 0.1 is ten per cent more."""
        return self.after / self.before - 1 if self.before else float(self.after > 0)

    @property
    def verdict(self) -> str:
        """``noise``, ``better`` or ``worse``; a change inside the noise is only ``noise``."""
        if self.after <= self.before * (1 + self.noise) and self.before <= self.after * (1 + self.noise):
            return "noise"
        return "better" if self.after < self.before else "worse"


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """Return every figure that both reports have."""
    left, right = dict(_results(before)), dict(_results(after))
    found = []
    for key in left.keys() & right.keys():
        for measure in MEASURES:
            old, new = measure.value(left[key]), measure.value(right[key])
            if old is not None and new is not None:
                noise = (measure.noise(left[key]) ** 2 + measure.noise(right[key]) ** 2) ** 0.5
                found.append(Change(f"{key[0]}{key[1]}", key[2], measure.title, old, new, noise))
    order = [measure.title for measure in MEASURES]
    return sorted(found, key=lambda change: (change.run, change.engine, order.index(change.measure)))


def lost(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the figures that only one report has, and any difference of machines or libraries."""
    left, right = dict(_results(before)), dict(_results(after))
    notes = []
    for which, one, other in (("first", left, right), ("second", right, left)):
        for run, settings, engine in sorted(one.keys() - other.keys()):
            twin = any((run, engine) == (key[0], key[2]) for key in other)
            why = f": other parameters{settings}" if twin else ""
            notes.append(f"only in the {which}: {run}, {engine}{why}")
    for what in ("processor", "cores"):
        old, new = before.get("machine", {}).get(what), after.get("machine", {}).get(what)
        if old != new:
            notes.append(f"other machine: {what} {old} and {new}; times cannot be compared")
    for library, version in before.get("versions", {}).items():
        if after.get("versions", {}).get(library) != version:
            notes.append(f"other {library}: {version} and {after.get('versions', {}).get(library)}")
    return notes


def _results(report: dict[str, Any]) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Yield the results by run: workload with its parameters, point, engine."""
    if "runs" not in report and "results" not in report:
        raise ValueError("a report has runs or results; write one with: python -m bench run … --json FILE")
    for outcome in report.get("runs", [report]):
        shape = {name: value for name, value in outcome["parameters"].items() if name != "name"}
        settings = ", ".join(f"{name}={value}" for name, value in sorted(shape.items()))
        for result in outcome["results"]:
            point = "".join(f" {name}={value}" for name, value in result.get("point", {}).items())
            run = f"{outcome['workload']}{point}"
            yield (run, f" ({settings}, seed={outcome['seed']})", result["engine"]), result


def as_text(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return a line per figure, then the number of changes for better and for worse."""
    found = changes(before, after)
    rows = [
        (
            change.run.split(" (")[0],
            change.engine,
            change.measure,
            figure(change.before),
            figure(change.after),
            f"{change.share:+.1%}",
            f"±{change.noise:.1%}",
            change.verdict,
        )
        for change in found
    ]
    verdicts = [change.verdict for change in found]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in ("better", "worse", "noise"))
    headings = ("run", "engine", "figure", "before", "after", "change", "noise", "")
    lines = [table(headings, rows)] if rows else ["the reports have no run in common"]
    commits = f"from {before.get('commit')} to {after.get('commit')}: {counted}"
    return "\n".join([*lines, *lost(before, after), commits])
