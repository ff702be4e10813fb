"""Test that every layout of every engine gives the same answers; ranges of numbers show differences."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Interval
from tamis.expression.predicates import Between, Compare, In
from tamis.expression.tree import And, Expr, Not
from tamis.values.event import event_from
from tests.duel.expected import Referee, named, pairs_of
from tests.engines import LAYOUTS, per_layout

NAMES = st.sampled_from("abcde")
NUMBERS = st.integers(0, 40)


@st.composite
def conditions(draw: st.DrawFn) -> Expr:
    """Draw mostly ranges, sometimes a single value, a set or a negation."""
    name, low = draw(NAMES), draw(NUMBERS)
    kind = draw(st.integers(0, 9))
    if kind < 4:
        return Between(name, low, low + draw(st.integers(0, 20)), negated=kind == 0)
    if kind < 7:
        return Compare(name, draw(st.sampled_from([">", ">=", "<", "<="])), low)
    if kind == 7:
        return Compare(name, draw(st.sampled_from(["=", "!="])), low)
    if kind == 8:
        return In(name, tuple(draw(st.lists(NUMBERS, min_size=1, max_size=6))))
    return Not(Between(name, low, low + 5))


clauses = st.lists(conditions(), min_size=1, max_size=5).map(
    lambda some: And(tuple(some)) if some[1:] else some[0]
)
intervals = st.tuples(NUMBERS, NUMBERS).map(lambda ends: Interval(min(ends), max(ends)))
values: st.SearchStrategy[Any] = NUMBERS | st.lists(NUMBERS, min_size=2, max_size=3) | intervals
plain_events = st.dictionaries(NAMES, NUMBERS, max_size=5)
wild_events = st.dictionaries(NAMES, values, max_size=5)
batches = st.lists(plain_events | wild_events, min_size=1, max_size=8)


@per_layout
@given(
    st.lists(clauses, min_size=1, max_size=40), st.lists(plain_events | wild_events, min_size=1, max_size=8)
)
def test_layouts_agree(book: list[Expr], batch: list[dict[str, Any]]) -> None:
    referee = Referee(book, [event_from(event) for event in batch])
    for engine, layout in LAYOUTS:
        index = Index.build(named(book), engine=engine, parameters=layout)
        index.check()
        referee.assert_same(pairs_of(index.match_many(batch)), f"{engine} {layout}")


def test_pairs_save_work_when_no_single_range_is_rare() -> None:
    dice = random.Random(5)
    lows = [(dice.randrange(70), dice.randrange(70)) for _ in range(400)]
    rows = {
        f"s{n}": f"x BETWEEN {x} AND {x + 15} AND y BETWEEN {y} AND {y + 15}" for n, (x, y) in enumerate(lows)
    }
    event = {"x": 50, "y": 50}
    alone = Index.build(rows, parameters={"pairs": 0, "crowd": 0}).match(event)
    paired = Index.build(rows, parameters={"pairs": 2, "crowd": 0}).match(event)
    assert sorted(alone) == sorted(paired)
    assert sorted(paired) == sorted(
        f"s{n}" for n, (x, y) in enumerate(lows) if x <= 50 <= x + 15 and y <= 50 <= y + 15
    )
    assert 3 * paired.work.candidates < 2 * alone.work.candidates


def test_pairs_are_found_whatever_the_order_of_attributes() -> None:
    rows = {f"s{n}": f"x BETWEEN {n} AND {n + 9} AND y BETWEEN {n} AND {n + 9}" for n in range(40)}
    index = Index.build(rows, parameters={"pairs": 2, "crowd": 0})
    assert len(index.match({"x": 20, "y": 20})) == 10
    assert sorted(index.match({"y": 20, "x": 20})) == sorted(index.match({"x": 20, "y": 20}))
