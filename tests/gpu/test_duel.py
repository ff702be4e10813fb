"""Duel the card, or its simulator, with the tree evaluator and with the processor."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from bench.gpu.duel import duel
from tamis import Index, Limits
from tamis.expression.tree import Expr
from tamis.values.event import Event
from tests.duel.expected import Referee, named, pairs_of, plain
from tests.duel.forms import Typed, typed_tables
from tests.duel.test_duel import batches, books

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
few = settings(max_examples=max(settings.default.max_examples // 12, 3))
TIGHT = Limits(dnf_clauses=4)


@few
@given(books(), batches)
def test_card_agrees_with_the_tree_evaluator(book: list[Expr], batch: list[Event]) -> None:
    referee, plains = Referee(book, batch), [plain(event) for event in batch]
    index = Index.build(named(book), limits=TIGHT)
    referee.assert_same(pairs_of(index.match_many(plains, device="cuda")), "match_many(dicts) on a card")


@few
@given(books(), typed_tables())
def test_tables_on_a_card_mean_their_rows(book: list[Expr], typed: Typed) -> None:
    index = Index.build(named(book))
    found = pairs_of(index.match_many(typed.table, device="cuda"))
    Referee(book, typed.events).assert_same(found, "match_many(Arrow) on a card")


@pytest.mark.parametrize("seed", [0, 1])
def test_random_books_match_alike_before_and_after_changes(seed: int) -> None:
    decisions, differences = duel(seed, "cuda", size=10, count=4)
    assert decisions > 300
    assert differences == 0
