"""Count the evaluations that pre-search and leapfrog leave on a larger workload; only compiled."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from bench.workloads.w3 import W3
from tamis import Index
from tests.papers.test_presearch import TIMES

SMALL = W3(vocabulary=20_000, topics=40, topic_words=400, query_shift=20, topic_shift=20)
BOOK, DOCUMENTS = 8_000, 256


@cache
def material() -> tuple[Any, Any, Any]:
    """Return the subscriptions, the sample and the documents."""
    return SMALL.subscriptions(BOOK, 1), SMALL.events(512, 2), SMALL.events(DOCUMENTS, 3)


@cache
def text_work(**parameters: int) -> Any:
    book, sample, documents = material()
    index = Index.build(book, engine="presearch", parameters=TIMES | parameters, sample=sample)
    return next(iter(index.match_batches(documents, threads=1)))


@pytest.mark.slow
def test_presearch_evaluates_few_candidates_of_plain_luwak() -> None:
    luwak, once, presearch, whole = (text_work(way=way) for way in range(4))
    pairs = [sorted(batch.table.to_pylist(), key=str) for batch in (luwak, once, presearch, whole)]
    assert pairs[0] == pairs[1] == pairs[2] == pairs[3]
    assert once.work.verified < 0.8 * luwak.work.verified, "duplicates are evaluated once"
    assert once.work.verified == once.work.candidates
    assert presearch.work.verified <= 0.02 * luwak.work.verified
    assert whole.work.verified == 0


@pytest.mark.slow
def test_fewer_extra_terms_mean_more_evaluations() -> None:
    dear = text_work(time_and=20_000, time_check=1, frequent=0, pair_documents=1 << 20, greedy=0)
    assert dear.work.verified == text_work(way=1).work.verified, "nothing pays: no extra term at all"


@pytest.mark.slow
@pytest.mark.parametrize("way", [0, 1])
def test_leapfrog_skips_documents_of_candidates(way: int) -> None:
    """A scan of candidates looks at every document with the representative term; the lead skips some.

    Most of these documents match, so the lead must stop at them. In way 1 the lead stops at 111,699 of
    121,634 documents, with 260,963 calls of ``advance``. ``candidates`` also counts the representative terms.
    """
    scan, leap = text_work(way=way), text_work(way=way, leapfrog=1)
    assert sorted(scan.table.to_pylist(), key=str) == sorted(leap.table.to_pylist(), key=str)
    assert leap.work.verified <= 0.93 * scan.work.verified
    assert leap.work.candidates - leap.work.visited <= 2.2 * scan.work.verified
    assert leap.work.visited < 0.2 * scan.work.visited, "once for a batch, not for a document"
