"""Pruning is tested, not hoped for: how many postings are looked at for fixed books and events."""

from __future__ import annotations

import pytest

from tamis import Index
from tamis.engines.postings.layout.lists import VISIT

pytestmark = pytest.mark.kernels
EVENT = {"city": "c7", "price": 500, "kind": "k3"}


def book(count: int) -> dict[str, str]:
    """Marketplace searches: one of 50 cities, one of 8 kinds, a range of prices."""
    return {
        f"s{n}": f"city = 'c{n % 50}' AND kind = 'k{n % 8}' AND price BETWEEN {n % 1000} AND {n % 1000 + 50}"
        for n in range(count)
    }


def test_scan_looks_at_everything() -> None:
    found = Index.build(book(1000), engine="scan").match(EVENT)
    assert found.work.candidates == found.work.verified == 1000
    assert found.work.matches == len(found)


@pytest.mark.parametrize("count", [400, 2000])
def test_hybrid_looks_at_few(count: int) -> None:
    index = Index.build(book(count))
    found = index.match(EVENT)
    assert sorted(found) == sorted(Index.build(book(count), engine="scan").match(EVENT))
    assert found.work.events == 1
    assert found.work.located == 3
    assert found.work.candidates <= count / 25
    assert found.work.verified <= 10
    assert found.work.revised == 0


def test_attributes_that_are_absent_cost_nothing() -> None:
    index = Index.build({f"s{n}": f"a{n} = 1" for n in range(500)})
    assert index.match({"other": 1}).work.candidates == 0
    assert index.match({"a7": 2}).work.candidates <= 1
    assert index.match({"a7": 1}).work.candidates == 1


def test_residual_clauses_are_looked_at_for_every_event() -> None:
    index = Index.build({"posted": "a = 1"} | {f"s{n}": f"NOT b = {n}" for n in range(20)})
    assert index.match({}).work.candidates == 20
    assert index.match({"a": 1}).work.candidates == 21


def test_equal_subscriptions_are_looked_at_once() -> None:
    index = Index.build({f"s{n}": "a = 1 AND b = 2" for n in range(300)})
    found = index.match({"a": 1, "b": 2})
    assert len(found) == 300
    assert found.work.candidates == 1
    assert found.work.verified == 0  # its list and its record say everything


def test_a_sample_of_events_makes_the_access_better() -> None:
    """Without events all attributes look alike; a sample shows that one of them is nearly always the same."""
    rows = {f"s{n}": f"state = 'new' AND owner = 'o{n % 40}'" for n in range(400)}
    rows |= {f"t{n}": f"state = 'x{n}'" for n in range(60)}
    sample = [{"state": "new", "owner": f"o{n % 40}"} for n in range(400)]
    event = {"state": "new", "owner": "o5"}
    told = Index.build(rows, sample=sample).match(event)
    assert sorted(told) == sorted(Index.build(rows).match(event))
    assert told.work.candidates <= 20


def test_work_adds_up_over_a_batch() -> None:
    index = Index.build(book(400))
    batch = next(iter(index.match_batches([EVENT, EVENT, {}])))
    alone = index.match(EVENT).work
    assert batch.work.events == 3
    assert batch.work.candidates == 2 * alone.candidates
    assert batch.work.matches == 2 * alone.matches == batch.table.num_rows


def visits(rows: dict[str, str], crowd: int) -> tuple[int, int]:
    """Lists visited and postings looked at, for values all over the domain."""
    index = Index.build(rows, parameters={"crowd": crowd, "pairs": 0})
    work = [index.match({"a": value}).work for value in range(0, 600, 50)]
    return sum(report.visited for report in work), sum(report.candidates for report in work)


def test_a_dimension_has_one_level_where_several_would_cost_more_visits_than_they_spare() -> None:
    rows = {f"s{n}": f"a BETWEEN {37 * n % 600} AND {37 * n % 600 + n % 180}" for n in range(150)}
    several, one = visits(rows, 0), visits(rows, 64)
    assert one[0] == 12 < several[0]
    assert one[1] < several[1] + VISIT * (several[0] - one[0])


def test_a_dimension_has_several_levels_where_one_would_be_too_coarse_for_many() -> None:
    rows = {f"e{n}": f"a = {n % 200} AND NOT b = {n}" for n in range(4000)}
    rows |= {f"w{n}": f"a BETWEEN {n % 90} AND {n % 90 + 100} AND NOT b = {n}" for n in range(600)}
    work = Index.build(rows).match({"a": 199}).work
    assert work.visited >= 2
    assert work.candidates == 20


def test_wide_ranges_on_few_attributes_are_found_by_pairs_of_coarse_zones() -> None:
    """Fine zones would need too many postings, and the clauses would be met by one condition alone."""
    ends = [(n % 81, n // 81) for n in range(4_000)]
    rows = {
        f"s{n}": f"a BETWEEN {a} AND {a + 19} AND b BETWEEN {b} AND {b + 19}" for n, (a, b) in enumerate(ends)
    }
    paired, single = (Index.build(rows, parameters={"pairs": mode}) for mode in (2, 0))
    found, expected = (index.match({"a": 50, "b": 30}) for index in (paired, single))
    assert sorted(found) == sorted(expected)
    assert len(found) == 400
    assert found.work.candidates < 0.6 * expected.work.candidates
