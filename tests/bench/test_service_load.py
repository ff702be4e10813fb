"""Test a small load on the service, the source of the figures in the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.service.load import hold
from bench.service.market import listings, searches
from bench.service.stages import EVERY, Stage, hold_stages
from tamis import Index


@pytest.mark.slow
def test_load_is_held_and_counted(tmp_path: Path) -> None:
    figures = hold(tmp_path / "load", subscriptions=300, events=400, changes=200, seconds=11)
    assert figures["events_per_s"] > 0
    assert figures["changes_per_s"] > 0
    assert figures["last_lag"] <= figures["most_lag"]
    assert {"resident_mb", "segments", "slowest_s", "cores"} < set(figures["samples"][0])


@pytest.mark.slow
def test_stages_have_rates_latencies_and_the_work_of_the_index(tmp_path: Path) -> None:
    found = hold_stages(tmp_path / "stages", 300, [Stage(40, 2 * EVERY), Stage(80, EVERY)])
    assert [len(samples) for samples in found.stages] == [2, 1]
    assert found.stages[0][-1]["accepted"] > 0
    assert found.stages[0][-1]["latency_ms"] <= found.stages[0][-1]["slowest_ms"]
    assert found.work["candidates"] >= found.work["verified"]


def test_market_is_written_as_texts_and_objects() -> None:
    texts = list(searches(200, 1))
    assert len(texts) >= 200
    index = Index.build({str(at): text for at, text in enumerate(texts)})
    assert sum(len(index.match(listing)) for listing in listings(500, 1, 200)) > 0
