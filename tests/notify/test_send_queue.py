"""Senders and claims are shared fairly: each endpoint and owner a part, doubtful endpoints one."""

from __future__ import annotations

import itertools
import threading

import pytest

from tamis.notify.breaker import BreakerRules, Breakers
from tamis.notify.claim_budget import AHEAD, ClaimBudget
from tamis.notify.send_queue import SendQueue
from tamis.notify.settings import Settings
from tamis.store.claims import Claimed
from tests.waiting import PATIENCE

SETTINGS = Settings(workers=8, per_endpoint=2, per_owner=3)
_numbers = itertools.count(1)


def claimed(endpoint: str) -> Claimed:
    blank = dict.fromkeys(Claimed._fields) | {"id": next(_numbers), "endpoint": endpoint}
    return Claimed(**blank)  # type: ignore[arg-type]


@pytest.fixture
def breakers() -> Breakers:
    return Breakers(BreakerRules(failures=2), lambda: 1_000.0)


@pytest.fixture
def line(breakers: Breakers) -> SendQueue:
    return SendQueue(SETTINGS, breakers)


def ready(line: SendQueue) -> list[str]:
    """Return the endpoints of all deliveries that may be sent now."""
    found = []
    with line._changed:
        while (one := line._next()) is not None:
            found.append(one.endpoint)
    return found


def test_endpoint_gets_its_part_of_the_senders(line: SendQueue) -> None:
    line.put([claimed("a x") for _ in range(9)] + [claimed("b x")])
    assert ready(line) == ["a x", "b x", "a x"]
    line.done(claimed("a x"))
    assert ready(line) == ["a x"]


def test_owner_gets_its_part_over_all_endpoints(line: SendQueue) -> None:
    line.put([claimed(f"a {name}") for name in "uvwxyz"] + [claimed("b x")])
    assert ready(line) == ["a u", "a v", "a w", "b x"]
    line.done(claimed("a v"))
    assert ready(line) == ["a x"]


def test_doubtful_endpoints_get_one_sender_each_and_half_together(
    line: SendQueue, breakers: Breakers
) -> None:
    for name in "abcdefgh":
        breakers.failed(f"{name} x")
    line.put([claimed(f"{name} x") for name in "abcdefgh" for _ in range(2)])
    line.put([claimed(f"{name} well") for name in "wxyz"])
    assert ready(line) == ["a x", "b x", "c x", "d x", "w well", "x well", "y well", "z well"]
    breakers.succeeded("a x")
    assert ready(line) == ["e x", "a x"]


def test_endpoints_take_turns(line: SendQueue) -> None:
    line.put([claimed("a x"), claimed("a x"), claimed("b x"), claimed("c x"), claimed("b x")])
    assert ready(line) == ["a x", "b x", "c x", "a x", "b x"]


def test_waiting_sender_is_woken(line: SendQueue) -> None:
    got: list[Claimed | None] = []
    threads = [threading.Thread(target=lambda: got.append(line.take())) for _ in range(3)]
    for thread in threads:
        thread.start()
    line.put([claimed("a x"), claimed("b x")])
    line.close()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(one.endpoint if one else "" for one in got) == ["", "a x", "b x"]


def test_closed_queue_hands_out_everything(line: SendQueue, breakers: Breakers) -> None:
    breakers.failed("a x")
    line.put([claimed("a x") for _ in range(5)])
    line.close()
    assert ready(line) == ["a x"] * 5
    assert line.take() is None


def test_claim_budget_is_shared_by_endpoint_and_owner(breakers: Breakers) -> None:
    shares = ClaimBudget(SETTINGS, breakers, ["a x"] * 6)
    assert shares.free == AHEAD * 8 - 6
    assert shares.room("a x") == AHEAD * 2 - 6
    assert shares.room("a y") == AHEAD * 3 - AHEAD * 2
    assert shares.room("a z") == 0
    assert shares.room("b x") == AHEAD * 2
    assert ClaimBudget(SETTINGS, breakers, ["a x"] * 1_000).free == 0


def test_doubtful_endpoint_gets_one_claim_and_a_paused_one_none(breakers: Breakers) -> None:
    breakers.failed("a x")
    shares = ClaimBudget(SETTINGS, breakers, [])
    assert (shares.room("a x"), shares.room("a x")) == (1, 0)
    breakers.failed("a x")
    assert ClaimBudget(SETTINGS, breakers, []).room("a x") == 0
