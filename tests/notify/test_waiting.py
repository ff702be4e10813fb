"""Backoff and circuit breakers, with a test clock and a seeded random generator."""

from __future__ import annotations

import random

import pytest

from tamis.errors import InputError
from tamis.notify.backoff import Backoff
from tamis.notify.breaker import BreakerRules, Breakers, State


def test_backoff_grows_with_jitter_and_ends() -> None:
    backoff, rng = Backoff(first=10, factor=3, longest=600, attempts=8), random.Random(1)
    for attempts, ceiling in ((1, 10), (2, 30), (3, 90), (4, 270), (5, 600), (6, 600), (500, 600)):
        drawn = [backoff.wait(attempts, rng=rng) for _ in range(2_000)]
        assert 0 <= min(drawn) < ceiling / 50
        assert ceiling * 0.98 < max(drawn) <= ceiling
        assert ceiling * 0.47 < sum(drawn) / len(drawn) < ceiling * 0.53
    assert [backoff.is_spent(number) for number in (7, 8, 9)] == [False, True, True]


def test_backoff_respects_retry_after_up_to_the_longest_wait() -> None:
    backoff = Backoff(first=1, longest=100)
    assert backoff.wait(1, least=50) == 50
    assert backoff.wait(1, least=1e9) == 100
    assert backoff.wait(1, least=0) <= 1


def test_default_backoff_lasts_about_a_day() -> None:
    backoff, rng = Backoff(), random.Random(2)
    days = [
        sum(backoff.wait(number, rng=rng) for number in range(1, backoff.attempts)) / 86_400
        for _ in range(500)
    ]
    assert 0.7 < sum(days) / len(days) < 1.1


@pytest.mark.parametrize(
    "rules", [{"first": 0}, {"first": 10, "longest": 5}, {"factor": 0.5}, {"attempts": 0}], ids=str
)
def test_invalid_backoff_is_refused(rules: dict[str, float]) -> None:
    with pytest.raises(InputError, match="a backoff has"):
        Backoff(**rules)  # type: ignore[arg-type]
    for wrong in ({"failures": 0}, {"open_seconds": 0}, {"longest": 1}, {"endpoints": 0}):
        with pytest.raises(InputError, match="a breaker has"):
            BreakerRules(**wrong)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breakers(clock: Clock) -> Breakers:
    return Breakers(BreakerRules(failures=3, open_seconds=10, longest=35, slow_seconds=1, endpoints=5), clock)


def test_breaker_opens_probes_and_closes(breakers: Breakers, clock: Clock) -> None:
    assert [breakers.failed("a") for _ in range(3)] == [False, False, True]
    assert (breakers.state("a"), breakers.reopens("a"), breakers.count_open()) == (State.OPEN, 1_010, 1)
    assert breakers.state("b") is State.CLOSED
    clock.now += 9.9
    assert breakers.state("a") is State.OPEN
    clock.now += 0.1
    assert breakers.state("a") is State.HALF_OPEN
    breakers.succeeded("a")
    assert (breakers.state("a"), breakers.is_doubtful("a"), breakers.count_open()) == (State.CLOSED, False, 0)


def test_failed_probe_doubles_the_open_time(breakers: Breakers, clock: Clock) -> None:
    for _ in range(3):
        breakers.failed("a")
    for wait in (10, 20, 35, 35):
        assert breakers.reopens("a") == clock.now + wait
        assert breakers.failed("a")  # sent before it opened: no reason to wait longer
        assert breakers.reopens("a") == clock.now + wait
        clock.now += wait
        assert breakers.failed("a")


def test_breaker_does_not_stay_open_when_the_clock_is_set_back(breakers: Breakers, clock: Clock) -> None:
    for _ in range(3):
        breakers.failed("a")
    clock.now -= 20
    assert breakers.state("a") is State.OPEN
    clock.now -= 1_000_000
    assert breakers.state("a") is State.HALF_OPEN


def test_breaker_counts_consecutive_failures(breakers: Breakers) -> None:
    for _ in range(5):
        assert not breakers.failed("a")
        assert not breakers.failed("a")
        breakers.succeeded("a")


def test_endpoint_is_doubtful_after_a_failure_or_a_slow_answer(breakers: Breakers) -> None:
    breakers.succeeded("a", seconds=0.9)
    assert not breakers.is_doubtful("a")
    breakers.succeeded("a", seconds=1.1)
    assert breakers.is_doubtful("a")
    assert breakers.state("a") is State.CLOSED
    breakers.succeeded("a", seconds=0.1)
    assert not breakers.is_doubtful("a")
    breakers.failed("a")
    assert breakers.is_doubtful("a")


def test_breakers_remember_a_bounded_number_of_endpoints(breakers: Breakers) -> None:
    for number in range(6):
        breakers.failed(f"e{number}")
    assert [breakers.is_doubtful(f"e{number}") for number in range(6)] == [False] + [True] * 5
