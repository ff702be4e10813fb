"""Print a run as tables for people."""

from __future__ import annotations

from typing import Any

from bench.report import figure, table

COLUMNS: dict[str, str] = {
    "match µs": "us_per_event",
    "± %": "spread",
    "locate µs": "locate_us",
    "all µs": "end_to_end_us",
    "all cores µs": "all_cores_us",
    "p50 µs": "p50_us",
    "p99 µs": "p99_us",
    "warm-up s": "warm_up_s",
    "build s": "build_s",
    "B/sub": "bytes_per_subscription",
    "on disk": "disk_per_subscription",
    "visited": "visited_per_event",
    "candidates": "candidates_per_event",
    "revised": "revised_per_event",
    "matches": "matches_per_event",
}

LEGEND = (
    "µs are per event. match: from located events to matches, one core; all: from table to table, one core\n"
    "and all; p50, p99: one dictionary at a time; warm-up: a first small build and match, with compilation"
)


def summary(outcome: dict[str, Any]) -> str:
    """Return a table per point, then notes for reading it."""
    parts = [_title(outcome)]
    for point in _points(outcome):
        results = [result for result in outcome["results"] if result.get("point") == point]
        if point:
            parts.append("\n" + ", ".join(f"{name} = {value}" for name, value in point.items()))
        parts.append(_table(results))
    return "\n".join([*parts, *_notes(outcome), LEGEND])


def _title(outcome: dict[str, Any]) -> str:
    parameters = outcome["parameters"]
    return f"{outcome['workload']}: {parameters['subscriptions']:,} subscriptions, seed {outcome['seed']}"


def _points(outcome: dict[str, Any]) -> list[Any]:
    points: list[Any] = []
    for result in outcome["results"]:
        if result.get("point") not in points:
            points.append(result.get("point"))
    return points


def ratios(results: list[dict[str, Any]], name: str = "us_per_event") -> dict[str, float]:
    """Return how many times faster than ``scan`` each engine is."""
    by_engine = {result["engine"]: result[name] for result in results}
    scan = by_engine.get("scan")
    return {engine: scan / us for engine, us in by_engine.items()} if scan else {}


def bare_ratios(results: list[dict[str, Any]]) -> dict[str, float]:
    """Return how many times faster than a bare loop over the clauses each engine is, if that was timed."""
    bare = next((result["bare_loop_us"] for result in results if result["bare_loop_us"]), None)
    return {result["engine"]: bare / result["us_per_event"] for result in results} if bare else {}


def _table(results: list[dict[str, Any]]) -> str:
    compared = {"× scan": ratios(results), "× bare": bare_ratios(results)}
    compared = {heading: values for heading, values in compared.items() if values}
    shown = {
        heading: name
        for heading, name in COLUMNS.items()
        if any(_value(r, name) is not None for r in results)
    }
    rows = []
    for result in results:
        times = [figure(values.get(result["engine"])) for values in compared.values()]
        rows.append([result["engine"], *times, *(figure(_value(result, name)) for name in shown.values())])
    return table(("engine", *compared, *shown), rows)


def _value(result: dict[str, Any], name: str) -> float | None:
    if name in ("p50_us", "p99_us"):
        return dict(result.get("one_event", {})).get(name)
    if name == "spread":
        return 100 * float(result["spread"])
    if name == "disk_per_subscription":
        share = float(result["bytes_per_subscription"]) / float(result["bytes"])
        return result["disk_bytes"] * share if "disk_bytes" in result else None
    found: float | None = result.get(name)
    return found


def _notes(outcome: dict[str, Any]) -> list[str]:
    wanted = outcome["parameters"]["events"]
    few = {
        f"{result['engine']} is slow and was timed on {result['events']:,} of {wanted:,} events"
        for result in outcome["results"]
        if result["events"] < wanted and outcome.get("vary") != "events"
    }
    late = [f"no time was left for {name}" for name in outcome["skipped"]]
    chosen = [f"auto took {result['choice']}" for result in outcome["results"] if result["choice"]]
    return [*sorted(few), *late, *chosen, _probability(outcome)]


def _probability(outcome: dict[str, Any]) -> str:
    found = sorted({f"{result['match_probability']:.2g}" for result in outcome["results"]}, key=float)
    asked = outcome["parameters"].get("match_probability")
    wanted = f" (wanted: {asked:g})" if asked and outcome.get("vary") != "match_probability" else ""
    return f"match probability {' to '.join(dict.fromkeys((found[0], found[-1])))}{wanted}" if found else ""
