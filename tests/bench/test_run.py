"""The runner: a report that says what was measured, and no tolerance for engines that differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from bench import parts, report
from bench.__main__ import main
from bench.run import Disagreement, Plan, bare_ratios, run, summary
from bench.workloads import W4
from bench.workloads.truth import Book, rows_of


class Fake:
    """An index that reads its book by brute force and may be told to lose or invent a pair."""

    def __init__(self, columns: pa.Table, *, lose: bool, invent: bool) -> None:
        self._book, self._lose, self._invent = Book(columns), lose, invent

    def match(self, event: dict[str, Any]) -> list[str]:
        return self._book.matches(event)

    def match_many(self, events: pa.Table, *, threads: int = 1) -> pa.Table:
        return next(self.match_batches(events)).table

    def match_batches(self, events: pa.Table, *, threads: int = 1) -> Iterator[Any]:
        pairs = [(at, name) for at, event in enumerate(rows_of(events)) for name in self.match(event)]
        pairs = pairs[1:] if self._lose else pairs
        pairs = [*pairs, (0, "nobody")] if self._invent else pairs
        table = pa.table(
            {"event": [event for event, _ in pairs], "subscription": [name for _, name in pairs]}
        )
        work = SimpleNamespace(candidates=len(pairs), revised=0)
        yield SimpleNamespace(table=table, work=work, refused=[], first_row=0)

    def save(self, path: Path) -> None:
        path.mkdir()
        (path / "data").write_bytes(b"x" * 1_000)


def fake_build(columns: pa.Table, *, engine: str, sample: Any = None) -> Fake:
    return Fake(columns, lose=engine == "loser", invent=engine == "inventor")


PLAN = Plan(W4(match_probability=0.05), subscriptions=200, events=30, engines=("scan", "fast"), repeats=2)


@pytest.fixture(autouse=True)
def _fake_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake cannot be taken apart."""
    monkeypatch.setattr(parts, "locate_events", lambda index, events: events)
    monkeypatch.setattr(parts, "scan_barely", lambda located: None)
    monkeypatch.setattr(parts, "match_located", lambda index, located: index.match_many(located))


@pytest.fixture
def outcome() -> dict[str, Any]:
    return run(PLAN, fake_build)


def test_the_report_has_a_result_for_each_engine(outcome: dict[str, Any]) -> None:
    assert [result["engine"] for result in outcome["results"]] == ["scan", "fast"]
    for result in outcome["results"]:
        assert result["us_per_event"] > 0
        assert result["us_per_event"] <= result["us_per_event_worst"]
        assert result["bytes_per_subscription"] == 5.0
        assert result["events"] == 30
        assert result["one_event"]["p50_us"] <= result["one_event"]["p99_us"]
        assert result["match_probability"] == pytest.approx(0.05, rel=0.5)


def test_the_report_says_what_it_was_measured_on(outcome: dict[str, Any]) -> None:
    assert outcome["workload"] == "w4-dense"
    assert outcome["parameters"]["subscriptions"] == 200
    assert outcome["seed"] == 1
    assert outcome["machine"]["cores"] >= 1
    assert outcome["versions"]["numpy"]
    assert outcome["ratios_to_scan"]["scan"] == 1.0
    assert json.loads(json.dumps(outcome)) == outcome


def test_the_summary_names_every_engine(outcome: dict[str, Any]) -> None:
    text = summary(outcome)
    assert "scan" in text
    assert "fast" in text
    assert "200 subscriptions" in text


def test_a_bare_loop_is_a_second_baseline() -> None:
    results = [{"engine": "scan", "us_per_event": 80.0, "bare_loop_us": 20.0},
               {"engine": "fast", "us_per_event": 2.0, "bare_loop_us": None}]  # fmt: skip
    assert bare_ratios(results) == {"scan": 0.25, "fast": 10.0}
    assert bare_ratios(results[1:]) == {}


def test_ratios_need_a_scan() -> None:
    plan = Plan(PLAN.workload, 50, 5, ("fast",), repeats=1)
    assert run(plan, fake_build)["ratios_to_scan"] == {}


@pytest.mark.parametrize(
    ("engine", "finder"), [("loser", "scan finds it"), ("inventor", "inventor finds it")]
)
def test_a_planted_disagreement_is_found(engine: str, finder: str) -> None:
    plan = Plan(PLAN.workload, 200, 30, ("scan", engine), repeats=1)
    with pytest.raises(Disagreement, match=f"event 0, subscription '.*': {finder}"):
        run(plan, fake_build)


def test_an_unknown_workload_lists_the_known_ones() -> None:
    result = CliRunner().invoke(main, ["run", "nonsense"])
    assert result.exit_code == 2
    assert "w4-dense, w4-sparse, ads, market" in result.output


def test_an_unknown_engine_lists_the_known_ones() -> None:
    result = CliRunner().invoke(main, ["run", "w4-dense", "--engines", "scan,warp"])
    assert result.exit_code == 2
    assert "'warp' is not one of" in result.output
    assert "hybrid" in result.output


def test_describe_shows_subscriptions_and_how_often_they_match() -> None:
    result = CliRunner().invoke(main, ["describe", "market", "-n", "2000", "-m", "5"])
    assert result.exit_code == 0, result.output
    assert "search-0: category = " in result.output
    assert "match probability" in result.output


def test_tables_are_aligned() -> None:
    assert report.table(("a", "bc"), [("long", 1), ("x", 22)]) == "a     bc\n----  --\nlong   1\nx     22"


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "–"), (0, "0"), (0.0123, "0.012"), (1.5, "1.50"), (123.4, "123"), (12_345.6, "12,346")],
)
def test_figures_are_short(number: float | None, text: str) -> None:
    assert report.figure(number) == text
