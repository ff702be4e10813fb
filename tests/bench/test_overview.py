"""Test the whole report: goals with measurements, the size of a miss, and missing measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.figures.page import Section
from bench.overview import goals, overview, sections
from bench.peers.page import section as peers_section
from bench.report import write_json

SUITE: dict[str, Any] = {
    "figures": [
        {"name": "build", "value": 10.0, "unit": "s", "bound": 5, "at_least": False, "met": False},
        {"name": "dense", "value": 1_000.0, "unit": "×", "bound": 2_000, "at_least": True, "met": False},
        {"name": "sparse", "value": 5_000.0, "unit": "×", "bound": 2_000, "at_least": True, "met": True},
    ],
    "machine": {"processor": "<p>", "cores": 2, "memory_gb": 8, "system": "Linux"},
    "versions": {"numpy": "2"},
    "commit": "abc",
}
POINTS = [
    {"subscriptions": n, "value": n, "us_per_event": us, "matches_per_event": 1.0, "bytes": n, "build_s": 1.0}
    for n, us in ((1_000_000, 1.0), (10_000_000, 4.5))
]
SCALING: dict[str, Any] = {
    "curves": {
        "sparse": {"workload": "w4-sparse", "constant_matches": True, "points": POINTS},
        "dense": {"workload": "w4-dense", "constant_matches": False, "points": POINTS},
    }
}
VERDICT = {
    "mix": "mixed", "goal": "at least 20 times the fastest peer with 100,000 subscriptions", "peer": "other",
    "bound": 20.0, "takes": "one", "ratio": 10.0, "subscriptions": 100_000, "met": False,
}  # fmt: skip
ROW = {
    "mix": "mixed", "peer": "other", "version": "1", "batch": False, "remark": "slow <x>", "failure": "",
    "difference": "", "ratio": 10.0,
    "figures": {"us_per_event": 50.0, "subscriptions": 100_000, "events": 10, "build_s": 1.0},
}  # fmt: skip


def test_missed_goal_shows_by_how_much() -> None:
    found = {"suite": SUITE, "scaling": SCALING, "peers": {"verdicts": [VERDICT]}}
    assert [goal.row()[1:] for goal in goals(found)] == [
        ["10.0 × other", "✗ missed by 2.00×"],
        ["4.50×", "✗ missed by 1.50×"],
        ["10.0 s", "✗ missed by 2.00×"],
        ["1,000 ×", "✗ missed by 2.00×"],
        ["5,000 ×", "✓ met"],
    ]


def test_missing_measurement_is_named_with_its_command() -> None:
    html = overview({"suite": SUITE})
    assert "python -m bench scaling" in html
    assert "Nothing is here yet from <code>python -m bench peers" in html
    assert "&lt;p&gt;" in html


def test_report_holds_every_measurement(tmp_path: Path) -> None:
    write_json({"verdicts": [VERDICT], "results": [ROW]}, tmp_path / "peers.json")
    papers = [Section("papers", "Papers", "…")]
    assert [section.id for section in sections(papers, tmp_path)] == ["overview", "peers", "papers"]


def test_peers_are_drawn_and_listed() -> None:
    failed = ROW | {"peer": "corpse", "figures": {}, "ratio": None, "failure": "no memory"}
    html = peers_section({"verdicts": [VERDICT], "results": [ROW, failed]}).html
    assert html.count("<svg") == 1
    assert "no memory" in html
    assert "slow &lt;x&gt;" in html
    assert "MISSED" in html
