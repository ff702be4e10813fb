"""Compute the expected pairs with the tree evaluator, and find the first pair that differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tamis import Index, to_text
from tamis.expression.tree import Expr
from tamis.expression.truth import matches
from tamis.index.explain import explain
from tamis.values.event import Event, EventLike, event_from

Pair = tuple[int, str]
Book = Sequence[Expr]


def name_of(at: int) -> str:
    """Return the id of the expression at a place in a book."""
    return f"s{at}"


def named(book: Book) -> dict[str, Expr]:
    """Return a book with ids."""
    return {name_of(at): expr for at, expr in enumerate(book)}


def expected_pairs(book: Book, batch: Iterable[EventLike]) -> set[Pair]:
    """Return all pairs (event, subscription) that are true."""
    events = [event_from(event) for event in batch]
    return {
        (row, name_of(at))
        for row, event in enumerate(events)
        for at, expr in enumerate(book)
        if matches(expr, event)
    }


def pairs_of(table: Any) -> list[Pair]:
    """Return the pairs of a result table."""
    return list(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))


class Referee:
    """The tree evaluator's answer to a batch, with which many engines and paths are compared."""

    def __init__(self, book: Book, batch: Sequence[EventLike]) -> None:
        self._book, self._batch = book, batch
        self.expected = expected_pairs(book, batch)

    def assert_same(self, found: list[Pair], path: str) -> None:
        """Assert that ``found`` has every expected pair once and no other."""
        distinct = set(found)
        if distinct != self.expected:
            raise AssertionError(first_difference(distinct, self.expected, self._book, self._batch, path))
        assert len(found) == len(distinct), f"{path}: a pair was reported twice: {sorted(found)}"


def assert_same_pairs(found: list[Pair], book: Book, batch: Sequence[EventLike], path: str) -> None:
    """Assert that ``found`` has every expected pair once and no other."""
    Referee(book, batch).assert_same(found, path)


def first_difference(
    found: set[Pair], expected: set[Pair], book: Book, batch: Sequence[EventLike], path: str
) -> str:
    """Return the first missing or extra pair, with the reason why it should (not) be there."""
    row, name = min(found ^ expected)
    expr, event = book[int(name[1:])], event_from(batch[row])
    what = "missing" if (row, name) in expected else "extra"
    return (
        f"{path}: {len(expected - found)} missing, {len(found - expected)} extra; first {what}: "
        f"event {row} and {name}\n{event.attributes}\n{to_text(expr)}\n{expr!r}\n{explain(expr, event)}"
    )


def match_one_by_one(index: Index, batch: Iterable[EventLike]) -> list[Pair]:
    """Return the pairs of a batch by :meth:`Index.match`."""
    return [(row, name) for row, event in enumerate(batch) for name in index.match(event)]


def plain(event: Event) -> dict[str, Any]:
    """Return an event as the dictionary a user would write: one value alone, several as a list."""
    return {
        name: values[0] if len(values) == 1 else list(values) for name, values in event.attributes.items()
    }
