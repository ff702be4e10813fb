"""Test OpIndex, section 6.2: prefixes in a trie, as a structure of its own below the pivot."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Interval
from tamis.engines.arena import pack
from tamis.engines.opindex import OpIndex
from tamis.engines.opindex.structures._kernels import LAST, UP
from tamis.engines.units import Statistics
from tamis.errors import EngineParameter, IndexCorrupt
from tamis.segment.build import flat
from tamis.space.space import NEGATIVE
from tests.engines import per_engine
from tests.kernels.arrays import Clause, Entry, Literal, as_clauses, as_located, holds, pairs_of

pytestmark = pytest.mark.kernels

A, B = range(2)
CELLS = 40


class Node(NamedTuple):
    """A predicate in a trie: its range, and the range around it."""

    first: int
    last: int
    around: tuple[int, int] | None


class Built(NamedTuple):
    """An engine with its arrays, and the clause of the book for each clause of the engine."""

    engine: OpIndex
    arrays: dict[str, Any]
    owner: Any

    def found(self, *event: tuple[int, int, int]) -> tuple[set[int], int, int]:
        """Return the clauses that match an event of (dimension, lo, hi), and the work: probed, verified."""
        found = self.engine.candidates(as_located([[Entry(*entry) for entry in event]]))
        return {int(self.owner[c]) for c in found.clause}, found.probed, found.verified

    def nodes(self) -> list[Node]:
        """Return the predicates of all tries, in the order of their lists."""
        columns, bits = self.arrays["trie"].astype(int), int(self.arrays["layout"][0])
        keys = self.arrays["record"][len(self.arrays["record"]) - len(columns) :].astype(int) >> bits
        base = self.arrays["cell_base"].astype(int)
        first = keys - base[np.searchsorted(base, keys, side="right") - 1]
        spans = [(int(low), int(high)) for low, high in zip(first, columns[:, LAST], strict=True)]
        ways = columns[:, UP].tolist()
        return [Node(*spans[at], spans[at - up] if up else None) for at, up in enumerate(ways)]


def attached(arranged: Any, arrays: dict[str, Any]) -> OpIndex:
    return OpIndex(pack(flat("clauses.", arranged) | {f"engine.{name}": a for name, a in arrays.items()}))


def built(book: list[Clause], cells: list[int], trie: int = 1, **parameters: int) -> Built:
    clauses = as_clauses(book, cells)
    arranged, arrays = OpIndex.build(clauses, Statistics(clauses), parameters | {"trie": trie})
    engine = attached(arranged, arrays)
    engine.check()
    return Built(engine, arrays, arranged.owner)


def ranged(*spans: tuple[int, int], dimension: int = A) -> list[Clause]:
    """Return a clause for each range."""
    return [[Literal(dimension, 0, [span])] for span in spans]


def test_trie_of_three_prefixes_leads_from_abc_to_ab() -> None:
    """'A#ab' is cells 5 to 9, 'A#abc' 6 to 8, and 'A#b' 12 to 20. Inside 'A#abc', 'A#abcd' is cell 7."""
    index = built([*ranged((5, 9), (6, 8), (12, 20)), [Literal(A, 0, [(7, 7)])]], [CELLS])
    assert index.nodes() == [Node(5, 9, None), Node(6, 8, (5, 9)), Node(12, 20, None)]
    assert index.arrays["needed"].tolist() == [1] * 4
    assert index.found((A, 5, 5)) == ({0}, 1, 0)
    assert index.found((A, 6, 6)) == ({0, 1}, 2, 0)
    assert index.found((A, 7, 7)) == ({0, 1, 3}, 3, 0), "'A#abcd' is one cell, so it stands in the list of ="
    assert index.found((A, 9, 9)) == ({0}, 1, 0), "behind 'A#abc', the way up finds 'A#ab'"
    assert index.found((A, 10, 10)) == (set(), 0, 0)
    assert index.found((A, 20, 20)) == ({2}, 1, 0)


def test_equal_ranges_are_one_node() -> None:
    """Six clauses ask for two ranges. A cell outside the inner one passes its four predicates in one step."""
    book = [
        [*clause, Literal(B, 0, [(n + 1, n + 1)])]
        for n, clause in enumerate(ranged(*[(5, 9)] * 2, *[(6, 8)] * 4))
    ]
    index = built(book, [CELLS] * 2)
    assert index.nodes() == [Node(5, 9, None)] * 2 + [Node(6, 8, (5, 9))] * 4
    assert index.arrays["trie"][:, UP].tolist() == [0, 0, 1, 2, 3, 4]
    assert index.found((A, 7, 7), (B, 1, 1))[:2] == ({0}, 7)
    assert index.found((A, 9, 9), (B, 2, 2))[:2] == ({1}, 3)


def test_ranges_that_cross_are_counted_as_two_halves() -> None:
    index = built(ranged((5, 9), (8, 12), (10, 12), (6, 7)), [CELLS])
    assert index.nodes() == [Node(5, 9, None), Node(6, 7, (5, 9)), Node(10, 12, None)]
    assert sorted(index.arrays["needed"].tolist()) == [1, 1, 1, 2]
    assert index.found((A, 8, 8)) == ({0, 1}, 3, 0)
    assert index.found((A, 11, 11)) == ({1, 2}, 3, 0)
    assert index.found((A, 5, 5)) == ({0}, 2, 0), "cell 5 meets the <= of (8, 12)"


def test_few_ranges_stay_halves() -> None:
    """By default a trie needs eight nested ranges of a pivot and a dimension, without those that cross."""
    spans = [(2, 30), *((n, n + 1) for n in range(3, 15, 2)), (29, 31)]
    assert not built(ranged(*spans), [CELLS], trie=8).nodes()
    assert len(built(ranged(*spans), [CELLS], trie=7).nodes()) == 7
    assert len(built(ranged(*spans, (20, 21)), [CELLS], trie=8).nodes()) == 8
    assert OpIndex.parameters["trie"].default == 8


def test_ranges_stay_halves_when_most_of_them_cross() -> None:
    chain = [(n, n + 6) for n in range(2, 9)]
    assert not built(ranged(*chain), [CELLS]).nodes()
    assert len(built(ranged(*chain, *[(20 + n, 30 - n) for n in range(4)]), [CELLS]).nodes()) == 0
    assert len(built(ranged(*chain, *[(20 + n, 32 - n) for n in range(5)]), [CELLS]).nodes()) == 6


def test_least_size_of_a_trie_counts_for_each_dimension() -> None:
    book = [*ranged((5, 9), (6, 8)), *ranged((5, 9), (6, 8), (7, 8), dimension=B)]
    assert len(built(book, [CELLS] * 2, trie=3).nodes()) == 3


def test_tries_of_different_pivots_and_dimensions_are_separate() -> None:
    """Ranges of A and B cross in cells, as do those under different pivots. All of them join a trie."""
    book: list[Clause] = [
        [Literal(0, 0, [(5, 9)]), Literal(1, 0, [(8, 12)])],
        [Literal(0, 0, [(8, 12)]), Literal(2, 0, [(5, 9)])],
        *[[Literal(0, 0, [(1, 1)])]] * 3,
    ]
    index = built(book, [CELLS] * 3, segment_bits=0)
    assert len(index.nodes()) == 4
    assert index.found((0, 9, 9), (1, 8, 8), (2, 5, 5)) == ({0, 1}, 4, 0)


def test_pivot_without_any_sorted_list_is_found() -> None:
    index = built(ranged((5, 9), (6, 8)), [CELLS])
    assert int(index.arrays["directory_start"][-1]) == 0
    assert index.found((A, 6, 6)) == ({0, 1}, 2, 0)


def test_one_sided_ranges_and_sets_stay_in_the_sorted_lists() -> None:
    book: list[Clause] = [
        *ranged((1, 7), (7, CELLS)),
        [Literal(A, 0, [(2, 3), (5, 6)])],
        [Literal(A, NEGATIVE, [(2, 3)])],
    ]
    index = built(book, [CELLS])
    assert not index.nodes()
    assert index.found((A, 7, 7))[0] == {0, 1, 3}


def test_interval_meets_every_range_that_it_touches() -> None:
    """Cells 8 to 12 touch three ranges; the clauses found are checked, because cells are an upper bound."""
    index = built(ranged((2, 6), (5, 6), (7, 9), (11, 20), (12, 13), (14, 15)), [CELLS])
    assert index.found((A, 8, 12)) == ({2, 3, 4}, 3, 3)
    assert index.found((A, 1, CELLS)) == (set(range(6)), 6, 6)
    assert index.found((A, 10, 10)) == (set(), 0, 0)


def test_several_values_find_the_ranges_of_each() -> None:
    """Values 3 and 12 are searched as 3 to 12. The check rejects the range between them."""
    index = built(ranged((2, 6), (7, 9), (11, 20)), [CELLS])
    assert index.found((A, 3, 3), (A, 12, 12)) == ({0, 2}, 3, 3)


@pytest.mark.parametrize(
    "parameters", [{}, {"optimised": 0}, {"segment_bits": 8, "fill": 0}, {"trie": 0}], ids=str
)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "general"])
def test_tries_agree_with_the_twin(parameters: dict[str, int], plain: bool) -> None:
    for seed in range(20):
        chance = random.Random(seed)
        cells = [chance.choice([6, 30, 300]) for _ in range(chance.randint(1, 4))]
        book = [_nested_clause(chance, cells) for _ in range(chance.randint(1, 40))]
        batch = [_event(chance, cells, plain) for _ in range(12)]
        index = built(book, cells, **parameters)
        expected = {
            (row, at) for row, event in enumerate(batch) for at, each in enumerate(book) if holds(each, event)
        }
        assert pairs_of(index.engine, index.owner, as_located(batch)) == expected


def _nested_clause(chance: random.Random, cells: list[int]) -> Clause:
    """Return one to three ranges: halves of halves of a dimension, which are nested, and some that cross."""
    clause = []
    for dimension in sorted(chance.choices(range(len(cells)), k=chance.randint(1, 3))):
        low, high = 1, cells[dimension]
        for _ in range(chance.randint(1, 6)):
            middle = (low + high) // 2
            low, high = chance.choice([(low, middle), (min(middle + 1, high), high)])
        if chance.random() < 0.1:
            low, high = max(1, low - 1), min(cells[dimension], high + chance.randint(0, 3))
        clause.append(Literal(dimension, chance.choice([0, 0, 0, 0, NEGATIVE]), [(low, high)]))
    return clause


def _event(chance: random.Random, cells: list[int], plain: bool) -> list[Entry]:
    event = []
    for dimension in chance.sample(range(len(cells)), chance.randint(1, len(cells))):
        for _ in range(1 if plain else chance.randint(1, 3)):
            low = chance.randint(1, cells[dimension])
            high = (
                low if plain or chance.random() < 0.5 else min(low + chance.randint(0, 9), cells[dimension])
            )
            event.append(Entry(dimension, low, high))
    return event


# -- the work ------------------------------------------------------------------------------------------


def prefixes(count: int) -> dict[str, str]:
    """Return subscriptions of two prefixes each, of one to four letters, on two attributes."""
    chance = random.Random(7)

    def prefix() -> str:
        return "".join(chance.choice("abc") for _ in range(chance.randint(1, 4)))

    return {f"s{n}": f"name LIKE '{prefix()}%' AND place LIKE '{prefix()}%'" for n in range(count)}


def test_prefixes_are_counted_only_if_they_hold() -> None:
    rows = prefixes(400)
    with_trie, halves, scan = (
        Index.build(rows, engine=engine, parameters=parameters)
        for engine, parameters in (("opindex", {"trie": 1}), ("opindex", {"trie": 0}), ("scan", {}))
    )
    chance = random.Random(8)
    for _ in range(20):
        name, place = ("".join(chance.choice("abc") for _ in range(5)) for _ in range(2))
        event = {"name": name, "place": place}
        hold = sum(
            value.startswith(text.split(f"{attribute} LIKE '")[1].split("%")[0])
            for text in {*rows.values()}
            for attribute, value in event.items()
        )
        found = with_trie.match(event)
        assert sorted(found) == sorted(halves.match(event)) == sorted(scan.match(event))
        assert (found.work.candidates, found.work.verified) == (hold, 0)
        assert halves.match(event).work.candidates > 4 * hold


def test_address_blocks_are_counted_only_if_they_hold() -> None:
    blocks = [
        "10.0.0.0/8",
        "10.1.0.0/16",
        "10.1.2.0/24",
        "10.1.2.4/32",
        "10.9.0.0/16",
        "10.9.1.0/24",
        "11.0.0.0/8",
    ]
    rows = {block: f"ip IN CIDR ('{block}')" for block in blocks}
    index = Index.build(rows, engine="opindex", parameters={"trie": 1})
    for address in ("10.1.2.3", "10.1.2.4", "10.1.9.9", "10.9.1.1", "11.1.1.1", "9.9.9.9"):
        found = index.match({"ip": address})
        assert set(found) == {
            block for block in blocks if ipaddress.ip_address(address) in ipaddress.ip_network(block)
        }
        assert found.work.candidates == len(found)


@pytest.mark.parametrize("value", [-1, 2**20 + 1, 0.5, True])
def test_least_size_of_a_trie_out_of_range_is_refused(value: Any) -> None:
    with pytest.raises(EngineParameter, match="trie must lie between 0 and 1048576"):
        Index.build({"s": "a = 1"}, engine="opindex", parameters={"trie": value})


# -- the duel ------------------------------------------------------------------------------------------

WORDS = ["", "a", "ab", "abc", "abcd", "abd", "b", "ba", "bab", "c"]
BLOCKS = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3", "10.2.0.0/16", "0.0.0.0/0", "fc00::/7"]
ADDRESSES = ["10.1.2.3", "10.1.2.9", "10.1.7.7", "10.2.0.1", "10.3.3.3", "11.0.0.1", "fc00::1"]
words, numbers = st.sampled_from(WORDS), st.integers(0, 12)
pairs_of_words, pairs_of_numbers = (
    st.tuples(each, each).map(lambda pair: tuple(sorted(pair))) for each in (words, numbers)
)
predicates = st.one_of(
    words.map(lambda word: f"s LIKE '{word}%'"),
    words.map(lambda word: f"t LIKE '%{word}'"),
    pairs_of_words.map(lambda pair: f"s BETWEEN '{pair[0]}' AND '{pair[1]}'"),
    pairs_of_numbers.map(lambda pair: f"n BETWEEN {pair[0]} AND {pair[1]}"),
    st.sampled_from(BLOCKS).map(lambda block: f"ip IN CIDR ('{block}')"),
    st.lists(st.sampled_from(BLOCKS), min_size=2, max_size=3).map(
        lambda blocks: "ip IN CIDR (" + ", ".join(f"'{block}'" for block in blocks) + ")"
    ),
    numbers.map(lambda number: f"n = {number}"),
)
literals = st.tuples(st.sampled_from(["", "", "", "NOT "]), predicates).map("".join)
conjunctions = st.lists(literals, min_size=1, max_size=4).map(" AND ".join)
expressions = st.lists(conjunctions, min_size=1, max_size=2).map(
    lambda parts: " OR ".join(f"({part})" for part in parts)
)


def _values(scalars: st.SearchStrategy[Any], ends: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        scalars, st.lists(scalars, min_size=2, max_size=3), ends.map(lambda pair: Interval(*pair))
    )


batches = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "s": _values(words, pairs_of_words) | numbers,
            "t": _values(words, pairs_of_words),
            "n": _values(numbers, pairs_of_numbers) | words,
            "ip": st.sampled_from(ADDRESSES) | st.lists(st.sampled_from(ADDRESSES), min_size=2, max_size=3),
        },
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.compiled
@per_engine
@given(st.lists(expressions, min_size=1, max_size=25), batches)
def test_tries_agree_with_scan(book: list[str], batch: list[dict[str, Any]]) -> None:
    rows = {f"s{n}": text for n, text in enumerate(book)}
    scan = Index.build(rows, engine="scan")
    for parameters in ({"trie": 1}, {"trie": 1, "optimised": 0}, {"trie": 3}, {"trie": 0}):
        index = Index.build(rows, engine="opindex", parameters=parameters)
        index.check()
        for event in batch:
            assert sorted(index.match(event)) == sorted(scan.match(event)), (parameters, event)


# -- damage --------------------------------------------------------------------------------------------


def _set(name: str, at: Any, value: int) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays[name][at] = value

    return change


def _shorter(arrays: dict[str, Any]) -> None:
    arrays["trie"] = arrays["trie"][:-1]


def _longer(arrays: dict[str, Any]) -> None:
    arrays["trie"] = np.repeat(arrays["trie"], 2, axis=0)


def _flagless(arrays: dict[str, Any]) -> None:
    arrays["has_trie"] = arrays["has_trie"][:-1]


DAMAGE: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    "a way out of the list": ("leads out of its list", _set("trie", (1, UP), 2)),
    "a way far out": ("leads out of its list", _set("trie", (2, UP), 2**32 - 1)),
    "a way to a neighbour": ("does not enclose", _set("trie", (2, UP), 1)),
    "a range behind the last cell": ("leaves its dimension", _set("trie", (0, LAST), CELLS + 1)),
    "a range that ends before it begins": ("leaves its dimension", _set("trie", (0, LAST), 4)),
    "a range in no dimension": ("names something that is not there", _set("record", -1, 2**31)),
    "a row too few": ("do not fit their lists", _shorter),
    "rows too many": ("do not fit their lists", _longer),
    "a flag too few": ("has the wrong length", _flagless),
    "a dimension without a mark": ("are not marked", _set("has_trie", 0, 0)),
    "segments out of order": ("not an increasing list", _set("trie_directory_start", 0, 1)),
    "segments that are not there": ("not an increasing list", _set("trie_directory_start", -1, 8)),
    "segments that are no power of two": ("no power of two", _set("trie_directory_start", -1, 3)),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_trie_is_refused(case: str) -> None:
    book = ranged((5, 9), (6, 8), (12, 20))
    clauses = as_clauses(book, [CELLS])
    arranged, arrays = OpIndex.build(clauses, Statistics(clauses), {"segment_bits": 0, "trie": 1})
    message, change = DAMAGE[case]
    change(arrays)
    with pytest.raises(IndexCorrupt, match=message):
        attached(arranged, arrays).check()
