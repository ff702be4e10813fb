"""Kernels of cutting, compiled, against plain Python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tamis.columns import RowWriter
from tamis.columns.rows import clause_rows
from tamis.language import expression_from
from tamis.limits import DEFAULT_LIMITS
from tamis.segment.build import flat
from tamis.space.build import cut, dedupe
from tamis.space.cutting import _kernels as k
from tamis.space.cutting import cuts

pytestmark = pytest.mark.kernels


def test_ranges_of_an_entry_are_joined() -> None:
    for seed in range(40):
        chance = random.Random(seed)
        entries = chance.randint(1, 6)
        count = chance.choice([0, 1, 8, 40, 300])
        entry = np.array([chance.randrange(entries) for _ in range(count)], np.int64)
        lo = np.array([chance.randint(1, 60) for _ in range(count)], np.int64)
        hi = lo + np.array([chance.randint(0, 4) for _ in range(count)], np.int64)
        start = np.concatenate([[0], np.cumsum(np.bincount(entry, minlength=entries))])
        out = np.empty((3, count), np.int64)
        joined = k.merge_ranges(entry, lo, hi, start, *out)
        expected = []
        for e in range(entries):
            cells = sorted({c for i in np.flatnonzero(entry == e) for c in range(lo[i], hi[i] + 1)})
            runs = [c for c in cells if c - 1 not in cells]
            expected += [(e, low, next(c for c in range(low, 99) if c + 1 not in cells)) for low in runs]
        assert list(zip(*out[:, :joined].tolist(), strict=True)) == expected


def test_literals_are_packed() -> None:
    neg, absent, many = k.NEGATIVE, k.ABSENT_OK, k.MANY
    cases = [  # flags, ranges → flags, lo, hi, fate
        (0, [(2, 3)], (0, 2, 3), 0),
        (neg, [(2, 3), (5, 5)], (neg | many, 0, 2), 0),
        (absent, [(1, 1), (4, 6), (8, 8)], (absent | many, 2, 3), 0),
        (0, [], (0, 1, 9), k.NEVER),
        (neg | absent, [], (neg | absent, 1, 9), k.ALWAYS),
        (neg, [], (0, 1, 9), 0),
        (absent, [], (neg | absent, 1, 9), 0),
    ]
    ranges = [r for _, rs, _, _ in cases for r in rs]
    lo, hi = (np.array([r[i] for r in ranges], np.int64) for i in (0, 1))
    flags = np.array([case[0] for case in cases], np.int64)
    count = np.array([len(case[1]) for case in cases], np.int64)
    packed, fate = np.empty((len(cases), 4), np.int64), np.empty(len(cases), np.uint8)
    k.pack_literals(np.zeros(len(cases), np.int64), flags, count, lo, hi, np.array([9]), packed, fate)
    assert packed[:, 1:].tolist() == [list(case[2]) for case in cases]
    assert fate.tolist() == [case[3] for case in cases]


def test_equal_clauses_are_found_and_no_others() -> None:
    for seed in range(30):
        chance = random.Random(seed)
        clauses = [_clause(chance) for _ in range(25)]
        start = np.cumsum([0, *map(len, clauses)])
        literal, set_lo, set_hi = [], [], []
        for clause in clauses:
            for dimension, ranges in chance.sample(clause, len(clause)):
                if len(ranges) == 1:
                    literal.append((dimension, 0, *ranges[0]))
                else:
                    literal.append((dimension, k.MANY, len(set_lo), len(ranges)))
                    set_lo += [r[0] for r in ranges]
                    set_hi += [r[1] for r in ranges]
        revise = np.array([chance.randint(0, 1) for _ in clauses], np.uint8)
        rows = np.array(literal, np.int32).reshape(-1, 4)
        found = dedupe(
            start,
            rows,
            np.array(set_lo, np.int32),
            np.array(set_hi, np.int32),
            revise,
            np.arange(25),
            np.array([9, 9]),
        )
        groups = [
            sorted(found.owner[found.owner_start[c] : found.owner_start[c + 1]].tolist())
            for c in range(found.count)
        ]
        alike: dict[Any, list[int]] = {}
        for at, clause in enumerate(clauses):
            alike.setdefault((tuple(sorted(clause)), int(revise[at])), []).append(at)
        assert sorted(groups) == sorted(alike.values())


def _clause(chance: random.Random) -> list[tuple[int, tuple[tuple[int, int], ...]]]:
    options = [((1, 2),), ((3, 3),), ((1, 1), (4, 5)), ((1, 1), (4, 6)), ((1, 1), (4, 5), (7, 7))]
    return [(dimension, chance.choice(options)) for dimension in range(chance.randint(0, 2))]


def test_clauses_with_the_same_hash_are_still_told_apart() -> None:
    literal = np.array([[0, 0, 1, 2], [0, 0, 1, 3], [0, 0, 2, 3], [1, 0, 2, 3], [0, 4, 0, 2], [0, 4, 2, 2]])
    start = np.array([0, 1, 2, 3, 4, 5, 6, 6, 6])
    revise = np.array([0, 0, 0, 0, 0, 0, 0, 1], np.uint8)
    set_lo, set_hi = np.array([1, 5, 1, 6]), np.array([2, 5, 2, 6])
    same = np.zeros(8, np.bool_)
    k.same_as_previous(np.arange(8), np.zeros(8, np.uint64), start, literal, set_lo, set_hi, revise, same)
    assert not same.any()


COMPARISONS = [
    "a = 3 AND b = 'x'",
    "a != 3",
    "a < 3",
    "a <= 3 AND a > 1",
    "a >= 2.5",
    "a BETWEEN 1 AND 4 AND b BETWEEN 'm' AND 'x'",
    "a NOT BETWEEN 4 AND 1 AND c = true",
    "a BETWEEN 4 AND 1",
    "a IN (4, 1, 2, 'x', false) AND c = false",
    "NOT a IN (1, 3) AND b < 'y'",
    "a NOT IN (7, 7, 5) AND a IS NOT NULL",
    "b LIKE 'x%' AND t > TIMESTAMP '2026-01-01 00:00:00'",
]


def _written(expressions: list[str]) -> Any:
    writer = RowWriter()
    for text in expressions:
        writer.add(expression_from(text, DEFAULT_LIMITS))
    return cut(clause_rows(writer.freeze(), DEFAULT_LIMITS))


def test_a_list_of_cuts_does_what_a_table_does(monkeypatch: pytest.MonkeyPatch) -> None:
    space, clauses = _written(COMPARISONS)
    monkeypatch.setattr(cuts, "TABLE_LIMIT", 0)
    listed_space, listed = _written(COMPARISONS)
    one, two = flat("", space) | flat("", clauses), flat("", listed_space) | flat("", listed)
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


def test_comparisons_become_ranges_of_cells() -> None:
    _, clauses = _written(
        ["a = 3", "a < 3", "a <= 3", "a > 3", "a >= 3", "a IN (9, 3, 4)", "a BETWEEN 3 AND 9"]
    )
    # cells: 1 below 3, 2 is 3, 3 between 3 and 4, 4 is 4, 5 between 4 and 9, 6 is 9, 7 above, 8 other types
    rows = {int(n): clauses.literal[c].tolist() for c, n in enumerate(clauses.owner)}
    assert [rows[n][2:] for n in (0, 1, 2, 3, 4, 6)] == [[2, 2], [1, 1], [1, 2], [3, 7], [2, 7], [2, 6]]
    assert rows[5] == [0, k.MANY, 0, 3]
    assert clauses.set_lo.tolist() == clauses.set_hi.tolist() == [2, 4, 6]


def test_operands_without_an_order_have_no_range() -> None:
    key = np.array([[0, 0, -1], [1, 2, -1], [2, 3, -1], [4, 4, -1]], np.int32)
    row, op = np.array([0, 1], np.uint32), np.array([k.IN, 0], np.uint8)
    arg, arity = np.array([0, 3, 4]), np.array([3, 1], np.uint32)
    columns = row, op, np.zeros(2, np.uint32), arg, arity, np.array([1, 2, 0, 2], np.uint32)
    mark = np.zeros(5, np.bool_)
    assert k.mark_comparisons(*columns, key, 5, mark, np.zeros(0, np.int64)) == (0, 4)
    assert np.flatnonzero(mark).tolist() == [1, 2, 3]
    packed, fate = np.empty((2, 4), np.int32), np.empty(2, np.uint8)
    sets = np.empty((2, 5), np.int32)
    cell = np.array([0, 1, 2, 3, 4], np.int32)
    negated, cells = np.array([False, True]), np.array([9])
    count = k.pack_comparisons(
        *columns, key, 5, np.zeros(0, np.int64), cell, negated, cells, packed, fate, *sets
    )
    assert (count, fate.tolist()) == (0, [0, k.ALWAYS])
    assert packed.tolist() == [[0, 0, 2, 3], [0, k.NEGATIVE | k.ABSENT_OK, 1, 9]]
