"""Test that the mixes have their promised shape, and that every kind of predicate can be satisfied."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.workloads.mix import MIXES, Mix
from bench.workloads.truth import Book, rows_of


def test_mixed_mix_has_its_shares() -> None:
    rows = MIXES["mixed"].subscriptions(20_000, 1).to_pylist()
    shares = {op: count / len(rows) for op, count in Counter(row["operator"] for row in rows).items()}
    assert shares == pytest.approx(
        {"=": 0.5, "<=": 0.15, ">=": 0.15, "between": 0.1, "in": 0.07, "!=": 0.03}, abs=0.01
    )
    assert max(Counter(row["id"] for row in rows).values()) == 4
    assert all(len(set(row["number"])) == 3 for row in rows if row["operator"] == "in")


@pytest.mark.parametrize(("name", "size", "operator"), [("equal", 3, "="), ("ranges", 5, "between")])
def test_other_mixes_have_one_kind_of_predicate(name: str, size: int, operator: str) -> None:
    rows = MIXES[name].subscriptions(500, 1).to_pylist()
    assert {row["operator"] for row in rows} == {operator}
    assert set(Counter(row["id"] for row in rows).values()) == {size}
    if operator == "between":
        assert {high - low for low, high in (row["number"] for row in rows)} == {19}


def test_planted_events_match_for_every_kind() -> None:
    mix = Mix(size=6, equality=0.3, one_sided=0.2, between=0.2, one_of=0.1, planted=1.0)
    book = Book(mix.subscriptions(300, 2))
    assert all(book.matches(event) for event in rows_of(mix.events(200, 2, 300)))


def test_operands_stay_distinct_when_values_are_scarce() -> None:
    mix = Mix(cardinality=3, width=0.5, equality=0.0, one_sided=0.0, between=0.0, one_of=1.0)
    assert {frozenset(row["number"]) for row in mix.subscriptions(50, 1).to_pylist()} == {
        frozenset({0, 1, 2})
    }
