"""Test the compiled kernels of the bulk path against plain Python."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from tamis.columns import _kernels as k
from tamis.columns import columns_from_arrow
from tamis.columns.codes import AND, NOT

pytestmark = pytest.mark.kernels


def test_texts_are_numbered_in_order_of_appearance() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        known = np.array([chance.randrange(5) for _ in range(7)], np.int32)
        code = np.array([chance.randrange(7) for _ in range(chance.choice([0, 1, 30]))], np.int32)
        number, out = np.full(5, -1, np.int32), np.empty(len(code), np.uint32)
        count = k.renumber(code, known, number, out)
        texts = list(dict.fromkeys(known[code].tolist()))
        assert count == len(texts)
        assert out.tolist() == [texts.index(text) for text in known[code].tolist()]
        assert number.tolist() == [texts.index(t) if t in texts else -1 for t in range(5)]


def test_close_numbers_are_ranked_by_a_table() -> None:
    numbers = np.array([5, -2, 5, 7, 0])
    seen, place = np.zeros(10, np.bool_), np.empty(5, np.uint32)
    k.mark_numbers(numbers, -2, seen)
    assert (np.flatnonzero(seen) - 2).tolist() == [-2, 0, 5, 7]
    k.take_ranks(numbers, -2, np.cumsum(seen, dtype=np.uint32) - np.uint32(1), place)
    assert place.tolist() == [2, 0, 2, 3, 1]


def test_rows_with_too_few_or_too_many_operands_are_found() -> None:
    least, most = np.array([1, 2]), np.array([1, 4])
    op, arity = np.array([0, 0, 0, 1, 1, 1], np.uint8), np.array([0, 1, 2, 1, 2, 5], np.uint32)
    wrong = np.empty(6, np.bool_)
    assert k.wrong_counts(op, arity, least, most, wrong)
    assert wrong.tolist() == [True, False, True, True, False, True]
    assert not k.wrong_counts(op[1:2], arity[1:2], least, most, wrong[1:2])


@pytest.mark.parametrize("tidy", [True, False])
def test_coded_texts_are_read_like_plain_ones(tidy: bool) -> None:
    ids = ["s0", "s0", "s2", "s1"] if tidy else ["s0", "s2", "s0", "s1"]
    plain = {
        "id": pa.array(ids),
        "attribute": pa.array(["a", "b", "a", "c"]),
        "operator": pa.array(["in", "=", "<", "between"]),
        "number": pa.array([[3, 1, 3], [2], [1], [1, 9]], pa.list_(pa.int64())),
    }
    coded = plain | {name: plain[name].dictionary_encode() for name in ("id", "attribute", "operator")}
    one, two = (columns_from_arrow(pa.table(columns)) for columns in (plain, coded))
    assert one.ids.to_pylist() == two.ids.to_pylist() == list(dict.fromkeys(ids))
    for own, other in zip(one.columns[2:], two.columns[2:], strict=True):
        np.testing.assert_array_equal(own, other)
    assert one.columns.names == two.columns.names


def _misplaced(
    op: list[int],
    arity: list[int],
    rows: list[int],
    args: list[int],
    operands: list[int] | None = None,
    deepest: int = 3,
) -> int:
    least, most = np.zeros(256, np.int64), np.full(256, 9)
    least[NOT] = most[NOT] = 1
    allowed = np.full(256, 0b0000111)
    allowed[14] = 0b0010000
    kind = np.array([0, 1, 4, 2], np.uint8)
    used = np.array(operands if operands is not None else [0] * args[-1], np.int64)
    numbers = [np.array(part, np.int64) for part in (arity, used)]
    places = [np.array(part, np.int64) for part in (rows, args)]
    depth = np.empty(max(len(op), 1), np.int64)
    code = np.array(op, np.uint8)
    return int(k.misplaced_row(code, *numbers, kind, *places, least, most, allowed, depth, deepest))


def test_malformed_rows_are_found() -> None:
    eq, both, no = 0, AND, NOT
    assert _misplaced([], [], [0], [0]) == -1
    assert _misplaced([eq, eq, both, no], [1, 1, 2, 1], [0, 4], [0, 2]) == -1
    assert _misplaced([eq, eq], [1, 1], [0, 1, 2], [0, 1, 2]) == -1
    assert _misplaced([eq, eq], [2, 0], [0, 1, 2], [0, 1, 2]) == 0, "an operand of the next expression"
    assert _misplaced([eq, eq], [1, 0], [0, 1, 2], [0, 1, 2]) == 1, "an operand that nobody takes"
    assert _misplaced([eq, both], [1, 2], [0, 2], [0, 1]) == 1, "a child that is not there"
    assert _misplaced([eq, no], [1, 2], [0, 2], [0, 1]) == 1, "NOT of two"
    assert _misplaced([eq, no, no], [1, 1, 1], [0, 3], [0, 1]) == -1
    assert _misplaced([eq, no, no, no], [1, 1, 1, 1], [0, 4], [0, 1]) == 3, "too deep"
    assert _misplaced([eq, no, eq, no, both], [1, 1, 1, 1, 2], [0, 5], [0, 2]) == -1
    assert _misplaced([eq], [-1], [0, 1], [0, 0]) == 0
    like, between = 14, 10
    assert _misplaced([like, eq], [1, 1], [0, 2], [0, 2], [2, 1]) == -1
    assert _misplaced([like, eq], [1, 1], [0, 2], [0, 2], [1, 1]) == 0, "no string"
    assert _misplaced([between], [2], [0, 1], [0, 2], [0, 1]) == -1
    assert _misplaced([between], [2], [0, 1], [0, 2], [0, 3]) == 0, "a number and a time"
