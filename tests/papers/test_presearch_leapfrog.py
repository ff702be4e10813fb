"""Test the leapfrog of ``presearch``: the thesis' example, plain intersections, duels with the evaluator."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.leapfrog import rows
from bench.workloads.w3 import W3
from tamis import Index, Interval
from tamis.engines.presearch.layout.terms import HEAD
from tamis.engines.presearch.leapfrog._kernels import add_lists, advance, ask_terms, invert_lists, leapfrog
from tamis.errors import IndexCorrupt
from tamis.expression.predicates import Between, Compare, Exists, In, Text
from tamis.expression.tree import And, Expr, Not, Or
from tamis.values.event import event_from
from tests.duel.expected import Referee, named, pairs_of
from tests.engines import per_layout
from tests.forged.mutator import rewrite
from tests.papers.test_presearch import TIMES, query

pytestmark = pytest.mark.kernels

NEVER = 0xFFFFFFFF
# The thesis prints the documents 18, 22 and 31 of figures 3 to 8; the others lie between and around them.
POSTINGS = {
    "lucene": [18, 20, 21, 31],
    "revolution": [4, 9, 22, 31, 40],
    "conference": [1, 18, 20, 29, 31, 44],
    "the": [n for n in range(50) if n % 10 != 7],
}


def packed(*lists: list[int]) -> tuple[Any, Any, int]:
    """Return posting lists with room behind them, the bounds of each, and where the room begins."""
    ends = np.cumsum([len(one) for one in lists])
    bounds = np.stack([ends - [len(one) for one in lists], ends], axis=1).reshape(-1)
    flat = [document for one in lists for document in one]
    return np.array(flat + [0] * len(lists[0]), np.uint16), bounds.astype(np.int64), len(flat)


def common(*lists: list[int]) -> tuple[list[int], int, int]:
    """Return the documents that leapfrog finds in all lists, the stops of the lead, and the steps."""
    posts, bounds, out = packed(*lists)
    found, stops, steps = leapfrog(posts, bounds, len(lists), out)
    return posts[out : out + found].tolist(), stops, steps


def text_of(document: int) -> str:
    return " ".join(word for word, documents in POSTINGS.items() if document in documents)


# ------------------------------------------------------------------------------------- figures 3 to 8
def test_advance_takes_the_steps_of_the_figures() -> None:
    lucene, revolution = (np.array(POSTINGS[word], np.uint16) for word in ("lucene", "revolution"))
    first = advance(lucene, 0, len(lucene), 0)
    assert lucene[first] == 18
    second = advance(revolution, 0, len(revolution), 18)
    assert revolution[second] == 22, "figure 4"
    first = advance(lucene, first, len(lucene), 22)
    assert lucene[first] == 31, "figure 5"
    assert revolution[advance(revolution, second, len(revolution), 31)] == 31, "figure 6"
    assert advance(lucene, first, len(lucene), 32) == len(lucene), "figure 8: NoMoreDocs"


def test_leapfrog_finds_the_match_of_figure_7_in_seven_steps() -> None:
    """The lead stops at 18 and 31; it skips 20 and 21, which a scan of its documents would look at."""
    assert common(*POSTINGS.values()) == ([31], 2, 7)


def test_work_report_counts_the_steps_and_stops_of_the_figures() -> None:
    """A scan of the candidate's documents evaluates all four documents with the term lucene."""
    documents = [{"text": text_of(n)} for n in range(50)]
    book = {"q": query("lucene revolution conference the")}
    works = []
    for leaps in (0, 1):
        parameters = TIMES | {"way": 1, "leapfrog": leaps}
        index = Index.build(book, engine="presearch", parameters=parameters, sample=documents)
        batch = next(iter(index.match_batches(documents, threads=1)))
        assert batch.table.column("event").to_pylist() == [31]
        works.append(batch.work)
    scan, leap = works
    assert (scan.verified, scan.candidates, scan.visited) == (4, 4, 4)
    assert (leap.verified, leap.candidates, leap.visited) == (2, 1 + 7, 1)


# ---------------------------------------------------------------------------------------- the kernels
sorted_lists = st.lists(st.integers(0, 90), unique=True, max_size=60).map(sorted)


@given(sorted_lists, st.integers(0, 60), st.integers(0, 95))
def test_advance_returns_the_first_place_not_below(documents: list[int], at: int, wanted: int) -> None:
    at = min(at, len(documents))
    expected = next((n for n in range(at, len(documents)) if documents[n] >= wanted), len(documents))
    assert advance(np.array(documents, np.uint16), at, len(documents), wanted) == expected


@given(st.lists(sorted_lists, min_size=1, max_size=5))
def test_leapfrog_intersects_lists(lists: list[list[int]]) -> None:
    lists = sorted(lists, key=len)
    found, stops, steps = common(*lists)
    assert found == sorted(set.intersection(*map(set, lists)))
    assert len(found) <= stops <= len(lists[0])
    assert 1 + stops <= steps + 1 <= 2 + (1 + len(lists)) * stops


def test_lists_of_a_clause_are_sorted_by_documents_of_the_batch() -> None:
    """Terms of the path are left out, other conditions reported; a term that the batch lacks ends it."""
    # Dimension d has the places 2d and 2d + 1. Its word is cell 1.
    heads = np.array([[1, 0, 2 * d, d] for d in range(6)], np.uint32).reshape(-1)
    levels = np.array([[0, 2 * d] for d in range(6)], np.uint32).reshape(-1)
    words = [[d, 0, 1, 1] for d in range(6)]
    clauses = [words[0:4], [*words[0:2], [5, 1, 1, 1]], [words[0], words[5]]]
    literal = np.array([one for clause in clauses for one in clause], np.uint16).reshape(-1)
    start = np.cumsum([0, *map(len, clauses)]).astype(np.uint32)
    slot = np.full(12, NEVER, np.uint32)
    ask_terms(literal, heads, slot)
    assert np.flatnonzero(slot == 0).tolist() == [1, 3, 5, 7, 11], "no clause has the word of dimension 4"
    batch = [[0, 1], [0, 1, 3], [1, 4], [0, 1, 2, 3], [1, 2, 3]]
    entries = [d for document in batch for d in document]
    ends, first, posts = np.zeros(7, np.int64), np.zeros(9, np.int64), np.zeros(40, np.uint16)
    row_place, ones = np.zeros(7, np.int64), np.ones(len(entries), np.int64)
    count = invert_lists(
        0, 5, np.cumsum([0, *map(len, batch)]), np.array(entries), ones, np.zeros(5, np.uint8), heads, levels,
        slot, row_place, np.zeros(0, np.uint64), np.zeros(8, np.int64), np.zeros(40, np.uint32), ends, first,
        posts,
    )  # fmt: skip
    held = {int(row_place[r]) // 2: posts[first[r] : first[r + 1]].tolist() for r in range(1, count)}
    assert held == {0: [0, 1, 3], 1: [0, 1, 2, 3, 4], 2: [3, 4], 3: [1, 3, 4]}
    lists, root = np.zeros(10, np.int64), int(slot[1])
    path = np.array([root, first[root], first[root + 1]])

    def added(c: int) -> tuple[list[list[int]], bool]:
        lists[0], lists[1] = path[1], path[2]
        number, rest = add_lists(c, start, literal, heads, slot, first, path, 0, lists)
        return [posts[lists[2 * n] : lists[2 * n + 1]].tolist() for n in range(number)], rest

    assert added(0) == ([[3, 4], [0, 1, 3], [1, 3, 4], [0, 1, 2, 3, 4]], False)
    assert added(1) == ([[0, 1, 3], [0, 1, 2, 3, 4]], True)
    assert added(2) == ([], False)
    assert len(heads) == 6 * HEAD


# ------------------------------------------------------------------------------------------ the duels
WORDS = ("wool", "coat", "red", "tee", "day")
NUMBERS = st.integers(0, 6)


@st.composite
def conditions(draw: st.DrawFn) -> Expr:
    """Draw mostly words and single values, sometimes a range, a set, presence or a negation."""
    kind, name, low = draw(st.integers(0, 9)), draw(st.sampled_from("ab")), draw(NUMBERS)
    if kind < 4:
        return Text("text", "all", (draw(st.sampled_from(WORDS)),))
    if kind < 6:
        return Compare(name, draw(st.sampled_from(["=", "=", "!="])), low)
    if kind == 6:
        return Between(name, low, low + draw(NUMBERS), negated=draw(st.booleans()))
    if kind == 7:
        return In(name, tuple(draw(st.lists(NUMBERS, min_size=1, max_size=3))))
    if kind == 8:
        return Exists(name)
    return Not(draw(st.sampled_from([Compare(name, "=", low), Text("text", "all", (WORDS[low % 5],))])))


groups = st.lists(conditions(), min_size=1, max_size=5)
expressions = groups.map(lambda some: And(tuple(some)) if some[1:] else some[0])
expressions |= groups.map(lambda some: Or(tuple(some)) if some[1:] else some[0])
texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
intervals = st.tuples(NUMBERS, NUMBERS).map(lambda ends: Interval(min(ends), max(ends)))
numbers: st.SearchStrategy[Any] = NUMBERS | NUMBERS | st.lists(NUMBERS, min_size=2, max_size=3) | intervals
events = st.fixed_dictionaries({}, optional={"text": texts, "a": numbers, "b": numbers})
WAYS = [
    {"way": 0, "batch": 4},
    {"way": 1},
    {"way": 2, "batch": 3, **TIMES},
    {"way": 2, "time_check": 1, "time_and": 1000, "time_avoid": 1, "greedy": 0, "frequent": 0},
    {"way": 3, "batch": 64},
]


@per_layout
@given(st.lists(expressions, min_size=1, max_size=20), st.lists(events, min_size=1, max_size=10))
def test_leapfrog_agrees_with_the_tree(book: list[Expr], batch: list[dict[str, Any]]) -> None:
    referee = Referee(book, [event_from(event) for event in batch])
    for way in WAYS:
        parameters = way | {"leapfrog": 1}
        index = Index.build(named(book), engine="presearch", parameters=parameters, sample=batch)
        index.check()
        referee.assert_same(pairs_of(index.match_many(batch)), str(parameters))


@pytest.mark.parametrize("way", range(4))
def test_hits_of_lists_beyond_the_first_buffer_are_found(way: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.engines.presearch import buffers

    monkeypatch.setattr(buffers, "FIRST_HITS", 4)
    chance = random.Random(way)
    book = {f"s{n}": query(" ".join(chance.sample(WORDS, 1 + n % 3))) for n in range(30)}
    batch = [{"text": " ".join(chance.sample(WORDS, 4))} for _ in range(90)]
    expected = Index.build(book, engine="scan").match_many(batch)
    parameters = TIMES | {"way": way, "leapfrog": 1, "batch": 40}
    index = Index.build(book, engine="presearch", parameters=parameters, sample=batch)
    assert sorted(pairs_of(index.match_many(batch))) == sorted(pairs_of(expected))
    # A second call finds buffers for longer documents, too.
    longer = [{"text": " ".join(WORDS)}] * 90
    assert len(pairs_of(index.match_many(longer))) == 90 * 30


@pytest.mark.compiled
def test_measurement_of_leapfrog_covers_every_way_asked_for() -> None:
    small = W3(vocabulary=2_000, topics=4, topic_words=100, query_shift=20, topic_shift=20, longest=90)
    found = rows(small, queries=60, documents=20, batch=8, ways=(1,), rounds=1)
    assert [row.name for row in found] == ["hybrid", "way 1, leapfrog 0", "way 1, leapfrog 1"]
    assert 0 < found[2].verified <= found[1].verified


def test_file_without_the_field_leapfrog_is_read(tmp_path: Path) -> None:
    """Files of earlier versions have a layout of two fields."""
    book = {"coat": query("wool coat"), "tee": query("red tee")}
    Index.build(book, engine="presearch", parameters=TIMES).save(tmp_path / "index")
    segment = next((tmp_path / "index").glob("segment-*"))

    def shorten(arrays: dict[str, Any]) -> None:
        arrays["engine.layout"] = arrays["engine.layout"][:2]

    rewrite(segment, shorten)
    index = Index.open(tmp_path / "index", verify=True)
    index.check()
    assert list(index.match({"text": "a wool coat"})) == ["coat"]


@pytest.mark.parametrize("layout", [[1], [8, 1, 2], [8, 1, 0, 0], [8, 4, 1], [0, 1, 1]])
def test_file_with_an_impossible_layout_is_refused(layout: list[int], tmp_path: Path) -> None:
    Index.build({"coat": query("wool coat")}, engine="presearch", parameters=TIMES).save(tmp_path / "index")
    segment = next((tmp_path / "index").glob("segment-*"))

    def forge(arrays: dict[str, Any]) -> None:
        arrays["engine.layout"] = np.array(layout, np.uint32)

    rewrite(segment, forge)
    with pytest.raises(IndexCorrupt, match="layout"):
        Index.open(tmp_path / "index")
