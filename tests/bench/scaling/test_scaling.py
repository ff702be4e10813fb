"""Test scaling: lines are counted right, pieces equal the whole, and the story follows the points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.scaling import story
from bench.scaling._kernels import distinct_lines, lines_of
from bench.scaling.curves import CURVES, Miscount, check
from bench.scaling.hardware import hardware
from bench.scaling.page import section
from bench.scaling.shelf import Shelf
from bench.scaling.touched import ARRAYS, bytes_touched
from bench.workloads import W4
from tamis import Index


def test_cache_lines_are_counted_whole() -> None:
    assert [lines_of(*part) for part in ((0, 0, 4), (0, 1, 4), (0, 16, 4), (15, 17, 4), (0, 17, 8))] == [
        0, 1, 1, 2, 3,
    ]  # fmt: skip
    assert distinct_lines(np.array([0, 3, 4, 400, 1]), 5, 16) == 3


def test_event_touches_the_lines_it_visits() -> None:
    book = {f"s{n}": f"a = {n % 50} AND b >= {n}" for n in range(400)}
    index = Index.build(book)
    events = [{"a": 7, "b": 1}, {"a": 8, "b": 1}]
    touched = bytes_touched(index, pa.Table.from_pylist(events))
    assert list(touched) == list(ARRAYS)
    assert touched["heads"] == 64  # two dimensions, side by side
    assert 64 <= touched["inline records"] <= 192
    assert bytes_touched(index, pa.Table.from_pylist([{"z": 1}])) == dict.fromkeys(ARRAYS, 0.0)


def test_pieces_find_the_same_as_the_whole(tmp_path: Path) -> None:
    workload = W4(match_probability=0.02)
    shelf = Shelf.build(workload, 5_000, 2_000, tmp_path, lambda text: None)
    events = workload.events(50, 1, 5_000)
    whole = Index.build(workload.subscriptions(5_000, 1)).match_many(events)
    assert len(shelf.indexes) == 3
    assert sum(len(index) for index in shelf.indexes) == 5_000
    assert shelf.match_us(events)[1] == whole.num_rows / 50 > 50


def test_miscount_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = W4(match_probability=0.05)
    index, events = Index.build(workload.subscriptions(500, 1)), workload.events(5, 1, 500)
    check(index, events)
    monkeypatch.setattr("bench.parts.search_located", lambda *_: 1)
    with pytest.raises(Miscount, match="1 clauses found for 5 events"):
        check(index, events)


def test_equal_subscriptions_are_no_miscount() -> None:
    index = Index.build({f"s{n}": f"a >= {n % 3}" for n in range(30)})
    check(index, pa.table({"a": [0, 1, 2]}))


def test_memory_is_measured() -> None:
    found = hardware(1 << 20, 10_000)
    assert found["bandwidth_gb_s"] > 0
    assert found["latency_ns"] > 0


def points(*pairs: tuple[float, float], size: int = 100) -> list[dict[str, Any]]:
    return [
        {"value": n, "subscriptions": n, "us_per_event": us, "matches_per_event": 2.0, "bytes": size * n}
        for n, us in pairs
    ]


def test_growth_is_judged_from_one_million_to_ten() -> None:
    curve = points((10_000, 1.0), (100_000, 1.0), (1_000_000, 2.0), (10_000_000, 5.0), (100_000_000, 90.0))
    grown = story.growth(curve)
    assert grown is not None
    assert (grown.times, grown.matches, grown.met) == (2.5, 1.0, True)
    worse = story.growth(points((1_000_000, 2.0), (10_000_000, 6.5)))
    assert worse is not None
    assert not worse.met
    assert story.growth(points((1_000_000, 2.0))) is None


def test_bend_names_the_outgrown_cache() -> None:
    curve = points((1_000, 1.0), (10_000, 1.1), (100_000, 4.0))
    assert story.bend(curve, {"L2": 500_000, "L3": 10**9}).endswith("the index (1 MB) outgrows L2")
    for point, met in zip(curve, (10.0, 12.0, 60.0), strict=True):
        point["candidates"] = met
    assert story.bend(curve, {}).endswith("the postings that an event meets grow 1.2× before and 5.0× after")
    flat = points((1_000, 1.0), (10_000, 2.0), (100_000, 4.0))
    assert story.bend(flat, {}) == "no bend: cost grows with the power 0.30 to 0.30"


def test_distance_to_the_hardware_is_computed() -> None:
    point = points((1_000, 2.0))[0] | {"touched": {"rows": 6_400.0}}
    far = story.distance(point, {"bandwidth_gb_s": 10.0})
    assert far is not None
    assert (far.touched, far.gb_s, far.share) == (6_400.0, 3.2, 0.32)
    assert story.distance(points((1_000, 2.0))[0], {}) is None


def test_command_measures_writes_and_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.scaling.summary.hardware", lambda: hardware(1 << 20, 10_000))
    file = tmp_path / "scaling.json"
    arguments = ["scaling", "--scale", "1000", "--most", "100", "--curves", "dense", "--json", str(file)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "ten times the subscriptions cost" in result.stdout
    found = json.loads(file.read_text(encoding="utf-8"))
    assert [point["subscriptions"] for point in found["curves"]["dense"]["points"]] == [10, 30, 100]
    again = CliRunner().invoke(main, [*arguments[:-3], "event", "--json", str(file)])
    assert again.exit_code == 0, again.output
    assert list(json.loads(file.read_text(encoding="utf-8"))["curves"]) == ["dense", "event"]
    html = section(found).html
    assert html.count("<svg") == 2
    assert "KB touched" in html


def test_unknown_curve_lists_the_known_ones() -> None:
    result = CliRunner().invoke(main, ["scaling", "--curves", "nonsense"])
    assert result.exit_code == 2
    assert all(curve.name in result.output for curve in CURVES)
