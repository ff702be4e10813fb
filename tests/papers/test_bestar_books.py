"""Test how much work top-k saves on whole books, with fixed data."""

from __future__ import annotations

import pytest

from bench.workloads.truth import rows_of
from bench.workloads.w2 import W2
from tamis import Event, Index

SMALL = W2(dimensions=40, reach=20, match_probability=0.02, profiles=8, alpha=1.0)


@pytest.mark.parametrize("engine", ["bestar", "hybrid"])
def test_best_match_costs_less_than_all_on_a_zipf_book(engine: str) -> None:
    """The best match is found with a fraction of the checks that all matches take."""
    index = Index.build(SMALL.subscriptions(20_000, 1), engine=engine)
    events = list(rows_of(SMALL.events(40, 1, 20_000)))
    every = [index.match(event) for event in events]
    one = [index.top_k(event, 1) for event in events]
    assert all(found[0][0] in ids for found, ids in zip(one, every, strict=True) if found)
    full = [index.top_k(event, 10**6) for event in events]
    assert [found[:1] for found in full] == one
    assert [index.top_k(event, 5) for event in events] == [found[:5] for found in full]
    assert sum(len(ids) for ids in every) > 40 * 300
    if engine == "bestar":
        checked = sum(found.work.verified for found in one)
        assert checked <= 0.4 * sum(ids.work.verified for ids in every)
        assert sum(found.work.matches for found in one) <= 0.2 * sum(len(ids) for ids in every)


def test_event_weights_also_prune() -> None:
    rows = {f"s{n:03}": f"a >= {n % 10} AND b{n % 5} >= 0" for n in range(500)}
    index = Index.build(rows, engine="bestar", parameters={"leaf": 4})
    for n in range(500):
        index.update(f"s{n:03}", rows[f"s{n:03}"], priority=float(n % 50))
    index.merge()
    event = Event({"a": (9,)} | {f"b{n}": (1,) for n in range(5)}, weights={"a": 0.5, "b1": 2.0})
    found = index.top_k(event, 3)
    assert found == index.top_k(event, 500)[:3]
    assert found.work.verified < 100
