"""Test the worked examples of the PS-Tree paper: figures 1 to 4 and the ages of section 4.4."""

from __future__ import annotations

from typing import Any

import pytest

from tamis import Index
from tamis.space.pstree import Integers, PSTree

BYTE = Integers(8)


def spaces(tree: PSTree) -> list[tuple[str, list[int]]]:
    """Return every predicate space with the predicates that cover it."""
    return [(leaf.describe(), sorted(leaf.predicates)) for leaf in tree.leaves()]


def tree_of(*predicates: tuple[Any, ...]) -> PSTree:
    tree = PSTree(BYTE)
    for number, (operator, *values) in enumerate(predicates, 1):
        tree.insert(number, operator, *values)
        tree.check()
    return tree


def test_two_prices_locate_as_in_figure_1() -> None:
    tree = tree_of(("between", 0, 4), ("between", 2, 4))
    assert spaces(tree)[1:-1] == [("[0, 2)", [1]), ("[2, 4]", [1, 2])]
    assert tree.locate(3).predicates == {1, 2}


def test_elements_of_a_byte_are_those_of_figure_2() -> None:
    minus, plus = 0, 1
    assert BYTE.elements(-5) == (minus, 7, 11)
    assert BYTE.elements(-1) == (minus, 7, 15)
    assert BYTE.elements(1) == (plus, 0, 1)
    assert BYTE.elements(127) == (plus, 7, 15)
    assert [len(Integers(bits).elements(0)) for bits in (8, 32)] == [3, 9]


def test_predicate_spaces_are_those_of_figure_2() -> None:
    tree = tree_of(("between", -5, -1), ("between", 1, 5))
    assert spaces(tree) == [
        (".., -5)", []), ("[-5, -1]", [1]), ("(-1, 1)", []), ("[1, 5]", [2]), ("(5, ..", []),
    ]  # fmt: skip
    assert [leaf.counter for leaf in tree.leaves()] == [0, 1, 0, 1, 0]
    assert tree.locate(2).predicates == {2}
    # The inner nodes of figure 2(b): under the root a sign each, then the digits of -5, -1, 1 and 5.
    assert [(sign, list(node.children)) for sign, node in sorted(tree.root.children.items())] == [
        (0, [7]),
        (1, [0]),
    ]
    assert sorted(tree.root.children[0].children[7].children) == [11, 15]
    assert sorted(tree.root.children[1].children[0].children) == [1, 5]


def test_ages_locate_as_in_section_4_4() -> None:
    tree = PSTree(BYTE)
    tree.insert(1, "between", 20, 60)
    tree.insert(2, "between", 30, 80)
    assert [leaf.describe() for leaf in tree.leaves()] == [
        ".., 20)", "[20, 30)", "[30, 60]", "(60, 80]", "(80, ..",
    ]  # fmt: skip
    assert [leaf.counter for leaf in tree.leaves()] == [0, 1, 2, 1, 0]
    tree.delete(2)
    assert [leaf.describe() for leaf in tree.leaves()] == [".., 20)", "[20, 60]", "(60, .."]
    assert [leaf.counter for leaf in tree.leaves()] == [0, 1, 0]
    tree.check()


FIGURE_3 = {
    "S1": "attr1 < -5 AND attr2 BETWEEN 1 AND 5",
    "S2": "attr1 BETWEEN -5 AND -1 AND attr2 < 1",
    "S3": "attr1 BETWEEN -5 AND -1 AND attr2 > 5",
}
FIGURE_4 = {
    "S1": "attr1 = 1 AND attr2 = -1 AND attr3 < 0",
    "S2": "attr1 = 1 AND attr2 = -1 AND attr3 > 0",
    "S3": "attr1 = 1 AND attr2 < -1 AND attr3 = 0",
    "S4": "attr1 < 1 AND attr2 = -1 AND attr3 = 0",
}


COPIES = 20


@pytest.mark.parametrize(
    ("event", "hanging", "left", "matching"),
    [
        # S2 and S3 hang from [-5, -1]; the signature then separates them.
        ({"attr1": -3, "attr2": 9}, 2, 1, ["S3"]),
        ({"attr1": -3, "attr2": 0}, 2, 1, ["S2"]),
        ({"attr1": -9, "attr2": 3}, 1, 1, ["S1"]),  # S1 hangs from [1, 5] of attr2
        ({"attr1": -3, "attr2": 3}, 3, 0, []),
        ({"attr1": -9, "attr2": 9}, 0, 0, []),
        ({"attr1": -3}, 2, 0, []),
    ],
)
def test_pstbloom_finds_the_matches_of_figure_3(
    event: dict[str, int], hanging: int, left: int, matching: list[str]
) -> None:
    """Each subscription comes twenty times, with one more predicate: shorter lists would share a block."""
    rows = {
        f"{name}.{n}": f"{text} AND attr3 > {n}" for name, text in FIGURE_3.items() for n in range(COPIES)
    }
    found = Index.build(rows, engine="pstbloom", parameters={"crowd": 0}).match(event | {"attr3": 99})
    assert sorted({name.split(".")[0] for name in found}) == matching
    assert len(found) == COPIES * len(matching)
    assert (found.work.candidates, found.work.verified) == (COPIES * hanging, COPIES * left)


def test_psthash_finds_the_matches_of_figure_4() -> None:
    """Only [1-2][2-2] of the event's three 2-dim spaces is looked up: no clause is posted under [3-1]."""
    index = Index.build(FIGURE_4, engine="psthash")
    found = index.match({"attr1": 1, "attr2": -1, "attr3": 2})
    assert sorted(found) == ["S2"]
    assert (found.work.visited, found.work.candidates, found.work.verified) == (1, 2, 1)
    assert sorted(index.match({"attr1": 1, "attr2": -7, "attr3": 0})) == ["S3"]
    assert sorted(index.match({"attr1": 0, "attr2": -1, "attr3": 0})) == ["S4"]
    assert index.match({"attr1": 1, "attr2": -1, "attr3": 0}).work.visited == 3


def test_ranking_follows_operator_and_width_without_events() -> None:
    """Without events: = before ∈ before in before < ; among ranges the narrower one first."""
    rows = {
        f"s{n}": f"a IN ({n}, {n + 100}) AND b = {n} AND c BETWEEN {n} AND {n + 9} AND d < {n}"
        for n in range(80)
    }
    found = Index.build(rows, engine="pstbloom", parameters={"crowd": 0}).match({"b": 7})
    assert found.work.candidates == 1
    for event in ({"a": 7}, {"c": 7}, {"d": -5}):
        assert Index.build(rows, engine="pstbloom", parameters={"crowd": 0}).match(event).work.candidates == 0
    ranges = {f"s{n}": f"a BETWEEN {n} AND {n + 9} AND b BETWEEN {n} AND {n + 4}" for n in range(80)}
    index = Index.build(ranges, engine="pstbloom", parameters={"crowd": 0})
    assert index.match({"a": 40}).work.candidates == 0
    assert index.match({"b": 40}).work.candidates >= 5


def test_ranking_follows_historical_events_when_given() -> None:
    """Events show that the state is always the same, so the range is the better access predicate."""
    rows = {f"s{n}": f"state = 1 AND price BETWEEN {n} AND {n + 9}" for n in range(200)}
    sample = [{"state": 1, "price": n % 250} for n in range(500)]
    event = {"state": 1, "price": 100}
    for engine in ("pstbloom", "psthash"):
        told = Index.build(rows, engine=engine, sample=sample, parameters={"crowd": 0}).match(event)
        untold = Index.build(rows, engine=engine, parameters={"crowd": 0}).match(event)
        assert sorted(told) == sorted(untold) == sorted(f"s{n}" for n in range(91, 101))
        assert told.work.candidates <= 30
    assert Index.build(rows, engine="pstbloom", parameters={"crowd": 0}).match(event).work.candidates == 200


def book(count: int) -> dict[str, str]:
    """Return marketplace searches: one of 50 cities, one of 8 kinds, a range of prices."""
    return {
        f"s{n}": f"city = 'c{n % 50}' AND kind = 'k{n % 8}' AND price BETWEEN {n % 1000} AND {n % 1000 + 50}"
        for n in range(count)
    }


SEARCH = {"city": "c7", "price": 520, "kind": "k3"}


@pytest.mark.kernels
def test_pstbloom_reads_one_leaf_and_signatures_prune() -> None:
    found = Index.build(book(2000), engine="pstbloom", parameters={"crowd": 0}).match(SEARCH)
    assert sorted(found) == sorted(Index.build(book(2000), engine="scan").match(SEARCH))
    assert found.work.candidates == 20  # the different searches in city c7
    assert found.work.verified <= 7  # five of them are for k3


@pytest.mark.kernels
def test_psthash_reads_one_pair_of_leaves() -> None:
    found = Index.build(book(2000), engine="psthash").match(SEARCH)
    assert sorted(found) == sorted(Index.build(book(2000), engine="scan").match(SEARCH))
    assert found.work.visited == 1
    assert 5 <= found.work.candidates <= 20  # c7 and k3, and the rest of that bucket
    assert found.work.verified <= 3


@pytest.mark.kernels
@pytest.mark.parametrize("size", [3, 4])
def test_psthash_skips_combinations_without_clauses(size: int) -> None:
    names = "abcdefgh"
    rows = {
        f"s{n}": " AND ".join(f"{names[(n + k) % 8]} = {(n // 8 + k) % 5}" for k in range(size))
        for n in range(400)
    }
    event = {name: at % 5 for at, name in enumerate(names)}
    found = Index.build(rows, engine="psthash", parameters={"access": size}).match(event)
    assert sorted(found) == sorted(Index.build(rows, engine="scan").match(event))
    assert found.work.visited <= 8  # runs of neighbours, out of 56 or 70 combinations


@pytest.mark.kernels
def test_event_with_very_many_values_costs_no_more_than_a_scan() -> None:
    rows = {f"s{n}": f"a{n} = 1 AND a{n + 1} = 1" for n in range(60)}
    event = {f"a{n}": 1 for n in range(61)}
    found = Index.build(rows, engine="psthash").match(event)
    assert len(found) == 60
    assert found.work.visited == 0
    assert found.work.candidates == 60


@pytest.mark.kernels
def test_range_over_thousands_of_leaves_has_a_handful_of_postings() -> None:
    count = 3000
    rows = {f"s{n}": f"a BETWEEN {n} AND {n + 2 * count}" for n in range(count)}
    for engine, most in (("pstbloom", 5), ("psthash", 5)):
        index = Index.build(rows, engine=engine)
        arena = index._writer.current.layers[0].segment.arena  # type: ignore[attr-defined]
        assert len(arena["engine.posting"]) <= most * count
        assert len(index.match({"a": count})) == count
    pairs = {
        f"s{n}": f"a BETWEEN {n} AND {n + 2 * count} AND b BETWEEN {n} AND {n + count}" for n in range(count)
    }
    index = Index.build(pairs, engine="psthash")
    arena = index._writer.current.layers[0].segment.arena  # type: ignore[attr-defined]
    assert len(arena["engine.posting"]) <= 32 * count
    assert len(index.match({"a": count, "b": count})) == count
