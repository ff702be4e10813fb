"""Who gets a sender, and who gets a claim: everybody a part, doubtful ones one at a time."""

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
    """The endpoints of all that may be sent now."""
    found = []
    with line._changed:
        while (one := line._next()) is not None:
            found.append(one.endpoint)
    return found


def test_an_endpoint_gets_its_part_of_the_senders(line: SendQueue) -> None:
    line.put([claimed("a x") for _ in range(9)] + [claimed("b x")])
    assert ready(line) == ["a x", "b x", "a x"]
    line.done(claimed("a x"))
    assert ready(line) == ["a x"]


def test_an_owner_gets_its_part_whatever_the_endpoints(line: SendQueue) -> None:
    line.put([claimed(f"a {name}") for name in "uvwxyz"] + [claimed("b x")])
    assert ready(line) == ["a u", "a v", "a w", "b x"]
    line.done(claimed("a v"))
    assert ready(line) == ["a x"]


def test_an_endpoint_in_doubt_gets_one_and_all_of_them_half(line: SendQueue, breakers: Breakers) -> None:
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


def test_who_waits_in_line_is_woken(line: SendQueue) -> None:
    got: list[Claimed | None] = []
    threads = [threading.Thread(target=lambda: got.append(line.take())) for _ in range(3)]
    for thread in threads:
        thread.start()
    line.put([claimed("a x"), claimed("b x")])
    line.close()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(one.endpoint if one else "" for one in got) == ["", "a x", "b x"]


def test_a_closed_line_hands_out_everything(line: SendQueue, breakers: Breakers) -> None:
    breakers.failed("a x")
    line.put([claimed("a x") for _ in range(5)])
    line.close()
    assert ready(line) == ["a x"] * 5
    assert line.take() is None


def test_claims_are_shared_out_ahead(breakers: Breakers) -> None:
    shares = ClaimBudget(SETTINGS, breakers, ["a x"] * 6)
    assert shares.free == AHEAD * 8 - 6
    assert shares.room("a x") == AHEAD * 2 - 6
    assert shares.room("a y") == AHEAD * 3 - AHEAD * 2
    assert shares.room("a z") == 0
    assert shares.room("b x") == AHEAD * 2
    assert ClaimBudget(SETTINGS, breakers, ["a x"] * 1_000).free == 0


def test_who_is_in_doubt_gets_one_claim_and_who_is_left_alone_none(breakers: Breakers) -> None:
    breakers.failed("a x")
    shares = ClaimBudget(SETTINGS, breakers, [])
    assert (shares.room("a x"), shares.room("a x")) == (1, 0)
    breakers.failed("a x")
    assert ClaimBudget(SETTINGS, breakers, []).room("a x") == 0
