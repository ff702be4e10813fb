"""The suite behind ``make bench``: every figure that has a target, beside that target."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import report
from bench.describe import examples
from bench.run import Plan, library_build, run, say, summary
from bench.timing import seconds
from bench.workloads import WORKLOADS

LATEST = report.ROOT / "bench" / "results" / "latest.json"


@dataclass(frozen=True)
class Target:
    """A figure and the bound it must keep."""

    name: str
    bound: float
    unit: str
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Whether ``value`` keeps the bound."""
        return value >= self.bound if self.at_least else value <= self.bound


TARGETS = (
    Target("w4-dense, match, against scan", 200, "×", at_least=True),
    Target("w4-dense, match, against a bare loop", 200, "×", at_least=True),
    Target("w4-dense, end to end, against scan", 200, "×", at_least=True),
    Target("w4-sparse, match, against scan", 3_000, "×", at_least=True),
    Target("w4-sparse, match, against a bare loop", 3_000, "×", at_least=True),
    Target("w4-sparse, end to end, against scan", 3_000, "×", at_least=True),
    Target("w4-dense, build", 5, "s"),
    Target("w4-sparse, build", 5, "s"),
    Target("w4-dense, on disk", 150, "bytes a subscription"),
    Target("w4-sparse, on disk", 150, "bytes a subscription"),
    Target("parse, five comparisons", 30_000, "expressions/s", at_least=True),
    Target("parse, five predicates, three of them BETWEEN", 30_000, "expressions/s", at_least=True),
    Target("bulk columns", 1_000_000, "predicates/s", at_least=True),
    Target("match of one dict, next to no kernel", 15, "µs"),
    Target("import tamis", 0.3, "s"),
    Target("first match, warm cache", 1, "s"),
    Target("first match ever", 20, "s"),
)


def suite(*, quick: bool = False) -> dict[str, Any]:
    """Measure everything; ``quick`` uses a hundredth of the subscriptions."""
    scale = 100 if quick else 1
    figures: dict[str, float] = {}
    runs = []
    for name in ("w4-dense", "w4-sparse"):
        outcome = run(Plan(WORKLOADS[name], 1_000_000 // scale, 10_000 // scale, repeats=3))
        runs.append(outcome)
        say(summary(outcome))
        figures |= _run_figures(name, outcome)
    for title, measure in _SMALL.items():
        say(title)
        figures[title] = measure(scale)
    return {
        "quick": quick,
        "figures": [_judged(target, figures[target.name]) for target in TARGETS],
        "runs": runs,
        "machine": report.machine(),
        "versions": report.versions(),
        "commit": report.commit(),
    }


def _judged(target: Target, value: float) -> dict[str, Any]:
    sign = ">=" if target.at_least else "<="
    return {
        "name": target.name,
        "value": value,
        "unit": target.unit,
        "target": f"{sign} {target.bound:,}",
        "met": target.met(value),
    }


def suite_summary(outcome: dict[str, Any]) -> str:
    """One table, a figure a line."""
    rows = [
        (f["name"], report.figure(f["value"]), f["target"], f["unit"], "yes" if f["met"] else "NO")
        for f in outcome["figures"]
    ]
    note = "\nmeasured at a hundredth of the size: ratios and bytes mean little" if outcome["quick"] else ""
    return report.table(("figure", "measured", "target", "unit", "met"), rows) + note


def _run_figures(name: str, outcome: dict[str, Any]) -> dict[str, float]:
    hybrid = next(result for result in outcome["results"] if result["engine"] == "hybrid")
    return {
        f"{name}, match, against scan": outcome["ratios_to_scan"]["hybrid"],
        f"{name}, match, against a bare loop": outcome["ratios_to_bare_loop"]["hybrid"],
        f"{name}, end to end, against scan": outcome["end_to_end_ratios_to_scan"]["hybrid"],
        f"{name}, build": hybrid["build_s"],
        f"{name}, on disk": hybrid["bytes_per_subscription"],
    }


def parse_speed(one_sided: float) -> float:
    """W4 expressions with five predicates parsed per second; the share that is not one-sided is BETWEEN."""
    from bench.workloads import W4
    from tamis import parse

    columns = W4(spread=0, one_sided=one_sided).subscriptions(2_000, 1)
    texts = [text for _, text in examples(columns, 2_000)]
    return max(len(texts) / seconds(lambda: [parse(text) for text in texts])[0] for _ in range(5))


def bulk_speed(scale: int) -> float:
    """Predicates per second through the columns."""
    from tamis.lang.columns import columns_from_arrow

    table = WORKLOADS["w4-dense"].subscriptions(200_000 // scale, 1)
    return max(float(table.num_rows) / seconds(lambda: columns_from_arrow(table))[0] for _ in range(3))


def overhead(scale: int) -> float:
    """Microseconds that ``match`` of a dictionary takes when the engine has next to nothing to do."""
    index = library_build()({f"s{at}": f"a{at} = {100 + at}" for at in range(30)}, engine="hybrid")
    event = {f"a{at}": at for at in range(30)}
    rounds = 20_000 // scale
    index.match(event)
    return min(_mean_us(lambda: index.match(event), rounds) for _ in range(3))


def _mean_us(call: Callable[[], Any], rounds: int) -> float:
    def loop() -> None:
        for _ in range(rounds):
            call()

    return seconds(loop)[0] * 1e6 / rounds


_IMPORT = "import time; t = time.perf_counter(); import tamis; print(time.perf_counter() - t)"
_FIRST = """
import sys, time, tamis
start = time.perf_counter()
index = tamis.Index.open(sys.argv[1])
index.match({"a0": 1, "a1": 2})
print(time.perf_counter() - start)
"""


def import_time(scale: int) -> float:
    """Seconds of ``import tamis`` in a new process, the median of five."""
    return statistics.median(_in_new_process(_IMPORT) for _ in range(5))


def first_match_warm(scale: int) -> float:
    """Seconds from opening an index to its first match, kernels compiled before."""
    return _first_match({}, warm=True)


def first_match_cold(scale: int) -> float:
    """The same with an empty cache of compiled kernels."""
    with tempfile.TemporaryDirectory() as cache:
        return _first_match({"NUMBA_CACHE_DIR": cache}, warm=False)


def _first_match(environment: dict[str, str], *, warm: bool) -> float:
    index = library_build()({"one": "a0 = 1 AND a1 >= 2", "two": "a1 < 9"}, engine="hybrid")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        index.save(path)
        if warm:
            _in_new_process(_FIRST, str(path), **environment)
        return _in_new_process(_FIRST, str(path), **environment)


def _in_new_process(code: str, *arguments: str, **environment: str) -> float:
    """The number that ``code`` prints last."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


_SMALL: dict[str, Callable[[int], float]] = {
    "parse, five comparisons": lambda scale: parse_speed(1.0),
    "parse, five predicates, three of them BETWEEN": lambda scale: parse_speed(0.25),
    "bulk columns": bulk_speed,
    "match of one dict, next to no kernel": overhead,
    "import tamis": import_time,
    "first match, warm cache": first_match_warm,
    "first match ever": first_match_cold,
}
