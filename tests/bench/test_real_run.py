"""Test small runs with the real library, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import parts
from bench.__main__ import main
from bench.run import Plan, run
from bench.workloads import W4, WORKLOADS
from bench.workloads.truth import Book, rows_of
from tamis import Index


@pytest.mark.parametrize("name", ["w1", "w1-cnf", "w1-prefix", "w2", "w3", "w4-sparse", "w4-ads", "market"])
def test_run_writes_a_report(name: str, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    arguments = ["run", name, "-n", "600", "-m", "40", "--repeats", "1", "--json", str(file)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "hybrid" in result.stdout
    report = json.loads(file.read_text(encoding="utf-8"))
    assert {entry["engine"] for entry in report["results"]} == {"scan", "hybrid"}
    assert all(entry["us_per_event"] > 0 for entry in report["results"])


def test_sample_and_threads_change_no_match() -> None:
    plan = Plan(W4(match_probability=0.02), 500, 50, ("scan", "hybrid"), repeats=1, threads=2, sample=100)
    scan, hybrid = run(plan)["results"]
    assert scan["matches_per_event"] == hybrid["matches_per_event"] > 5


def test_library_agrees_with_brute_force() -> None:
    for workload in (W4(match_probability=0.05), WORKLOADS["market"]):
        columns, events = workload.subscriptions(3_000, 2), workload.events(60, 2, 3_000)
        book, index = Book(columns), Index.build(columns)
        for event in rows_of(events):
            assert sorted(index.match(event)) == sorted(book.matches(event))


def test_bare_loop_counts_the_same_as_scan() -> None:
    w4 = W4(match_probability=0.05)
    index = Index.build(w4.subscriptions(400, 1), engine="scan")
    located = parts.locate_events(index, w4.events(30, 1))
    assert parts.scan_barely(located) == parts.match_located(index, located) > 100


def test_bare_loop_gives_none_when_literals_are_not_plain() -> None:
    market = WORKLOADS["market"]
    index = Index.build(market.subscriptions(400, 1), engine="scan")
    assert parts.scan_barely(parts.locate_events(index, market.events(5, 1))) is None
