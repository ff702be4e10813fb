"""Test OpIndex (Zhang, Chan and Tan, 2014): table 1, figures 4 and 5, examples 2, 3 and 5, pruning.

Attributes are dimensions 0 to 4 and values are cells: value 8 is cell 8.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
import pytest

from tamis import Index
from tamis.engines.arena import pack
from tamis.engines.opindex import OpIndex
from tamis.engines.opindex.structures._kernels import EQ, GE, LE, OPERATORS, signature_bit
from tamis.engines.units import Statistics
from tamis.segment.build import flat
from tamis.space.space import ABSENT_OK, NEGATIVE
from tests.kernels.arrays import Clause, Entry, Literal, as_clauses, as_located

pytestmark = pytest.mark.kernels

A, B, C, D, E = range(5)
CELLS = 20


def equal(dimension: int, *cells: int) -> Literal:
    return Literal(dimension, 0, [(cell, cell) for cell in cells])


def at_most(dimension: int, cell: int) -> Literal:
    return Literal(dimension, 0, [(1, cell)])


def at_least(dimension: int, cell: int) -> Literal:
    return Literal(dimension, 0, [(cell, CELLS)])


TABLE_1: list[Clause] = [
    [equal(A, 2), equal(B, 3, 6, 9)],
    [at_most(A, 8), at_least(C, 2)],
    [at_most(B, 4), equal(C, 6), Literal(E, 0, [(3, 12)])],
    [equal(A, 2)],
    [at_least(D, 12), at_most(E, 9)],
    [equal(B, 3, 6), at_most(C, 4), at_least(D, 10), at_most(E, 7)],
]
PIVOTS = {A: [1, 2, 4], C: [3], D: [5, 6]}  # figure 4: L_A, L_C and L_D, subscriptions by their numbers


class Built(NamedTuple):
    """An engine with its arrays, and the subscription (from 1) of each clause."""

    engine: OpIndex
    arrays: dict[str, Any]
    owner: list[int]

    def found(self, *event: tuple[int, int]) -> tuple[set[int], int, int, int]:
        """Return the subscriptions that match a plain event, and the work: probed, verified, visited."""
        found = self.engine.candidates(as_located([[Entry(d, value, value) for d, value in event]]))
        return {self.owner[c] for c in found.clause}, found.probed, found.verified, found.visited

    def lists(self, pivot: int) -> list[list[list[tuple[int, int, int]]]]:
        """Return the predicates per segment and operator: (dimension, operand, subscription)."""
        first, end = self.arrays["directory_start"][pivot : pivot + 2].tolist()
        return [[self._part(pivot, OPERATORS * s + op) for op in (EQ, LE, GE)] for s in range(first, end)]

    def _part(self, pivot: int, part: int) -> list[tuple[int, int, int]]:
        bits, base = int(self.arrays["layout"][0]), self.arrays["cell_base"].astype(np.int64)
        begin, end = self.arrays["list_start"][part : part + 2].tolist()
        predicates = []
        for record in self.arrays["record"][begin:end].tolist():
            dimension = int(np.searchsorted(base, record >> bits, side="right")) - 1
            clause = int(self.arrays["pivot_start"][pivot]) + (record & ((1 << bits) - 1))
            predicates.append((dimension, (record >> bits) - int(base[dimension]), self.owner[clause]))
        return predicates


def built(book: list[Clause], cells: list[int], sample: Any = None, **parameters: int) -> Built:
    clauses = as_clauses(book, cells)
    arranged, arrays = OpIndex.build(clauses, Statistics(clauses, sample), parameters)
    arena = pack(flat("clauses.", arranged) | {f"engine.{name}": array for name, array in arrays.items()})
    engine = OpIndex(arena)
    engine.check()
    return Built(engine, arrays, (arranged.owner + 1).tolist())


@pytest.fixture
def table_1() -> Built:
    """Return the index of figure 5: two segments, one for A, C and E and one for B and D.

    Section 4.2 counts a range as two predicates, so there is no trie.
    """
    return built(TABLE_1, [CELLS] * 5, segment_bits=1, fill=0, trie=0)


def members(index: Built) -> dict[int, list[int]]:
    start = index.arrays["pivot_start"].tolist()
    lists = {d: sorted(index.owner[start[d] : start[d + 1]]) for d in range(len(start) - 1)}
    return {pivot: subscriptions for pivot, subscriptions in lists.items() if subscriptions}


def test_least_frequent_attribute_is_the_pivot_in_figure_4(table_1: Built) -> None:
    assert members(table_1) == PIVOTS


def test_log_of_events_decides_the_pivots() -> None:
    """Equation 1: if A and C are everywhere in a log, B and E become pivots."""
    log = as_located([[Entry(A, 1, 1), Entry(C, 1, 1), Entry(D, 1, 1)]] * 9 + [[Entry(B, 1, 1)]])
    assert members(built(TABLE_1, [CELLS] * 5, sample=log)) == {A: [2, 4], B: [1], E: [3, 5, 6]}


def test_lists_are_sorted_by_attribute_and_operand_as_in_figure_5(table_1: Built) -> None:
    assert table_1.lists(A) == [
        [[(A, 2, 1), (A, 2, 4)], [(A, 8, 2)], [(C, 2, 2)]],
        [[(B, 3, 1), (B, 6, 1), (B, 9, 1)], [], []],
    ]
    assert table_1.lists(C) == [
        [[(C, 6, 3)], [(E, 12, 3)], [(E, 3, 3)]],
        [[], [(B, 4, 3)], []],
    ]
    assert table_1.lists(D) == [
        [[], [(C, 4, 6), (E, 7, 6), (E, 9, 5)], []],
        [[(B, 3, 6), (B, 6, 6)], [], [(D, 10, 6), (D, 12, 5)]],
    ]


def test_counters_hold_the_unmet_predicates_as_in_figure_5(table_1: Built) -> None:
    needed = dict(zip(table_1.owner, table_1.arrays["needed"].tolist(), strict=True))
    assert needed == {1: 2, 2: 2, 3: 4, 4: 1, 5: 2, 6: 4}
    assert not table_1.arrays["verdict"].any()


def test_every_predicate_sets_its_bit_as_in_figure_5(table_1: Built) -> None:
    for pivot in PIVOTS:
        first = int(table_1.arrays["directory_start"][pivot])
        for s, lists in enumerate(table_1.lists(pivot)):
            for operator, predicates in enumerate(lists):
                bits = [int(signature_bit(operator, d, operand)) for d, operand, _ in predicates]
                expected = np.bitwise_or.reduce(np.array([0, *bits], np.uint64))
                assert table_1.arrays["signature"][OPERATORS * (first + s) + operator] == expected


def test_event_of_example_2_accesses_only_the_list_of_a(table_1: Built) -> None:
    found, probed, verified, _ = table_1.found((A, 2), (B, 6))
    assert found == {1, 4}
    assert (probed, verified) == (4, 0), "A = 2 twice, A <= 8 and B = 6; nothing of L_C and L_D"


@pytest.mark.parametrize("operator", [EQ, LE, GE])
def test_signature_bits_follow_the_hash_rules_of_example_3(operator: int) -> None:
    """For = the bit depends on attribute and operand, for the others on the attribute alone."""
    of_operands = {int(signature_bit(operator, 7, operand)) for operand in range(1, 200)}
    of_attributes = {int(signature_bit(operator, d, 5)) for d in range(200)}
    assert all(bit.bit_count() == 1 for bit in of_operands | of_attributes)
    assert len(of_operands) >= 56 if operator == EQ else len(of_operands) == 1
    assert len(of_attributes) >= 56


def test_event_of_example_5_searches_only_the_lists_of_c(table_1: Built) -> None:
    """Of the three attributes only C is a pivot: S2 and S5 match in part but are not accessed."""
    found, probed, verified, visited = table_1.found((B, 6), (C, 3), (E, 9))
    assert (found, probed, verified) == (set(), 2, 0), "E >= 3 and E <= 12 of S3 are met"
    assert visited == 3, "the lists with E <= and E >=, and that with B <=, whose signatures tell no operand"


def test_event_of_example_5_searches_every_list_without_signatures() -> None:
    index = built(TABLE_1, [CELLS] * 5, optimised=0, trie=0)
    assert index.found((B, 6), (C, 3), (E, 9)) == (set(), 2, 0, 9), "three attributes times three operators"
    assert len(index.arrays["signature"]) == 0


def test_directory_has_32_segments() -> None:
    """With 64 attributes every segment gets two, side by side; short lists have smaller directories."""
    book = [[equal(0, 1 + n % 5), equal(d, 1 + n % 7)] for d in range(1, 64) for n in range(8)]
    log = as_located([[Entry(d, 1, 1) for d in range(1, 64)]])
    index = built(book, [9] * 64, sample=log)
    assert index.arrays["directory_start"].tolist() == [0] + [32] * 64
    for s, lists in enumerate(index.lists(0)):
        assert {d % 32 for d, *_ in lists[EQ]} == {s}
        assert [row[:2] for row in lists[EQ]] == sorted(row[:2] for row in lists[EQ])
    few = built(book[:16], [9] * 64, sample=log)
    assert few.arrays["directory_start"][-1] == 4


def test_other_operators_are_counted_in_part_and_then_checked() -> None:
    """A long ∉ needs presence, a set of ranges its hull; a literal that absence satisfies is not counted."""
    book: list[Clause] = [
        [Literal(A, NEGATIVE, [(n, n) for n in (1, 3, 5, 7, 9)])],
        [Literal(A, 0, [(2, 3), (7, 9)])],
        [equal(A, 4), Literal(B, NEGATIVE | ABSENT_OK, [(2, 2)])],
        [Literal(B, NEGATIVE | ABSENT_OK, [(2, 2)])],
    ]
    index = built(book, [CELLS] * 5)
    assert index.found((A, 4))[0] == {1, 3, 4}
    assert index.found((A, 8))[0] == {1, 2, 4}
    assert index.found((A, 5), (B, 2))[0] == set()
    assert index.found()[0] == {4}
    assert index.arrays["verdict"].tolist() == [1, 1, 1, 1]


def test_excluded_ranges_are_counted_below_and_above() -> None:
    """!= 5 is <= 4 or >= 6, ∉i [3, 7] is <= 2 or >= 8, ∉s {2, 6} is != 2 and != 6. No clause is checked.

    The last cell of B is for values of other types, which no >= reaches and every != accepts.
    """
    book: list[Clause] = [
        [Literal(A, NEGATIVE, [(5, 5)])],
        [Literal(A, NEGATIVE, [(3, 7)])],
        [Literal(A, NEGATIVE, [(2, 2), (6, 6)])],
        [Literal(A, NEGATIVE, [(1, CELLS)])],
        [Literal(B, NEGATIVE, [(4, 4)])],
        [Literal(B, 0, [(3, CELLS - 1)])],
    ]
    index = built(book, [CELLS] * 5)
    assert not index.arrays["verdict"].any()
    for value in range(1, CELLS + 1):
        of_a = {1: value != 5, 2: not 3 <= value <= 7, 3: value not in (2, 6)}
        of_b = {5: value != 4, 6: 3 <= value < CELLS}
        assert index.found((A, value))[0] == {clause for clause, holds in of_a.items() if holds}
        assert index.found((B, value))[0] == {clause for clause, holds in of_b.items() if holds}


def test_clause_matches_with_more_predicates_than_a_counter_holds() -> None:
    clause: Clause = [at_least(d, 2) for d in range(300)]
    index = built([clause, clause[:255]], [CELLS] * 300)
    assert index.arrays["needed"].tolist() == [255, 255]
    assert sorted(index.arrays["verdict"].tolist()) == [0, 1]
    event = [(d, 5) for d in range(300)]
    assert index.found(*event)[0] == {1, 2}
    assert index.found(*event[:299])[0] == {2}
    assert index.found(*event[:299], (299, 1))[0] == {2}


def test_records_are_sorted_when_too_wide_for_one_number() -> None:
    """Cells of all dimensions and the lists together take more than 63 bits."""
    chance = random.Random(3)
    cells = [2**31 - 2] * 9
    book: list[Clause] = [
        [equal(d, chance.choice([1, 7, 2**30, cells[d]])) for d in sorted(chance.sample(range(9), 2))]
        for _ in range(900)
    ]
    clauses = as_clauses(book, cells)
    wide = clauses._replace(cells=np.full(9, 2**32 - 2, np.uint32))
    arranged, arrays = OpIndex.build(wide, Statistics(wide), {})
    assert arrays["record"].dtype == np.uint64
    engine = OpIndex(pack(flat("clauses.", arranged) | {f"engine.{k}": a for k, a in arrays.items()}))
    engine.check()
    event = [Entry(d, chance.choice([1, 7, 2**30, cells[d]]), 0) for d in range(9)]
    event = [Entry(d, low, low) for d, low, _ in event]
    expected = {n for n, clause in enumerate(book) if all((r[0][0] == event[d].lo) for d, _, r in clause)}
    assert set(arranged.owner[engine.candidates(as_located([event])).clause].tolist()) == expected


def sparse(count: int, attributes: int) -> tuple[dict[str, str], list[dict[str, int]]]:
    """Return subscriptions of one to five predicates on many attributes, and events of ten."""
    chance = random.Random(11)

    def predicate(name: int) -> str:
        return f"a{name} {chance.choice(['=', '=', '<=', '>='])} {chance.randrange(50)}"

    rows = {
        f"s{n}": " AND ".join(
            predicate(name) for name in chance.sample(range(attributes), chance.randint(1, 5))
        )
        for n in range(count)
    }
    events = [
        {f"a{name}": chance.randrange(50) for name in chance.sample(range(attributes), 10)} for _ in range(20)
    ]
    return rows, events


def test_signatures_avoid_most_searches() -> None:
    """Lemma 8: without directory and signatures an event searches m² lists per operator."""
    rows, events = sparse(4000, 100)
    signed = Index.build(rows, engine="opindex")
    plain = Index.build(rows, engine="opindex", parameters={"optimised": 0})
    scan = Index.build(rows, engine="scan")
    for event in events:
        few, many = signed.match(event), plain.match(event)
        assert sorted(few) == sorted(many) == sorted(scan.match(event))
        assert few.work.candidates == many.work.candidates <= 200, "the same predicates are met"
        assert many.work.visited == 3 * 10 * 10
        assert few.work.visited <= 160
        assert few.work.verified == many.work.verified == 0


def test_pivot_avoids_counting_most_predicates() -> None:
    """Predicates that an event meets are not counted if the pivot of their clause is absent."""
    rows, events = sparse(4000, 100)
    index = Index.build(rows, engine="opindex")
    for event in events:
        met = sum(
            eval(predicate.replace(" = ", " == "), {}, event)
            for row in rows.values()
            for predicate in row.split(" AND ")
            if predicate.split()[0] in event
        )
        assert index.match(event).work.candidates <= 0.55 * met


def test_memory_does_not_depend_on_the_size_of_the_domain() -> None:
    sizes = []
    for values in (50, 12_800):
        chance = random.Random(5)
        cells = [values] * 40
        book: list[Clause] = []
        for _ in range(2000):
            picked = sorted(chance.sample(range(40), 3))
            operand = [chance.randint(1, values) for _ in picked]
            book.append([Literal(d, 0, [(1, cell)]) for d, cell in zip(picked, operand, strict=True)])
        sizes.append(sum(array.nbytes for array in built(book, cells).arrays.values()))
    assert sizes[1] == sizes[0]
