"""Test the comparison of reports: noise is called noise, and only like is compared with like."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.compare import as_text, changes, lost
from bench.report import read_json, write_json


def report(**figures: Any) -> dict[str, Any]:
    usual = {"engine": "hybrid", "us_per_event": 10.0, "spread": 0.02, "bytes": 1_000, "build_s": 1.0}
    return {
        "workload": "w4-dense",
        "parameters": {"name": "w4-dense", "alpha": 0.0, "subscriptions": 1_000},
        "seed": 1,
        "results": [usual | figures],
        "machine": {"processor": "p", "cores": 2},
        "versions": {"numpy": "2"},
        "commit": "abc",
    }


def verdicts(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    return {change.measure: change.verdict for change in changes(before, after)}


@pytest.mark.parametrize(
    ("after", "verdict"), [(10.6, "noise"), (9.5, "noise"), (12.0, "worse"), (8.0, "better"), (10.0, "noise")]
)
def test_time_within_its_noise_is_noise(after: float, verdict: str) -> None:
    assert verdicts(report(), report(us_per_event=after))["match µs"] == verdict


def test_wide_spread_means_more_noise() -> None:
    assert verdicts(report(spread=0.3), report(us_per_event=12.0))["match µs"] == "noise"


def test_sizes_have_no_noise() -> None:
    assert verdicts(report(), report(bytes=1_010))["bytes"] == "worse"
    assert verdicts(report(), report(bytes=1_000))["bytes"] == "noise"


def test_only_figures_of_both_reports_are_compared() -> None:
    assert "p50 µs" not in verdicts(report(), report(one_event={"p50_us": 3.0}))
    both = report(one_event={"p50_us": 3.0}), report(one_event={"p50_us": 9.0})
    assert verdicts(*both)["p50 µs"] == "worse"


def test_runs_with_other_parameters_are_not_compared() -> None:
    other = report()
    other["parameters"] = other["parameters"] | {"alpha": 1.0}
    assert changes(report(), other) == []
    assert lost(report(), other)[0].startswith(
        "only in the first: w4-dense, hybrid: other parameters (alpha=0.0"
    )
    assert "no run in common" in as_text(report(), other)


def test_points_are_compared_separately() -> None:
    one, other = report(point={"alpha": 1}), report(point={"alpha": 2})
    assert changes(one, other) == []
    assert verdicts(one, copy.deepcopy(one))["match µs"] == "noise"


def test_another_machine_or_library_is_mentioned() -> None:
    other = report()
    other["machine"], other["versions"] = {"processor": "q", "cores": 2}, {"numpy": "3"}
    assert lost(report(), other) == [
        "other machine: processor p and q; times cannot be compared",
        "other numpy: 2 and 3",
    ]


def test_reports_with_several_runs_are_compared(tmp_path: Path) -> None:
    before, after = tmp_path / "a.json", tmp_path / "b.json"
    write_json({"runs": [report()], "commit": "a"}, before)
    write_json({"runs": [report(build_s=2.0)], "commit": "b"}, after)
    result = CliRunner().invoke(main, ["compare", str(before), str(after)])
    assert result.exit_code == 0, result.output
    assert "+100.0%  ±14.1%  worse" in result.output
    assert "from a to b: 0 better, 1 worse, 2 noise" in result.output


@pytest.mark.parametrize("content", ["nonsense", "{}"])
def test_file_that_is_no_report_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(content, encoding="utf-8")
    result = CliRunner().invoke(main, ["compare", str(file), str(file)])
    assert result.exit_code == 1
    assert "report" in result.output


def test_suite_keeps_its_figures_when_the_old_file_is_malformed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = {"quick": True, "figures": [], "runs": [report()], "commit": "b"}
    monkeypatch.setattr("bench.suite.suite", lambda quick: outcome)
    file = tmp_path / "suite.json"
    arguments = ["suite", "--quick", "--json", str(file)]
    assert "compared" not in CliRunner().invoke(main, arguments).output
    again = CliRunner().invoke(main, arguments)
    assert "0 better, 0 worse, 3 noise" in again.output
    file.write_text("nonsense", encoding="utf-8")
    broken = CliRunner().invoke(main, arguments)
    assert broken.exit_code == 1
    assert "cannot be compared with" in broken.output
    assert read_json(file) == outcome
