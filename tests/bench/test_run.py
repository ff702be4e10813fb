"""Test the runner: its report describes the measurement, and engines that differ fail the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import tamis
from bench import parts, report
from bench.__main__ import main
from bench.run import Disagreement, Plan, memory, run, summary
from bench.run.agree import agree
from bench.run.outcome import varied, vary
from bench.run.plan import EngineSpec
from bench.run.summary import bare_ratios, ratios
from bench.timing import Timing
from bench.workloads import W4
from bench.workloads.truth import Book, rows_of


class Fake:
    """An index that reads its book by brute force, and can lose or invent a pair."""

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
        work = SimpleNamespace(visited=1, candidates=len(pairs), verified=0, revised=0)
        yield SimpleNamespace(table=table, work=work, refused=[], first_row=0)

    def info(self) -> dict[str, Any]:
        return {"bytes": 800, "segments": []}

    def save(self, path: Path) -> None:
        path.mkdir()
        (path / "data").write_bytes(b"x" * 1_000)


def fake_build(columns: pa.Table, *, engine: str, parameters: Any, sample: Any) -> Fake:
    return Fake(columns, lose=engine == "loser", invent=engine == "inventor")


PLAN = Plan(W4(match_probability=0.05), subscriptions=200, events=30, engines=("scan", "fast"), repeats=2)


@pytest.fixture(autouse=True)
def _fake_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the parts of matching, because a fake cannot be taken apart."""
    monkeypatch.setattr(parts, "locate_events", lambda index, events: events)
    monkeypatch.setattr(parts, "scan_barely", lambda located: None)
    monkeypatch.setattr(parts, "match_located", lambda index, located: index.match_many(located))


@pytest.fixture
def outcome() -> dict[str, Any]:
    return run(PLAN, fake_build)


def test_report_has_a_result_for_each_engine(outcome: dict[str, Any]) -> None:
    assert [result["engine"] for result in outcome["results"]] == ["scan", "fast"]
    for result in outcome["results"]:
        assert result["us_per_event"] > 0
        assert result["spread"] >= 0
        assert result["bytes_per_subscription"] == 4.0
        assert result["disk_bytes"] == 1_000
        assert result["all_cores_us"] > 0
        assert result["events"] == 30
        assert result["one_event"]["p50_us"] <= result["one_event"]["p99_us"]
        assert result["match_probability"] == pytest.approx(0.05, rel=0.5)


def test_report_names_machine_and_versions(outcome: dict[str, Any]) -> None:
    assert outcome["workload"] == "w4-dense"
    assert outcome["parameters"]["subscriptions"] == 200
    assert outcome["seed"] == 1
    assert outcome["machine"]["cores"] >= 1
    assert outcome["versions"]["numpy"]
    assert outcome["skipped"] == []
    assert json.loads(json.dumps(outcome)) == outcome


def test_summary_names_every_engine(outcome: dict[str, Any]) -> None:
    text = summary(outcome)
    assert "scan" in text
    assert "fast" in text
    assert "200 subscriptions" in text


def test_bare_loop_is_a_second_baseline() -> None:
    results = [{"engine": "scan", "us_per_event": 80.0, "bare_loop_us": 20.0},
               {"engine": "fast", "us_per_event": 2.0, "bare_loop_us": None}]  # fmt: skip
    assert bare_ratios(results) == {"scan": 0.25, "fast": 10.0}
    assert bare_ratios(results[1:]) == {}


def test_ratios_need_a_scan() -> None:
    results = [{"engine": "scan", "us_per_event": 8.0}, {"engine": "fast", "us_per_event": 2.0}]
    assert ratios(results) == {"scan": 1.0, "fast": 4.0}
    assert ratios(results[1:]) == {}


def test_long_measurements_are_skipped_without_detail() -> None:
    (result,) = run(Plan(PLAN.workload, 50, 5, ("fast",), repeats=1, detail=False), fake_build)["results"]
    assert result.keys().isdisjoint({"one_event", "all_cores_us", "disk_bytes"})
    assert result["visited_per_event"] == 0.2


def test_skipped_engines_are_named() -> None:
    outcome = run(PLAN, fake_build, deadline=0.0)
    assert outcome["results"] == []
    assert outcome["skipped"] == ["scan", "fast"]
    assert "no time was left for fast" in summary(outcome)


@pytest.mark.parametrize(
    ("engine", "finder"), [("loser", "scan finds it"), ("inventor", "inventor finds it")]
)
def test_planted_disagreement_is_found(engine: str, finder: str) -> None:
    plan = Plan(PLAN.workload, 200, 30, ("scan", engine), repeats=1)
    with pytest.raises(Disagreement, match=f"event 0, subscription '.*': {finder}") as caught:
        run(plan, fake_build)
    case = caught.value.case
    assert case.parameters is not None
    assert case.attributes
    assert (case.holds, bool(case.expression)) == ((True, True) if engine == "loser" else (None, False))


def test_scan_checks_a_sample_when_it_is_not_among_the_engines() -> None:
    plan = Plan(PLAN.workload, 200, 30, ("loser",), repeats=1, detail=False)
    with pytest.raises(Disagreement, match="scan finds it, loser does not"):
        run(plan, fake_build)
    run(replace(plan, engines=("fast",)), fake_build)
    run(replace(plan, checked=0), fake_build)


def test_pair_reported_twice_is_a_disagreement() -> None:
    once, twice = ([(0, "a"), (1, "b")], [(0, "a"), (0, "a"), (1, "b")])
    with pytest.raises(Disagreement, match="event 0, subscription 'a': two finds it, one does not"):
        agree("one", timing(once), "two", timing(twice))


def timing(pairs: list[tuple[int, str]]) -> Timing:
    table = pa.table({"event": [event for event, _ in pairs], "subscription": [name for _, name in pairs]})
    return Timing(10, [], 0.0, [], None, {}, table)


def test_disagreement_is_written_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.run.outcome.library_build", lambda: fake_lossy)
    file = tmp_path / "report.json"
    arguments = ["run", "w4-dense", "-n", "4000", "-m", "30", "-e", "scan,hybrid", "--json", str(file)]
    result = CliRunner().invoke(main, [*arguments, "--set", "match_probability=0.05"])
    assert result.exit_code == 1
    assert "the engines disagree: event 0" in result.output
    assert "✓" in result.output
    case = json.loads((tmp_path / "report.disagreement.json").read_text(encoding="utf-8"))
    assert (case["finder"], case["loser"], case["holds"]) == ("scan", "hybrid", True)
    assert tamis.Index.build({"x": case["expression"]}).match(case["attributes"]) == ["x"]


def fake_lossy(columns: pa.Table, *, engine: str, parameters: Any, sample: Any) -> Fake:
    return Fake(columns, lose=engine == "hybrid", invent=False)


def test_parameter_is_varied_point_by_point() -> None:
    plan = Plan(W4(), 300, 20, ("hybrid",), repeats=1, detail=False)
    outcome = vary(plan, "match_probability", ["0.01", "0.2"])
    assert [result["point"] for result in outcome["results"]] == [
        {"match_probability": 0.01},
        {"match_probability": 0.2},
    ]
    few, many = (result["matches_per_event"] for result in outcome["results"])
    assert many > 5 * few
    assert "match_probability = 0.2" in summary(outcome)


def test_sizes_can_be_varied() -> None:
    assert varied(PLAN, "subscriptions", "1_000").subscriptions == 1_000
    with pytest.raises(ValueError, match="subscriptions is a number of at least 1, not '0'"):
        varied(PLAN, "subscriptions", "0")
    with pytest.raises(
        ValueError, match=r"no parameter 'warp'; it has dimensions, .*, subscriptions, events"
    ):
        varied(PLAN, "warp", "0")


def test_engines_are_read_with_their_parameters() -> None:
    spec = EngineSpec.read("bestar:beta=8:alpha=0.5").known()
    assert (spec.engine, spec.parameters) == ("bestar", {"beta": 8, "alpha": 0.5})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("warp", "'warp' is not one of scan, .*hybrid"),
        ("bestar:warp=1", "bestar has no parameter 'warp'; it has leaf, alpha"),
        ("bestar:beta", "'beta' in 'bestar:beta' is not a parameter: write NAME=NUMBER"),
        ("bestar:beta=x", "write NAME=NUMBER"),
        ("bestar:alpha=90", "alpha must lie between"),
    ],
)
def test_unknown_engines_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EngineSpec.read(text).known()


def test_run_that_does_not_fit_into_memory_is_refused() -> None:
    arguments = ["run", "w4-dense", "-n", "50000000", "--memory", "2"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "50,000,000 subscriptions of w4-dense would need about" in result.output
    assert "2.0 GB may be used" in result.output


def test_estimate_of_memory_grows_with_the_book() -> None:
    small, large = (memory.estimate(replace(PLAN, subscriptions=n)) for n in (1_000_000, 2_000_000))
    assert 0.5e9 < small < large < 2 * small
    memory.insist(PLAN, 1e9)


@pytest.mark.parametrize("text", ["alpha", "=1", "alpha=", "alpha=,"])
def test_varied_parameter_needs_values(text: str) -> None:
    result = CliRunner().invoke(main, ["run", "w4-dense", "-n", "100", "--vary", text])
    assert result.exit_code == 2
    assert "PARAM=V1,V2" in result.output


def test_unknown_workload_lists_the_known_ones() -> None:
    result = CliRunner().invoke(main, ["run", "nonsense"])
    assert result.exit_code == 2
    assert "w4-dense, w4-sparse, w4-ads, w4-queries, w5, market" in result.output


def test_unknown_engine_lists_the_known_ones() -> None:
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
