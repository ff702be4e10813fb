"""OpIndex, section 6.1: conjunctions of disjunctions with a set of pivots and a bitmap each."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tamis import Index
from tamis.columns.rows import MOST_GROUPS
from tamis.engines.arena import pack
from tamis.engines.opindex import OpIndex
from tamis.engines.units import Statistics
from tamis.language import parse, to_text
from tamis.limits import Limits
from tamis.normal import demands_of
from tamis.segment.build import flat
from tamis.space.space import ABSENT_OK, GROUP, NEGATIVE
from tests.kernels.arrays import Clause, Entry, Literal, as_clauses, as_located, holds

pytestmark = pytest.mark.kernels
A, B, C, D, E = range(5)


def one_of(group: int, *alternatives: Literal) -> Clause:
    return [each._replace(flags=each.flags | group << GROUP) for each in alternatives]


def equal(dimension: int, *cells: int) -> Literal:
    return Literal(dimension, 0, [(cell, cell) for cell in cells])


def cnf(*groups: tuple[Literal, ...]) -> Clause:
    """A clause with groups, sorted by dimension as engines get it."""
    return sorted((each for n, some in enumerate(groups, 1) for each in one_of(n, *some)), key=lambda x: x[0])


def holds_cnf(clause: Clause, event: list[Entry]) -> bool:
    """The naive twin: every group has an alternative that holds."""
    groups = {each.flags >> GROUP for each in clause}
    plain = {g: [x._replace(flags=x.flags % 16) for x in clause if x.flags >> GROUP == g] for g in groups}
    return all(any(holds([each], event) for each in some) for some in plain.values())


def built(book: list[Clause], cells: list[int], **parameters: int) -> tuple[OpIndex, dict[str, Any], Any]:
    clauses = as_clauses(book, cells)
    arranged, arrays = OpIndex.build(clauses, Statistics(clauses), parameters)
    engine = OpIndex(pack(flat("clauses.", arranged) | {f"engine.{k}": a for k, a in arrays.items()}))
    engine.check()
    return engine, arrays, arranged.owner


def found(index: tuple[OpIndex, Any, Any], event: list[Entry]) -> list[int]:
    engine, _, owner = index
    return sorted(owner[engine.candidates(as_located([event])).clause].tolist())


def pivots(arrays: dict[str, Any]) -> list[int]:
    start = arrays["cnf_pivot_start"].tolist()
    return [d for d in range(len(start) - 1) for _ in range(start[d], start[d + 1])]


def test_the_attributes_of_the_smallest_disjunction_are_the_pivots() -> None:
    _, arrays, _ = built([cnf((equal(A, 1), equal(B, 1), equal(C, 1)), (equal(D, 2), equal(E, 2)))], [9] * 5)
    assert pivots(arrays) == [D, E]
    assert arrays["cnf_demand"].tolist() == [3, 3]
    assert arrays["verdict"].tolist() == [2], "the bitmap decides"


def test_ties_go_to_the_disjunction_of_rarer_attributes() -> None:
    clause = cnf((equal(A, 1), equal(B, 1)), (equal(C, 2), equal(D, 2)))
    often: list[Clause] = [[equal(C, 1 + n)] for n in range(3)]
    assert pivots(built([clause, *often], [9] * 5)[1]) == [A, B]
    often = [[equal(B, 1 + n)] for n in range(3)]
    assert pivots(built([clause, *often], [9] * 5)[1]) == [C, D]


def test_a_clause_in_several_lists_is_reported_once() -> None:
    index = built([cnf((equal(A, 1), equal(B, 1)), (equal(C, 2), equal(D, 2), equal(E, 2)))], [9] * 5)
    for event in ({A: 1, B: 1, C: 2}, {B: 1, A: 1, C: 2}, {A: 5, B: 1, D: 2}, {B: 1, E: 2}):
        assert found(index, [Entry(d, cell, cell) for d, cell in event.items()]) == [0]
    for event in ({A: 1, B: 1}, {A: 5, B: 1, C: 3}, {C: 2, D: 2}, {}):
        assert found(index, [Entry(d, cell, cell) for d, cell in event.items()]) == []


def test_a_clause_that_absence_can_satisfy_in_every_group_is_checked_for_every_event() -> None:
    absent = Literal(A, NEGATIVE | ABSENT_OK, [(3, 3)])
    index = built([cnf((absent, equal(B, 1)), (absent, equal(C, 1)))], [9] * 5)
    assert pivots(index[1]) == []
    assert found(index, []) == [0]
    assert found(index, [Entry(A, 3, 3)]) == []
    assert found(index, [Entry(A, 3, 3), Entry(B, 1, 1), Entry(C, 1, 1)]) == [0]


def test_more_disjunctions_than_a_bitmap_has_bits() -> None:
    """Ranges alone in their group take two bits: of 40 of them, 32 are counted."""
    groups = [(Literal(d, 0, [(2, 3)]),) for d in range(40)]
    index = built([cnf(*groups)], [9] * 41)
    assert index[1]["cnf_demand"].tolist() == [2**64 - 1]
    event = [Entry(d, 2, 2) for d in range(40)]
    assert found(index, event) == [0]
    assert found(index, [*event[:39], Entry(39, 4, 4)]) == []
    assert found(index, [Entry(0, 4, 4), *event[1:]]) == []


def random_cnf(chance: random.Random, cells: list[int]) -> Clause:
    groups = []
    for _ in range(chance.randint(1, 4)):
        some = []
        for _ in range(chance.randint(1, 4)):
            dimension = chance.randrange(len(cells))
            low = chance.randint(1, cells[dimension])
            ranges = [(low, chance.choice([low, low, cells[dimension], min(low + 2, cells[dimension])]))]
            if chance.random() < 0.2:
                ranges = [(1, 1), (3, chance.choice([3, 4]))]
            flags = chance.choice([0, 0, 0, 0, NEGATIVE, NEGATIVE | ABSENT_OK, ABSENT_OK])
            some.append(Literal(dimension, flags, ranges))
        groups.append(tuple(some))
    return cnf(*groups)


@pytest.mark.parametrize("parameters", [{}, {"optimised": 0}, {"fill": 0}], ids=str)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "general"])
def test_random_clauses_against_the_naive_twin(parameters: dict[str, int], plain: bool) -> None:
    for seed in range(25):
        chance = random.Random(seed)
        cells = [chance.choice([5, 6, 30]) for _ in range(chance.randint(2, 8))]
        book = [random_cnf(chance, cells) for _ in range(chance.randint(1, 30))]
        index = built(book, cells, **parameters)
        for _ in range(12):
            event = []
            for d in chance.sample(range(len(cells)), chance.randint(0, len(cells))):
                for _ in range(1 if plain else chance.randint(1, 3)):
                    low = chance.randint(1, cells[d])
                    event.append(Entry(d, low, low if plain else min(low + chance.randint(0, 2), cells[d])))
            expected = [n for n, clause in enumerate(book) if holds_cnf(clause, event)]
            assert found(index, event) == expected


def test_output_that_is_full_is_emptied_and_filled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.engines import output

    monkeypatch.setattr(output, "FIRST_ROOM", 1)
    book = [cnf((equal(A, 1), equal(B, 1)), (equal(C, 1 + n % 3), equal(D, 1))) for n in range(120)]
    engine, _, _ = built(book, [9] * 5)
    events = as_located([[Entry(A, 1, 1), Entry(C, n % 4 + 1, n % 4 + 1)] for n in range(9)])
    assert len(engine.candidates(events).clause) == 7 * 40


TEXT = "({}) AND ({}) AND ({})"


def test_an_expression_shorter_as_a_conjunction_is_one_clause() -> None:
    """27 clauses in DNF, a cover within a limit of 8: here one, and the tree is not asked."""
    parts = [" OR ".join(f"{name} = {n}" for n, name in enumerate(names)) for names in ("abc", "def", "ghi")]
    rows = {"s": TEXT.format(*parts)}
    index = Index.build(rows, engine="opindex", limits=Limits(dnf_clauses=8))
    found = index.match({"a": 0, "e": 1, "i": 2})
    assert (list(found), found.work.revised) == (["s"], 0)
    assert index.match({"a": 0, "e": 1, "i": 3}) == []
    covered = Index.build(rows, engine="hybrid", limits=Limits(dnf_clauses=8))
    assert covered.match({"a": 0, "e": 1, "i": 2}).work.revised == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a = 1 OR b = 2) AND (c = 3 OR d = 4)", ["a = 1 OR b = 2", "c = 3 OR d = 4"]),
        ("a = 1 AND (c = 3 OR d = 4)", None),  # two clauses either way
        ("a = 1 AND b = 2", None),
        ("(a = 1 AND b = 2) OR (c = 3 AND d = 4)", None),
        ("(a = 1 OR b LIKE '%x') AND (c = 3 OR d = 4)", None),
        ("(a = 1 OR p = POINT(1, 2)) AND (c = 3 OR d = 4)", None),
        ("(a = 1 OR NOT b = 2) AND (c = 3 OR d IS NULL)", ["NOT b = 2 OR a = 1", "c = 3 OR d IS NULL"]),
        ("(a = 1 OR a IN (1, 2)) AND (c = 3 OR c = 4) AND d = 1", None),  # merged, nothing to choose
    ],
)  # fmt: skip
def test_which_expressions_are_taken_as_cnf(text: str, expected: list[str] | None) -> None:
    demands = demands_of(parse(text), MOST_GROUPS)
    if expected is None:
        assert demands is None
    else:
        assert demands is not None
        assert sorted(" OR ".join(sorted(map(to_text, some))) for some in demands) == sorted(expected)


def test_alternatives_that_never_or_always_hold_are_settled_when_the_space_is_cut() -> None:
    rows = {
        "one left": "(a BETWEEN 5 AND 1 OR b = 2) AND (c = 3 OR d = 4)",
        "never": "(a BETWEEN 5 AND 1 OR b BETWEEN 5 AND 1) AND (c = 3 OR d = 4)",
        "always": "(a NOT BETWEEN 5 AND 1 OR b = 2) AND (c = 3 OR d = 4)",
    }
    index, scan = Index.build(rows, engine="opindex"), Index.build(rows, engine="scan")
    for event in ({"b": 2, "c": 3}, {"a": 3, "d": 4}, {"a": 1, "b": 2}, {"d": 4}, {"a": 3, "b": 2, "c": 3}):
        assert sorted(index.match(event)) == sorted(scan.match(event))


def test_books_of_conjunctions_of_disjunctions_agree_with_scan() -> None:
    chance = random.Random(8)

    def predicate() -> str:
        name, value = chance.choice("abcdefgh"), chance.randrange(8)
        forms = [
            "{} = {}",
            "{} <= {}",
            "{} >= {}",
            "{} != {}",
            "NOT {} = {}",
            "{} BETWEEN {} AND 6",
            "{} = 'x{}'",
        ]
        return chance.choice(forms).format(name, value)

    def disjunction() -> str:
        return "(" + " OR ".join(predicate() for _ in range(chance.randint(1, 3))) + ")"

    rows = {f"s{n}": " AND ".join(disjunction() for _ in range(chance.randint(2, 4))) for n in range(60)}
    index, scan = Index.build(rows, engine="opindex"), Index.build(rows, engine="scan")
    values: list[Any] = [0, 1, 2, 3, 5, 7, "x1", "x3", [1, 4], [0, 7]]
    for _ in range(40):
        event = {name: chance.choice(values) for name in chance.sample("abcdefgh", chance.randint(0, 8))}
        assert sorted(index.match(event)) == sorted(scan.match(event))
