"""Measure small figures beside the runs: parsing, bulk columns, the overhead of a call, start-up."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.describe import examples
from bench.run.material import library_build
from bench.timing import seconds
from bench.workloads import WORKLOADS


def parse_speed(one_sided: float) -> float:
    """Return the W4 expressions with five predicates parsed per second; those not one-sided are BETWEEN."""
    from bench.workloads import W4
    from tamis import parse

    columns = W4(spread=0, one_sided=one_sided).subscriptions(2_000, 1)
    texts = [text for _, text in examples(columns, 2_000)]
    return max(len(texts) / seconds(lambda: [parse(text) for text in texts])[0] for _ in range(5))


def bulk_speed(scale: int) -> float:
    """Return the predicates per second through the columns."""
    from tamis.columns import columns_from_arrow

    table = WORKLOADS["w4-dense"].subscriptions(200_000 // scale, 1)
    return max(float(table.num_rows) / seconds(lambda: columns_from_arrow(table))[0] for _ in range(3))


def overhead(scale: int) -> float:
    """Return the microseconds of ``match`` with a dictionary when the engine has next to nothing to do."""
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
    """Return the seconds of ``import tamis`` in a new process, the median of five."""
    return statistics.median(_in_new_process(_IMPORT) for _ in range(5))


def first_match_warm(scale: int) -> float:
    """Return the seconds from opening an index to its first match, with compiled kernels."""
    return _first_match({}, warm=True)


def first_match_cold(scale: int) -> float:
    """Return the same seconds with an empty cache of compiled kernels."""
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
    """Return the number that ``code`` prints last."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


SMALL: dict[str, Callable[[int], float]] = {
    "parse, five comparisons": lambda scale: parse_speed(1.0),
    "parse, five predicates, three of them BETWEEN": lambda scale: parse_speed(0.25),
    "bulk columns": bulk_speed,
    "match of one dict, next to no kernel": overhead,
    "import tamis": import_time,
    "first match, warm cache": first_match_warm,
    "first match ever": first_match_cold,
}
