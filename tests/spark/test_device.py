"""Match on a graphics card in the function of a task; Numba's simulator stands in for the card."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import tamis.spark
from tamis import Index
from tamis.errors import InputError
from tamis.spark import worker
from tests.simulator import use_simulator

use_simulator()
BATCH = pa.RecordBatch.from_pydict({"event_id": ["e", "f"], "a": [1, 3]})


class Context:
    """Stand for a task that has the card with number 0."""

    def resources(self) -> dict[str, Any]:
        class Cards:
            addresses = ("0",)

        return {"gpu": Cards()}


@pytest.mark.parametrize("context", [None, Context()])
def test_task_matches_on_its_card(monkeypatch: pytest.MonkeyPatch, context: Context | None) -> None:
    index = Index.build({"one": "a = 1", "many": "a >= 1"})
    monkeypatch.setattr(worker, "open_shards", lambda *_, **__: index)
    monkeypatch.setattr(worker.TaskContext, "get", lambda: context)
    expected = "cuda" if context is None else "cuda:0"
    assert worker.card_of_task("cuda") == expected
    found = {}
    for device in ("cpu", "cuda"):
        task = worker.MatchTask("index", 1, worker.MatchOptions(device=device))
        rows = [row for batch in task(iter([BATCH])) for row in batch.to_pylist() if row["note"] is None]
        found[device] = sorted((row["event_id"], row["subscription_id"]) for row in rows)
    assert found["cuda"] == found["cpu"] == [("e", "many"), ("e", "one"), ("f", "many")]


@pytest.mark.parametrize(
    ("options", "reason"), [({"device": "gpu"}, "device is"), ({"device": "cuda", "k": 3}, "with k")]
)
def test_unusable_device_is_refused_on_the_driver(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        tamis.spark.match("index", **options)
