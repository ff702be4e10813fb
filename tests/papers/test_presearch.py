"""Test ``presearch`` against the examples and rules of the paper, and count its evaluations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.workloads import W3
from tamis import Index
from tamis.engines.presearch.layers._kernels import and_rows, emit
from tamis.engines.presearch.layout._kernels import count_pairs, decide_terms, most_gain
from tamis.engines.presearch.layout.calibrate import measured, times
from tamis.engines.presearch.layout.terms import bounds, cover
from tamis.engines.presearch.layout.training import frequent_threshold

pytestmark = pytest.mark.kernels

TIMES = {"time_check": 100, "time_and": 1, "time_avoid": 10}
QUERIES = {
    "1": "graphic tee medium",
    "2": "tissue facial pack eight",
    "3": "Disney world ticket day",
    "4": "tissue graphic wet",
}
DOCUMENT = {"text": "Sarah wants one Disney graphic tee"}


def query(words: str) -> str:
    return " AND ".join(f"text HAS '{word}'" for word in words.split())


def training() -> list[dict[str, str]]:
    """Return documents that give terms the frequencies of the paper's example, rarest first in a query."""
    often = {"disney": 1, "tissue": 1, "graphic": 2, "medium": 4}
    words = dict.fromkeys(" ".join(QUERIES.values()).lower().split(), 3) | often
    return [{"text": " ".join(w for w, times in words.items() if n < times)} for n in range(4)]


def disney(way: int) -> Any:
    book = {name: query(words) for name, words in QUERIES.items()}
    return Index.build(book, engine="presearch", parameters=TIMES | {"way": way}, sample=training())


def test_disney_document_has_two_candidates_and_no_match() -> None:
    """PresearcherQuery {Disney OR graphic}: 1 and 3 are candidates, though 4 asks for graphic, too."""
    found = disney(way=1).match(DOCUMENT)
    assert found == []
    assert found.work.visited == 2
    assert found.work.verified == found.work.candidates == 2


def test_representative_terms_are_those_of_figure_2() -> None:
    """Figure 2: graphic leads to 1, tissue to 2 and 4, Disney to 3."""
    index = disney(way=1)
    candidates = {word: index.match({"text": word}).work.verified for word in ("graphic", "tissue", "disney")}
    assert candidates == {"graphic": 1, "tissue": 2, "disney": 1}
    others = "tee medium facial pack eight world ticket day wet"
    assert index.match({"text": others}).work.visited == 0


def test_second_layer_filters_the_disney_candidates() -> None:
    for way in (2, 3):
        found = disney(way).match(DOCUMENT)
        assert found == []
        assert found.work.verified == 0
        assert found.work.visited == 2
    # There are two representative terms. The document lacks the first extra term of query 3 and the second of
    # query 1.
    assert disney(3).match(DOCUMENT).work.candidates == 2 + 1 + 2
    assert disney(3).match({"text": "a graphic TEE in medium"}) == ["1"]


def test_and_of_bit_arrays_keeps_the_documents_of_figure_10() -> None:
    """lucene AND revolution over ten documents: 2, 6 and 7 stay promising."""
    lucene, revolution = [1, 0, 1, 0, 0, 0, 1, 1, 0, 1], [0, 1, 1, 0, 1, 0, 1, 1, 0, 0]
    rows = [sum(bit << at for at, bit in enumerate(term)) for term in (lucene, revolution)]
    bits, partial = np.array([0, *rows], np.uint64), np.array([rows[0], 0], np.uint64)
    words, hits = np.zeros(1, np.int64), np.empty(64, np.int64)
    left = and_rows(partial, 0, 1, bits, 2, words, 1, 1)
    assert [int(left) >> at & 1 for at in range(10)] == [0, 0, 1, 0, 0, 0, 1, 1, 0, 0]
    assert emit(0, 1, np.ones(1, np.uint8), partial, 1, words, 1, hits, 0) == 3
    assert (hits[:3] >> 34).tolist() == [2, 6, 7]


def test_query_of_figure_10_matches_the_last_document() -> None:
    """Of the promising documents 2, 6 and 7, only the last has all four terms of the query."""
    texts = ["lucene", "revolution", "lucene revolution", "the", "revolution", "conference"]
    texts += ["lucene revolution the", "the lucene revolution conference", "conference the", "lucene"]
    index = Index.build(
        {"q": query("lucene revolution conference the")}, engine="presearch", parameters=TIMES
    )
    batch = next(iter(index.match_batches([{"text": text} for text in texts])))
    assert batch.table.column("event").to_pylist() == [7]


# --------------------------------------------------------------------------- the term collection algorithm
def decided(
    probs: list[float], pairs: list[float] | None = None, *, batch: int = 1, frequent: float = 1.0,
    greedy: bool = False, times: tuple[float, float, float] = (100.0, 1.0, 10.0), decidable: bool = True,
) -> int:  # fmt: skip
    """Return the number of extra terms of a query with these probabilities."""
    extra = np.zeros(1, np.int64)
    decide_terms(
        np.array([0, len(probs)]), np.array(probs), np.array(pairs or [0.0] * len(probs)),
        np.array([decidable]), np.ones(1), np.array(times), batch, frequent, greedy, extra,
    )  # fmt: skip
    return int(extra[0])


def test_cost_function_chooses_the_last_maximum() -> None:
    """The gain is check - i AND - P check (P avoid for the last term); the last maximum wins."""
    probs = np.array([1.0, 0.5, 0.1, 0.09, 0.08])
    # Gains with check 100, AND 1, avoid 10: 49, 88, 88, 95.2
    assert most_gain(probs, 5, 1, True, 100.0, 1.0, 10.0) == 4
    # If evaluation cannot be avoided: 49, 88, 88, 88
    assert most_gain(probs, 5, 1, False, 100.0, 1.0, 10.0) == 4
    # With expensive ANDs: 40, 70, 61, 60 - 0.08 avoid, whatever avoiding costs
    assert most_gain(probs, 5, 1, True, 100.0, 10.0, 50.0) == 2
    # Nothing pays if an AND costs as much as an evaluation.
    assert most_gain(probs, 5, 1, True, 100.0, 200.0, 10.0) == 0


def test_one_more_term_pays_if_it_removes_more_than_an_and_costs() -> None:
    assert decided([0.5, 0.1, 0.5, 0.5, 0.5], times=(100.0, 4.0, 100.0)) == 2  # 0.05 x 100 > 4 > 0.025 x 100
    assert decided([0.5, 0.1, 0.5, 0.5, 0.5], times=(100.0, 2.0, 100.0)) == 3


def test_short_queries_index_all_their_terms() -> None:
    assert decided([0.5]) == 0
    assert decided([0.5, 0.01]) == 1


def test_pairs_in_the_matrix_replace_probabilities() -> None:
    """Independent terms promise to filter at once; the matrix knows that the second comes with the first."""
    dear = (100.0, 9.0, 100.0)
    assert decided([0.3, 0.05, 0.5, 0.5], times=dear) == 1
    assert decided([0.3, 0.05, 0.5, 0.5], [0.0, 0.29, 0.0, 0.0], times=dear) == 2


def test_common_queries_index_all_terms() -> None:
    """If every step is frequent, by pair or by term, all terms are indexed, however expensive ANDs are."""
    dear = (100.0, 60.0, 100.0)
    assert decided([0.5, 0.6, 0.7, 0.8], times=dear) == 0
    assert decided([0.5, 0.6, 0.7, 0.8], times=dear, frequent=0.55) == 3
    assert decided([0.5, 0.6, 0.5, 0.8], times=dear, frequent=0.55) == 0
    assert decided([0.5, 0.6, 0.5, 0.8], [0.0, 0.0, 0.4, 0.0], times=dear, frequent=0.55) == 3
    assert decided([0.5, 0.6, 0.7, 0.8], times=dear, frequent=0.55, decidable=False) == 0


def test_greedy_threshold_stops_below_one_promising_document() -> None:
    """Terms are collected until a batch is expected to hold less than one promising document."""
    probs, dear = [0.1, 0.01, 0.01, 0.1, 0.5], (100.0, 5.0, 100.0)
    assert decided(probs, times=dear) == 1
    # P: 1e-2, 1e-4, 1e-5; expected in 100 documents: 63, 0.995, 0.1
    assert decided(probs, times=dear, batch=100, greedy=True) == 2
    assert decided(probs, times=dear, batch=200, greedy=True) == 3
    assert decided(probs, times=dear, batch=4_000, greedy=True) == 4, "never rare enough: the whole query"


def test_frequent_terms_are_the_top_of_all_distinct_ones() -> None:
    share, place = np.arange(1000) / 1000, np.arange(1000)
    assert frequent_threshold(share, place, 0.0067) == 0.993
    assert frequent_threshold(np.repeat(share, 3), np.repeat(place, 3), 0.0067) == 0.993
    assert frequent_threshold(share, place, 1.0) == 0.0


def test_times_are_measured_unless_given() -> None:
    assert times(3.0, 2.0, 1.0, 64) == (3.0, 2.0, 1.0)
    assert times(3.0, 0.0, 1.0, 64) == (3.0, measured(1).one_and, 1.0)
    assert min(measured(1)) > 0.0


def test_ranges_find_a_block_at_most_four_times_as_wide() -> None:
    lo, hi = (column.ravel() for column in np.meshgrid(np.arange(1, 70), np.arange(1, 70)))
    lo, hi = lo[lo <= hi], hi[lo <= hi]
    level, block = cover(lo, hi)
    first, last = bounds(level, block, np.full(len(lo), 1 << 20))
    assert np.all((first <= lo) & (hi <= last))
    assert np.all(1 << level <= np.maximum(4 * (hi - lo + 1) - 4, 1))


def test_hits_beyond_the_first_buffer_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis.engines.presearch import buffers

    monkeypatch.setattr(buffers, "FIRST_HITS", 64)
    book = {"two": query("wool coat"), "one": query("wool")} | {
        f"s{n}": query(f"coat w{n}") for n in range(9)
    }
    index = Index.build(book, engine="presearch", parameters=TIMES)
    batch = next(iter(index.match_batches([{"text": "wool coat"}] * 200, threads=1)))
    assert batch.table.num_rows == 400
    assert batch.work.visited == index.match({"text": "wool coat"}).work.visited, "work of a second try"


def test_every_way_finds_the_same_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The book is small; test_presearch_work.py asserts the evaluations of each way on a larger one."""
    from tamis.engines.presearch import buffers

    monkeypatch.setattr(buffers, "FIRST_HITS", 4)
    texts = W3(vocabulary=2_000, topics=4, topic_words=100, query_shift=20, topic_shift=20)
    book, events, found = texts.subscriptions(150, 1), texts.events(70, 3), []
    for way in range(4):
        index = Index.build(book, engine="presearch", parameters=TIMES | {"way": way}, sample=events)
        batch = next(iter(index.match_batches(events, threads=1)))
        found.append(sorted(batch.table.to_pylist(), key=str))
    assert len(found[0]) > 10
    assert found[0] == found[1] == found[2] == found[3]


def test_documents_with_both_terms_are_counted() -> None:
    """Three words hold 64 documents each; a place without a row (slot 0) has no documents."""
    bits = np.random.default_rng(1).integers(0, 1 << 63, (4, 3), np.uint64)
    slot = np.array([1, 0, 3, 2], np.uint32)
    one, two = np.array([0, 0, 2, 1]), np.array([2, 1, 3, 1])
    together = np.array([7, 7, 7, 7])
    count_pairs(one, two, slot, bits.ravel(), 3, together)
    both = [sum(int(word).bit_count() for word in bits[a] & bits[b]) for a, b in ((1, 3), (3, 2))]
    assert together.tolist() == [7 + both[0], 7, 7 + both[1], 7]
