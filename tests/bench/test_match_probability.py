"""Test that the generators match as often as they say, by construction or by chance."""

from __future__ import annotations

import pytest

from bench.workloads import W1, W2, W4, W5, WORKLOADS, Ads, Queries, W1Prefix
from tests.bench.frame import mean_matches


def test_w1_event_matches_some_subscriptions_by_chance() -> None:
    assert mean_matches(W1(dimensions=500), 20_000, 40) > 5


def test_dense_event_matches_some_subscriptions_by_chance() -> None:
    assert 20 <= mean_matches(W4(), 65_536, 40) * 15 <= 80  # per million


def test_share_of_the_sparse_events_is_planted() -> None:
    assert mean_matches(W4(dimensions=30_000, planted=1.0), 1_000, 50) == 1.0
    assert 0.02 < mean_matches(WORKLOADS["w4-sparse"], 1_000, 500) < 0.3  # type: ignore[arg-type]


def test_listing_matches_some_searches() -> None:
    assert 5 <= mean_matches(WORKLOADS["market"], 50_000, 60) * 20 <= 50  # per million


def test_ad_session_matches_some_ads() -> None:
    assert 1 < mean_matches(Ads(), 20_000, 60) < 100


@pytest.mark.parametrize(
    "w2",
    [
        W2(match_probability=0.001),
        W2(match_probability=0.09),
        W2(match_probability=0.09, alpha=1.0),
        W2(match_probability=0.01, size=66, event_size=81),
        W2(match_probability=0.02, size=30, event_size=30),
        W2(match_probability=0.02, clusters=0, dimensions=50),
        W2(match_probability=0.02, dimensions=677, cardinality=26**3, alpha=0.8),
    ],
    ids=lambda w2: f"{w2.match_probability}-{w2.size}-{w2.dimensions}-{w2.alpha}",
)
def test_w2_reaches_its_match_probability(w2: W2) -> None:
    assert mean_matches(w2, 15_000, 30) / 15_000 == pytest.approx(w2.match_probability, rel=0.2)


@pytest.mark.parametrize(
    "w4",
    [
        W4(match_probability=0.001),
        W4(match_probability=0.001, dimensions=30_000),
        W4(match_probability=0.05, dimensions=30_000, alpha=2.0),
        W4(match_probability=0.5),
        W4(match_probability=0.5, alpha=5.0),
        W4(match_probability=0.01, alpha=5.0),
        W4(match_probability=0.02, cardinality=3),
        W4(match_probability=0.02, cardinality=1_000, equality=1.0),
        W4(match_probability=0.02, size=30, event_size=90),
        W4(match_probability=0.02, size=30, event_size=30),
    ],
    ids=lambda w4: f"{w4.match_probability}-{w4.size}-{w4.dimensions}-{w4.alpha}-{w4.cardinality}",
)
def test_w4_reaches_its_match_probability(w4: W4) -> None:
    assert mean_matches(w4, 20_000, 30) / 20_000 == pytest.approx(w4.match_probability, rel=0.2)


def test_prefix_workload_has_matches() -> None:
    assert 0.5 < mean_matches(W1Prefix(prefix=1.0), 20_000, 40) < 20


def test_query_workload_has_matches() -> None:
    assert 0.5 < mean_matches(Queries(), 20_000, 30) < 50


def test_car_matches_some_subscriptions() -> None:
    assert 0.1 < mean_matches(W5(), 5_000, 60) < 100
