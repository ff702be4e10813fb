"""Define figures: panels of curves over measured points, and the paper's claims about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bench.workloads import WORKLOADS

X = float | str
Series = dict[X, float]

FEWEST = 1_000  # number of subscriptions that remain, however small the scale


@dataclass(frozen=True)
class Job:
    """A unit of measurement: some engines on the same data. Figures that need the same job share it."""

    workload: str
    subscriptions: int
    engines: tuple[str, ...]
    parameters: tuple[tuple[str, Any], ...] = ()
    events: int = 1_000
    sample: int = 0
    batch: int = 4_096
    kind: str = "match"  # or "top", "intervals", "service"
    seed: int = 1

    def scaled(self, scale: int) -> Job:
        """Return the job with ``scale`` times fewer subscriptions."""
        if scale == 1:
            return self
        return replace(
            self,
            subscriptions=max(min(FEWEST, self.subscriptions), self.subscriptions // scale),
            events=max(64, self.events // scale),
            sample=self.sample and max(64, self.sample // scale),
        )

    def key(self) -> str:
        """Return a key that is equal for equal work."""
        text = json.dumps(asdict(self), sort_keys=True)
        return f"{self.workload}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def job(workload: str, subscriptions: int, engines: tuple[str, ...], /, **options: Any) -> Job:
    """Return a job; options that are not fields of :class:`Job` are parameters of the workload.

    A parameter that equals its default is left out, so that figures which cross at the defaults share the
    job.
    """
    own = {name: options.pop(name) for name in ("events", "sample", "batch", "kind") if name in options}
    usual = WORKLOADS[workload].parameters() if workload in WORKLOADS else {}
    changed = sorted(item for item in options.items() if item[0] not in usual or usual[item[0]] != item[1])
    return Job(workload, subscriptions, engines, tuple(changed), **own)


@dataclass(frozen=True)
class Curve:
    """One line: an engine (``{x}`` in its name stands for the place on the x axis) and its label."""

    engine: str
    label: str
    measure: str = ""  # unless that of the panel

    def engine_at(self, x: X) -> str:
        """Return the engine to measure at ``x``."""
        return self.engine.replace("{x}", str(x))


@dataclass(frozen=True)
class Panel:
    """One plot: a job for every place on the x axis, and the curves to take from them."""

    title: str
    x_label: str
    measure: str
    points: tuple[tuple[X, Job], ...]
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = True
    kind: str = "lines"  # or "stacked", "table"
    ticks: tuple[tuple[X, str], ...] = ()  # names for places
    paper: Mapping[str, Series] = field(default_factory=dict)  # values that the paper's text states, by label

    def jobs(self) -> list[Job]:
        """Return every job to measure."""
        return [work for _, work in self.points]

    def scaled(self, scale: int) -> Panel:
        """Return the panel with ``scale`` times fewer subscriptions, also if they are the x axis."""
        points = [(x, work, work.scaled(scale)) for x, work in self.points]
        moved: dict[X, X] = {x: small.subscriptions for x, work, small in points if x == work.subscriptions}
        paper = {
            label: {moved.get(x, x): value for x, value in values.items()}
            for label, values in self.paper.items()
        }
        return replace(self, points=tuple((moved.get(x, x), small) for x, _, small in points), paper=paper)

    def series(self, results: Mapping[str, Any]) -> dict[str, Series]:
        """Return the measured curves by label; ``results`` is by key of the job."""
        found: dict[str, Series] = {}
        for curve in self.curves:
            values = {x: _value(results.get(work.key()), curve, x, self.measure) for x, work in self.points}
            found[curve.label] = {x: value for x, value in values.items() if value is not None}
        return found


def _value(result: Any, curve: Curve, x: X, measure: str) -> float | None:
    if result is None:
        return None
    value = result["results"].get(curve.engine_at(x), {}).get(curve.measure or measure)
    return None if value is None else float(value)


@dataclass(frozen=True)
class Answer:
    """The measured answer to a claim: in words, and the verdict."""

    text: str
    verdict: str


Data = list[dict[str, Series]]  # one entry per panel


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, in our words, and the function that computes the answer from the panels.

    ``why`` explains a verdict other than *holds*.
    """

    text: str
    judge: Callable[[Data], Answer]
    why: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper; without panels it is not drawn, and ``reason`` says why.

    ``shape`` describes the paper's own picture in our words.
    """

    number: str
    title: str
    panels: tuple[Panel, ...] = ()
    claims: tuple[Claim, ...] = ()
    note: str = ""
    reason: str = ""
    shape: str = ""

    @property
    def name(self) -> str:
        """The name as the paper gives it: ``Figure 7``, ``Table II``."""
        return self.number if self.number.startswith("Table") else f"Figure {self.number}"

    def jobs(self) -> list[Job]:
        """Return every job to measure."""
        return [work for panel in self.panels for work in panel.jobs()]

    def scaled(self, scale: int) -> Figure:
        """Return the figure with ``scale`` times fewer subscriptions."""
        return replace(self, panels=tuple(panel.scaled(scale) for panel in self.panels))

    def series(self, results: Mapping[str, Any]) -> Data:
        """Return the measured curves of every panel."""
        return [panel.series(results) for panel in self.panels]

    def answers(self, data: Data) -> list[Answer]:
        """Return the answer to each claim."""
        return [claim.judge(data) for claim in self.claims]


@dataclass(frozen=True)
class Paper:
    """A paper and its figures."""

    name: str
    title: str
    about: str
    figures: tuple[Figure, ...]

    def named(self) -> dict[str, Figure]:
        """Return the figures by the names that the command takes: ``opindex-7``, ``pstree-table-2``."""
        return {
            f"{self.name}-{figure.number.replace(' ', '-').casefold()}": figure for figure in self.figures
        }

    def scaled(self, scale: int) -> Paper:
        """Return the paper with ``scale`` times fewer subscriptions."""
        return replace(self, figures=tuple(figure.scaled(scale) for figure in self.figures))


def sweep(job_at: Callable[[Any], Job], *values: Any) -> tuple[tuple[X, Job], ...]:
    """Return a point for every value."""
    return tuple((value, job_at(value)) for value in values)
