"""59,983 web queries × every tenth of 47,850 papers: 51,391 pairs (ACL Anthology; TREC Million Query)."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from bench.workloads.real.data import lines
from bench.workloads.real.text import event_of
from tamis import Index
from tamis.expression.predicates import Text
from tests.realdata.common import assert_every_engine

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def test_all_queries_on_every_tenth_paper(shared_data: Path) -> None:
    folder = shared_data / "text"
    queries = {
        line["id"]: Text("words", "all", tuple(line["terms"]))
        for line in lines(folder / "queries_trec_mq.jsonl.gz")
    }
    assert len(queries) == 59_983
    papers = list(islice(lines(folder / "docs_acl_2016plus.jsonl.gz"), 0, None, 10))
    expected = {
        (line["doc"], query)
        for line in lines(folder / "matches_acl_every10th.jsonl.gz")
        for query in line["queries"]
    }
    assert len(expected) == 51_391
    texts = list(map(event_of, papers))
    names = [paper["id"] for paper in papers]
    assert_every_engine(Index.build(queries), texts, names, expected)
