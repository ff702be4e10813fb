"""Test negative forms with intervals: the form holds if the interval shares no value with the operand."""

from __future__ import annotations

import pytest

from tamis import Index, Interval
from tamis.engines.engines import NAMES as ENGINES
from tamis.expression.truth import matches
from tamis.values.event import event_from

BOOK = {
    "ne": "x != 5",
    "not-in": "x NOT IN (5, 7)",
    "not-between": "x NOT BETWEEN 5 AND 7",
    "not-eq": "NOT x = 5",
}
CASES = [
    (Interval(1, 4), {"ne", "not-in", "not-between", "not-eq"}),
    (Interval(4, 6), set()),
    (Interval(5, 5), set()),
    (Interval(1, 5), set()),
    (Interval(1, 5, high_open=True), {"ne", "not-in", "not-between", "not-eq"}),
    (Interval(5, 6, low_open=True), {"ne", "not-in", "not-eq"}),
    (Interval(5.5, 6.5), {"ne", "not-in", "not-eq"}),
    (Interval(None, 4), {"ne", "not-in", "not-between", "not-eq"}),
    (Interval(6, None), {"ne", "not-eq"}),
    (Interval(8, None), {"ne", "not-in", "not-between", "not-eq"}),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_negative_form_holds_when_the_interval_shares_no_value(engine: str) -> None:
    index = Index.build(BOOK, engine=engine)
    events = [{"x": interval} for interval, _ in CASES]
    for event, (_, expected) in zip(events, CASES, strict=True):
        assert set(index.match(event)) == expected, event
        oracle = {name for name in BOOK if matches(index.expression(name), event_from(event))}
        assert oracle == expected, event
    table = index.match_many(events).to_pydict()
    found = [
        {name for at, name in zip(table["event"], table["subscription"], strict=True) if at == row}
        for row in range(len(events))
    ]
    assert found == [expected for _, expected in CASES]


@pytest.mark.parametrize("engine", ENGINES)
def test_negative_form_fails_when_one_of_several_values_meets_it(engine: str) -> None:
    index = Index.build(BOOK, engine=engine)
    assert index.match({"x": [Interval(1, 2), Interval(4, 6)]}) == []
    assert set(index.match({"x": [Interval(1, 2), Interval(8, 9)]})) == set(BOOK)
