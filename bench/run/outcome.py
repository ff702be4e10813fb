"""Run every engine on the same data, at one point or several, and make the report."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bench import report
from bench.run import memory
from bench.run.agree import Disagreement, agree, described
from bench.run.material import Build, Material, generate, library_build, make_index
from bench.run.measure import measure
from bench.run.plan import EngineSpec, Plan
from bench.timing import Timing, pairs_of
from bench.workloads.base import changed

SIZES = ("subscriptions", "events", "sample")
"""The sizes that can be varied besides the parameters of the workload."""

Say = Callable[[str], Any]
_SCAN = EngineSpec("scan", "scan", {})


def run(
    plan: Plan, build: Build | None = None, *, say: Say = lambda _: None, deadline: float | None = None
) -> dict[str, Any]:
    """Measure every engine of ``plan``; raise :class:`Disagreement` if they do not give the same pairs.

    Engines that would begin after ``deadline`` (of ``time.monotonic``) are listed as skipped.
    """
    if build is None:
        _known(plan)
    return _report(plan, *_point(plan, build or library_build(), say, deadline))


def _known(plan: Plan) -> None:
    for spec in plan.specs():
        spec.known()


def vary(
    plan: Plan,
    parameter: str,
    values: list[str],
    *,
    say: Say = lambda _: None,
    deadline: float | None = None,
    budget: float | None = None,
) -> dict[str, Any]:
    """Run ``plan`` once for each of the ``values`` of ``parameter``; each result has its ``point``."""
    _known(plan)
    plans = [varied(plan, parameter, value) for value in values]
    for each in plans:
        memory.insist(each, budget)
    results: list[dict[str, Any]] = []
    skipped: list[str] = []
    for each, value in zip(plans, values, strict=True):
        label = f"{parameter}={value}"
        found, late = _point(each, library_build(), report.under(label, say), deadline)
        results += [result | {"point": {parameter: _plain(each, parameter)}} for result in found]
        skipped += [f"{name} at {label}" for name in late]
    return _report(plan, results, skipped) | {"vary": parameter}


def varied(plan: Plan, parameter: str, value: Any) -> Plan:
    """Return ``plan`` with another value of a size or of a parameter of its workload."""
    if parameter in SIZES:
        count: Any = _count(parameter, value)
        return replace(plan, **{parameter: count})
    try:
        return replace(plan, workload=changed(plan.workload, {parameter: value}))
    except ValueError as unknown:
        if "has no parameter" in str(unknown):
            raise ValueError(f"{unknown}, {', '.join(SIZES)}") from None
        raise


def _count(name: str, value: Any) -> int:
    try:
        count = int(str(value).replace("_", ""))
    except ValueError:
        count = -1
    if count < (name != "sample"):
        raise ValueError(f"{name} is a number of at least {int(name != 'sample')}, not {value!r}")
    return count


def _plain(plan: Plan, parameter: str) -> Any:
    return getattr(plan if parameter in SIZES else plan.workload, parameter)


def _point(
    plan: Plan, build: Build, say: Say, deadline: float | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the results of every engine on the data of ``plan``, and the engines without time left."""
    specs = plan.specs()
    say("generating")
    material = generate(plan)
    known: dict[str, Timing] = {}
    results, late = [], []
    for spec in specs:
        if deadline is not None and time.monotonic() > deadline:
            late.append(spec.text)
            continue
        result, timing = measure(plan, material, spec, build, report.under(spec.text, say))
        _insist_on_agreement(plan, material, known, spec.text, timing)
        known[spec.text] = timing
        results.append(result)
        gc.collect()
    if known and plan.checked and not any(spec.engine == "scan" for spec in specs):
        say("checking with scan")
        _insist_on_agreement(plan, material, known, "scan", _checked(plan, material, build))
    return results, late


def _checked(plan: Plan, material: Material, build: Build) -> Timing:
    """Return the pairs that ``scan`` finds for the first events."""
    events = material.events.slice(0, plan.checked)
    pairs, work = pairs_of(make_index(material, _SCAN, build), events)
    return Timing(events.num_rows, [], 0.0, [], None, work, pairs)


def _insist_on_agreement(
    plan: Plan, material: Material, known: dict[str, Timing], name: str, timing: Timing
) -> None:
    try:
        for other, before in known.items():
            agree(other, before, name, timing)
    except Disagreement as different:
        raise Disagreement(described(different.case, plan, material)) from None


def _report(plan: Plan, results: list[dict[str, Any]], skipped: list[str]) -> dict[str, Any]:
    return {
        "workload": plan.workload.name,
        "parameters": plan.as_parameters(),
        "seed": plan.seed,
        "results": results,
        "skipped": skipped,
        "machine": report.machine(),
        "versions": report.versions(),
        "commit": report.commit(),
    }
