"""Test neighbouring values exhaustively.

Every comparison and BETWEEN over a pool of adjacent operands meets every value and every interval between
them.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from tamis import Index
from tamis.engines.engines import NAMES as ENGINES
from tamis.errors import EventValue
from tamis.expression.predicates import Between, Compare, Exists, In, Like
from tamis.expression.tree import Expr, Not
from tamis.language import check_tree
from tamis.values.event import Event
from tamis.values.value import Interval, Value, clean_interval, clean_value
from tests.duel.expected import Referee, match_one_by_one, named, pairs_of, plain

LAST = datetime.max.replace(tzinfo=UTC)
FIRST = datetime.min.replace(tzinfo=UTC)
LARGEST = math.nextafter(math.inf, 0.0)
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

POOLS: dict[str, list[Any]] = {
    "integers beyond 2**53": [2**53 - 1, 2**53, 2.0**53, *range(2**53 + 1, 2**53 + 7), 2.0**53 + 4],
    "integers below -2**53": [-(2**53) + 1, -(2.0**53), *range(-(2**53) - 5, -(2**53)), -(2.0**53) - 4],
    "integers at the ends of 64 bits": [
        -(2**63), -(2**63) + 1, math.nextafter(-(2.0**63), -math.inf), math.nextafter(-(2.0**63), 0.0),
        2**63 - 1, 2**63 - 2, 2**63 - 1024, 2**63 - 1025, 2.0**63, math.nextafter(2.0**63, math.inf),
    ],
    "floats around zero and one": [
        -1, -5e-324, 0, -0.0, 5e-324, 1e-323, 1, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0), True,
    ],
    "largest floats": [-LARGEST, math.nextafter(-LARGEST, 0.0), 0, math.nextafter(LARGEST, 0.0), LARGEST],
    "strings and their successors": ["", "\0", "a", "a\0", "a\0\0", "a\x01", "aa", "b", "A"],
    "strings at the ends of planes": [
        "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", "\U0010ffff\0", "a\U0010ffff", "é",
    ],
    "times": [
        FIRST, FIRST + MICROSECOND, NOON - MICROSECOND, NOON, NOON + MICROSECOND, LAST - MICROSECOND, LAST,
    ],
}  # fmt: skip


def predicates_over(pool: list[Any]) -> list[Expr]:
    """Return every comparison, BETWEEN and denial over the pool, and LIKE if the pool has strings."""
    ordered = [value for value in pool if not isinstance(value, bool)]
    book: list[Expr] = [Compare("x", op, value) for value in pool for op in ("=", "!=")]
    book += [Compare("x", op, value) for value in ordered for op in ("<", "<=", ">", ">=")]
    book += [Not(predicate) for predicate in book]
    for low, high in product(ordered, ordered):
        book += [Between("x", low, high), Between("x", low, high, negated=True)]
    book += [
        In("x", tuple(pool[::2])),
        In("x", tuple(pool[1::2]), negated=True),
        Exists("x"),
        Exists("x", True),
    ]
    texts = [value for value in pool if isinstance(value, str)]
    for text in texts:
        book += [
            Like("x", pattern, negated=no) for pattern in (text, text + "%", "%") for no in (False, True)
        ]
    return [check_tree(expr) for expr in book]


def values_over(pool: list[Any]) -> list[Value]:
    """Return every value of the pool, and every interval that has its ends there."""
    found: list[Value] = [clean_value(value) for value in pool]
    ends = [None, *(value for value in pool if not isinstance(value, bool))]
    for low, high, low_open, high_open in product(ends, ends, (False, True), (False, True)):
        try:
            found.append(clean_interval(Interval(low, high, low_open, high_open)))
        except EventValue:  # empty, or without any end
            continue
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("pool", POOLS)
def test_neighbouring_values_match_exactly(pool: str) -> None:
    book = predicates_over(POOLS[pool])
    values = values_over(POOLS[pool])
    batch = [Event({"x": (value,)}) for value in values] + [Event({})]
    few = batch[:40:3] + batch[-40::3]
    plains = [plain(event) for event in few]
    referee, referee_of_few = Referee(book, batch), Referee(book, few)
    for engine in ENGINES:
        index = Index.build(named(book), engine=engine)
        referee.assert_same(pairs_of(index.match_many(batch)), f"{engine}: match_many(Events)")
        referee_of_few.assert_same(match_one_by_one(index, plains), f"{engine}: match(dict)")
