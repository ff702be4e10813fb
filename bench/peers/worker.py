"""Run one peer in its own process.

``python -m bench.peers.worker NAME FILE ANSWERS SUBSCRIPTIONS BUDGET``. A peer that hangs, crashes or takes
all memory then spoils only its own row.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.peers.course import Peer

CLASSES = {
    "tamis": "bench.peers.tamis_side:OneEvent",
    "tamis-batch": "bench.peers.tamis_side:Batch",
    "rule-engine": "bench.peers.python_rules:RuleEngine",
    "json-logic": "bench.peers.python_rules:JsonLogic",
    "eval": "bench.peers.python_rules:Eval",
    "duckdb": "bench.peers.sql:DuckDb",
    "sqlite": "bench.peers.sql:Sqlite",
    "spark": "bench.peers.spark:SparkSql",
}


def main(arguments: list[str]) -> None:
    """Run the course and print its outcome as the last line."""
    for library in ("OMP", "NUMBA", "OPENBLAS"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    from bench.peers import common_file, course

    name, file, answers, subscriptions, budget = arguments
    content = common_file.read(Path(file), int(subscriptions))
    outcome = course.run(make(name), content, float(budget), Path(answers))
    print(course.as_line(outcome))


def make(name: str) -> Peer:
    """Return the peer called ``name``."""
    module, _, class_name = CLASSES[name].partition(":")
    peer: Peer = getattr(import_module(module), class_name)()
    return peer


if __name__ == "__main__":
    main(sys.argv[1:])
