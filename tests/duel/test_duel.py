"""The duel: every engine on every path must give exactly the pairs that the tree evaluator finds true."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Interval, Limits, from_json, to_json, to_text
from tamis.engines.engines import NAMES as ENGINES
from tamis.expression.predicates import Between, Compare, Exists
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.values.event import Event
from tests.duel.expected import Referee, assert_same_pairs, match_one_by_one, named, pairs_of, plain
from tests.duel.forms import Typed, json_line, typed_tables
from tests.engines import LAYOUTS, layouts_of_turn, per_engine, turns
from tests.strategies import events, expressions

# Hard cases for an index, in every book: constants, NOT-only, contradictions, duplicates.
STAPLES: list[Expr] = [
    TRUE,
    FALSE,
    Not(Compare("a", "=", 1)),
    And((Not(Exists("b")), Not(Compare("c", "!=", "abc")))),
    And((Compare("a", ">", 2), Compare("a", "<", 2))),
    Or((Compare("a", "=", 1), Compare("b", "=", "abc"), Not(Exists("a")))),
]
TIGHT = Limits(dnf_clauses=4)  # most OR-AND trees exceed it, so their covers are indexed


@st.composite
def books(draw: st.DrawFn) -> list[Expr]:
    """Draw lists of expressions with repetitions."""
    fresh = draw(_FRESH)
    again = draw(st.lists(st.sampled_from([*STAPLES, *fresh]), max_size=4))
    return fresh + again


_FRESH = st.lists(expressions(), min_size=1, max_size=8)
batches = st.lists(events(), min_size=1, max_size=5)


# One example meets all engines: drawing a book costs more than matching it ten times.
@per_engine
@given(books(), batches)
def test_engines_agree_with_the_tree_evaluator(book: list[Expr], batch: list[Event]) -> None:
    referee = Referee(book, batch)
    plains = [plain(event) for event in batch]
    lines = [json_line(event) for event in batch]
    for engine in ENGINES:
        index = Index.build(named(book), engine=engine)
        referee.assert_same(match_one_by_one(index, batch), f"{engine}: match(Event)")
        referee.assert_same(match_one_by_one(index, plains), f"{engine}: match(dict)")
        referee.assert_same(pairs_of(index.match_many(plains)), f"{engine}: match_many(dicts)")
        referee.assert_same(pairs_of(index.match_many(plains, batch_size=2)), f"{engine}: small batches")
        referee.assert_same(pairs_of(index.match_many(lines)), f"{engine}: match_many(JSON lines)")
        index.check()


@per_engine
@given(books(), batches, turns)
def test_covers_samples_and_parameters_change_no_answer(
    book: list[Expr], batch: list[Event], turn: int
) -> None:
    referee = Referee(book, batch)
    plains = [plain(event) for event in batch]
    for engine, parameters in layouts_of_turn(turn):
        index = Index.build(named(book), engine=engine, limits=TIGHT, sample=plains, parameters=parameters)
        path = f"{engine} {parameters}"
        referee.assert_same(match_one_by_one(index, batch), f"{path}: match(Event)")
        referee.assert_same(match_one_by_one(index, plains), f"{path}: match(dict)")
        referee.assert_same(pairs_of(index.match_many(batch)), f"{path}: match_many(Events)")
        index.check()


attributes = st.sampled_from("abcdef")
numbers_only = st.dictionaries(attributes, st.integers(0, 12), max_size=6)
ranges = st.builds(
    lambda name, low, width: Between(name, low, low + width),
    attributes,
    st.integers(0, 12),
    st.integers(0, 6),
)
conjunctions = st.lists(ranges, min_size=1, max_size=5).map(lambda found: And(tuple(found)))


@per_engine
@given(st.lists(conjunctions, min_size=1, max_size=30), st.lists(numbers_only, min_size=1, max_size=8), turns)
def test_conjunctions_of_ranges_agree_with_the_evaluator(
    book: list[Expr], batch: list[dict[str, int]], turn: int
) -> None:
    """Numeric workloads consist of these; attributes of an event come in any order."""
    several = [{name: [value, value // 2] for name, value in event.items()} for event in batch]
    referee, referee_of_several = Referee(book, batch), Referee(book, several)
    for engine, parameters in layouts_of_turn(turn):
        index = Index.build(named(book), engine=engine, parameters=parameters)
        path = f"{engine} {parameters}"
        referee.assert_same(match_one_by_one(index, batch), f"{path}: match(dict)")
        referee.assert_same(pairs_of(index.match_many(batch)), f"{path}: match_many(dicts)")
        referee_of_several.assert_same(pairs_of(index.match_many(several)), f"{path}: several values each")


@pytest.mark.parametrize(("engine", "parameters"), LAYOUTS, ids=str)
def test_two_values_meet_a_range_from_both_sides(engine: str, parameters: dict[str, Any]) -> None:
    """``a >= 100 AND a <= 101`` holds for an event with 7 and 300: each condition has its own value."""
    book: list[Expr] = [And((Compare("a", ">=", n), Compare("a", "<=", n + 1))) for n in range(0, 400, 2)]
    book += [
        And((Compare("a", ">", n), Compare("b", "<", n), Compare("a", "<", n + 3))) for n in range(0, 400, 5)
    ]
    batch = [{"a": [7, 300], "b": 150}, {"a": [300, 7, 9]}, {"a": 7}, {"a": [100, 101], "b": [1, 300]}]
    batch += [{"a": Interval(50, 60)}, {"a": [Interval(1, 2), Interval(390, 399)], "b": 399}]
    index = Index.build(named(book), engine=engine, parameters=parameters)
    assert_same_pairs(match_one_by_one(index, batch), book, batch, "match")
    assert_same_pairs(pairs_of(index.match_many(batch)), book, batch, "match_many")


@per_engine
@given(books(), typed_tables())
def test_arrow_tables_mean_their_rows(book: list[Expr], typed: Typed) -> None:
    referee, referee_of_slice = Referee(book, typed.events), Referee(book, typed.events[1:])
    chunks = [batch for at in range(len(typed.events)) for batch in typed.table.slice(at, 1).to_batches()]
    for engine in ENGINES:
        for limits in (Limits(), TIGHT):
            index = Index.build(named(book), engine=engine, limits=limits)
            path = f"{engine}, {limits.dnf_clauses} clauses"
            referee.assert_same(pairs_of(index.match_many(typed.table)), f"{path}: match_many(Arrow)")
        found = pairs_of(index.match_many(typed.table.slice(1)))
        referee_of_slice.assert_same(found, f"{engine}: match_many(slice)")
        referee.assert_same(pairs_of(index.match_many(iter(chunks))), f"{engine}: record batches")


@given(books(), batches)
def test_written_forms_of_a_book_match_alike(book: list[Expr], batch: list[Event]) -> None:
    forms = [to_text, to_json, lambda expr: from_json(to_json(expr))]
    index = Index.build({name: forms[at % 3](expr) for at, (name, expr) in enumerate(named(book).items())})
    assert_same_pairs(match_one_by_one(index, batch), book, batch, "text and JSON")
