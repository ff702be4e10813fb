"""Test that answers are computed from the points, and judged as the page says."""

from __future__ import annotations

import pytest

from bench.figures.claims import (
    FIRST,
    LAST,
    ahead,
    below,
    first,
    grown,
    growth,
    little,
    lowest,
    order,
    ratio,
    saving,
    share,
    similar,
    similar_growth,
    slower_growth,
)
from bench.figures.spec import Data
from bench.figures.verdicts import FAILS, HOLDS, OPEN, ORDER, judged_size
from bench.figures.words import percent

MORE = ", more than the paper's"
SAME = "here: slow is {}× fast{}; the paper: about the same"
DATA: Data = [
    {"slow": {10: 100.0, 100: 400.0}, "fast": {10: 10.0, 100: 10.0}, "odd": {100: 1.0}},
    {"slow": {1: 2.0}, "fast": {1: 2.0}},
]


@pytest.mark.parametrize(
    ("judge", "text", "verdict"),
    [
        (ratio("slow", "fast", 20.0), "here: 20× on average; the paper: 20×", HOLDS),
        (ratio("slow", "fast", 40.0), "here: 20× on average; the paper: 40×", HOLDS),
        (ratio("slow", "fast", 41.0), "here: 20× on average; the paper: 41×", ORDER),
        (ratio("slow", "fast", 45.0, most=True), "here: 40× at best; the paper: 45×", HOLDS),
        (ratio("slow", "fast", 10.0, at=10), "here: 10× at 10; the paper: 10×", HOLDS),
        (ratio("slow", "fast", 9.0, at=LAST), f"here: 40× at 100{MORE}; the paper: 9×", HOLDS),
        (ratio("fast", "slow", 10.0, at=FIRST), "here: 0.1× at 10; the paper: 10×", FAILS),
        (ratio("slow", "fast", 2.0, panel=1), "here: 1×; the paper: 2×", FAILS),
        (saving("slow", "fast", 0.9, at=10), "here: 90 % less at 10; the paper: 90 % less", HOLDS),
        (saving("slow", "fast", 0.99, at=10), "here: 90 % less at 10; the paper: 99 % less", ORDER),
        (saving("slow", "fast", 0.95, at=10), "here: 90 % less at 10; the paper: 95 % less", HOLDS),
        (saving("fast", "slow", 0.5, at=10), "here: 900 % more at 10; the paper: 50 % less", FAILS),
        (ahead("slow", "fast", "faster", at=10), "here: 10× at 10; the paper: faster", HOLDS),
        (ahead("slow", "fast", "faster", panel=1), "here: 1×; the paper: faster", FAILS),
        (share("fast", "slow", 0.05), "here: 5 % on average; the paper: 5 %", HOLDS),
        (share("fast", "slow", 0.5), "here: 5 % on average; the paper: 50 %", ORDER),
        (share("fast", "slow", 0.1), "here: 5 % on average; the paper: 10 %", HOLDS),
        (share("slow", "fast", 0.5), "here: 2000 % on average; the paper: 50 %", FAILS),
        (grown("slow", 4.0), "here: 4× from 10 to 100; the paper: 4×", HOLDS),
        (grown("slow", 9.0, start=10, end=100), "here: 4× from 10 to 100; the paper: 9×", ORDER),
        (grown("slow", 0.25), "here: 4× from 10 to 100; the paper: 1/4", FAILS),
        (grown("slow", 0.25, start=100, end=10), "here: 1/4 from 100 to 10; the paper: 1/4", HOLDS),
        (similar_growth("slow", "fast", 5.0), "here: slow 4×, fast 1× from first to last", HOLDS),
        (similar_growth("slow", "fast", 3.0), "here: slow 4×, fast 1× from first to last", FAILS),
        (similar("slow", "fast", 11, at=10, paper="x"), "here: slow is 10× fast at 10; the paper: x", HOLDS),
        (slower_growth("fast", "fast"), "here: fast 1×, fast 1× from first to last", FAILS),
        (little("slow", "fast", 0.1, 0.2), "here: 98 % less at best; the paper: 10 % less", FAILS),
        (little("slow", "fast", 0.1, 0.2, panel=1), "here: 0 % less at best; the paper: 10 % less", HOLDS),
        (growth("slow", 0.8, 1.2, "none"), "here: 4× from first to last; the paper: none", FAILS),
        (growth("fast", 0.8, 1.2, "none"), "here: 1× from first to last; the paper: none", HOLDS),
        (slower_growth("fast", "slow"), "here: fast 1×, slow 4× from first to last", HOLDS),
        (slower_growth("slow", "fast"), "here: slow 4×, fast 1× from first to last", FAILS),
        (similar("slow", "fast", 1.1, panel=1), SAME.format(1, ""), HOLDS),
        (similar("slow", "fast", 1.1), SAME.format(20, " on average"), FAILS),
        (first("fast", ["slow"]), "here: first at 2 of 2 places", HOLDS),
        (first("slow", ["fast"]), "here: first at 0 of 2 places; else fast at 10, 100", FAILS),
        (first("slow", ["fast"], at=[10]), "here: first at 0 of 1 places; else fast at 10", FAILS),
        (first("odd", ["slow", "fast"]), "here: first at 1 of 1 places", HOLDS),
        (below("slow", 400.0, "µs"), "here: at most 400 µs; the paper: below 400 µs", HOLDS),
        (below("slow", 399.0, "µs"), "here: at most 400 µs; the paper: below 399 µs", FAILS),
        (lowest("slow", 10), "here: best at 10; 10 takes 0 % more", HOLDS),
        (lowest("slow", 100), "here: best at 10; 100 takes 300 % more", FAILS),
        (order(("fast", "slow")), "here: fast, slow", HOLDS),
        (order(("slow", "fast")), "here: fast, slow", FAILS),
        (order(("odd", "slow", "fast")), "here: odd, fast, slow", FAILS),
    ],
)  # fmt: skip
def test_answer_is_computed_and_judged(judge: object, text: str, verdict: str) -> None:
    answer = judge(DATA)  # type: ignore[operator]
    assert (answer.text, answer.verdict) == (text, verdict)


def test_claim_stays_open_without_measurements() -> None:
    for judge in (
        ratio("slow", "nobody", 2.0), saving("slow", "fast", 0.5, at=11), growth("odd", 0, 1, ""),
        slower_growth("odd", "slow"), similar("nobody", "slow", 2.0), first("nobody", ["slow"]),
        little("nobody", "slow", 1, 1), grown("odd", 2.0),
        similar_growth("odd", "slow", 2.0), ahead("nobody", "slow", ""), share("nobody", "slow", 1),
        below("nobody", 1.0, ""), lowest("odd", 1), order(("nobody", "slow")),
    ):  # fmt: skip
        assert judge(DATA).verdict == OPEN


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (0.5, "50 % less"),
        (0.9997, "99.97 % less"),
        (0.013, "1.3 % less"),
        (0.99, "99 % less"),
        (-1.0, "100 % more"),
    ],
)
def test_shares_near_the_ends_keep_their_digits(part: float, text: str) -> None:
    assert percent(part) == text


@pytest.mark.parametrize(
    ("found", "paper", "verdict"),
    [
        (10.0, 10.0, HOLDS),
        (5.0, 10.0, HOLDS),
        (4.99, 10.0, ORDER),
        (20.0, 10.0, HOLDS),
        (500.0, 10.0, HOLDS),
        (1.05, 10.0, ORDER),
        (1.049, 10.0, FAILS),
        (0.1, 10.0, FAILS),
        (1.05, 1.5, HOLDS),
        (1.049, 1.5, FAILS),
    ],
)
def test_size_holds_from_half_of_the_papers_factor_in_the_same_order(
    found: float, paper: float, verdict: str
) -> None:
    assert judged_size(found, paper) == verdict


def test_difference_below_five_percent_does_not_change_an_order() -> None:
    close: Data = [{"one": {1: 1.04}, "two": {1: 1.0}}]
    for judge in (first("one", ["two"]), order(("one", "two"))):
        assert judge(close).verdict == HOLDS
    assert ahead("one", "two", "less")(close).verdict == FAILS
