"""Test that recently matched events decide how a merge lays out the index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tamis import Index
from tamis.index import recent

ROWS = {f"s{n}": f"state = 'new' AND owner = 'o{n % 40}'" for n in range(400)}
ROWS |= {f"t{n}": f"state = 'x{n}'" for n in range(60)}
STALE = [{"state": f"x{n % 60}", "owner": "o5"} for n in range(400)]
EVENT = {"state": "new", "owner": "o5"}


def events(count: int) -> list[dict[str, Any]]:
    return [{"state": "new", "owner": f"o{n % 40}"} for n in range(count)]


def merged_after(index: Index) -> int:
    """Return the postings read for EVENT after everything has been laid out anew."""
    index.add("extra", "owner = 'nobody'")
    index.merge()
    return index.match(EVENT).work.candidates


@pytest.mark.parametrize("form", [list, pa.Table.from_pylist], ids=["list", "table"])
def test_merge_uses_the_events_seen(form: Any) -> None:
    index = Index.build(ROWS, sample=STALE)
    assert index.match(EVENT).work.candidates >= 40  # all that ask for the state
    index.match_many(form(events(600)), batch_size=4, threads=1)
    assert merged_after(index) <= 5


def test_merge_keeps_the_training_documents_of_presearch() -> None:
    """Recent events are at most 512, and a pair of terms counts from 200 documents on."""
    times = {"time_check": 10_000, "time_and": 95, "time_avoid": 2_000, "pair_documents": 50}
    seen, unseen = (Index.build(ROWS, engine="presearch", parameters=times, sample=STALE) for _ in range(2))
    seen.match_many(events(600), batch_size=1, threads=1)
    assert seen._writer.recent.sample() is not None
    expected, found = (merged_arrays(index) for index in (unseen, seen))
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name
    untrained = Index.build(ROWS, engine="presearch", parameters=times)
    untrained.match_many(events(600), batch_size=1, threads=1)
    arrays = merged_arrays(untrained)
    assert any(not np.array_equal(arrays[name], array) for name, array in expected.items())


def merged_arrays(index: Index) -> dict[str, Any]:
    """Return every array of the one segment after a merge."""
    index.add("extra", "owner = 'nobody'")
    index.merge()
    (layer,) = index._writer.current.layers
    return {name: layer.segment.arena[name] for name in layer.segment.arena.slots}


def test_single_events_also_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "EVERY", 1)
    index = Index.build(ROWS, sample=STALE)
    for event in events(recent.ENOUGH):
        index.match(event)
    assert merged_after(index) <= 5


def test_few_events_change_nothing_and_refused_ones_are_not_kept() -> None:
    index = Index.build(ROWS)
    index.match_many([{"state": float("nan")}] * 600, batch_size=4, threads=1)
    assert index._writer.recent.sample() is None
    index.match_many(events(8))
    assert index._writer.recent.sample() is None


def test_recent_events_are_kept_up_to_a_bound() -> None:
    index = Index.build(ROWS)
    index.match_many(events(3_000), batch_size=1, threads=1)
    kept = index._writer.recent.sample()
    assert kept is not None
    assert len(kept) == recent.KEPT
