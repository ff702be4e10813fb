"""The generators: seeded, of the shape they promise, and matching as often as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from bench.workloads import W1, W4, WORKLOADS, Ads, Workload
from bench.workloads.base import OPERATORS, changed
from bench.workloads.draw import distinct, generator, ranks, zipf
from bench.workloads.truth import Book, rows_of

N = 2_000


@pytest.fixture(params=WORKLOADS.values(), ids=WORKLOADS.keys())
def workload(request: pytest.FixtureRequest) -> Workload:
    found: Workload = request.param
    return found


def sizes(table: pa.Table) -> np.ndarray[Any, Any]:
    """Predicates per subscription."""
    counted = table.group_by("id").aggregate([("attribute", "count")])
    return counted.column("attribute_count").to_numpy()


def share(table: pa.Table, *operators: str) -> float:
    """The share of predicates with one of these operators."""
    wanted = pc.is_in(table.column("operator").cast(pa.string()), pa.array(operators))
    return float(pc.mean(wanted.cast(pa.int8())).as_py())


def book(workload: Workload, count: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """All subscriptions."""
    return workload.subscriptions(count, seed), workload.texts(count, seed)


def mean_matches(workload: Workload, count: int, events: int) -> float:
    found = Book(workload.subscriptions(count, 5))
    return float(np.mean([len(found.matches(event)) for event in rows_of(workload.events(events, 5, count))]))


def test_the_same_seed_gives_the_same_data(workload: Workload) -> None:
    assert workload.subscriptions(N, 3).equals(workload.subscriptions(N, 3))
    assert workload.texts(N, 3).equals(workload.texts(N, 3))
    assert workload.events(100, 3).equals(workload.events(100, 3))


def test_another_seed_gives_other_data(workload: Workload) -> None:
    assert book(workload, N, 3) != book(workload, N, 4)
    assert not workload.events(100, 3).equals(workload.events(100, 4))


def test_a_smaller_book_is_the_beginning_of_a_larger_one(workload: Workload) -> None:
    for table in (workload.subscriptions, workload.texts):
        small = table(N, 3).to_pylist()
        assert table(2 * N, 3).slice(0, len(small)).to_pylist() == small
    few = workload.events(50, 3).to_pylist()
    assert workload.events(100, 3).slice(0, 50).to_pylist() == few


def test_there_are_as_many_subscriptions_as_asked_for(workload: Workload) -> None:
    table, texts = workload.subscriptions(N, 3), workload.texts(N, 3)
    assert len(table.column("id").unique()) + texts.num_rows == N
    assert workload.events(77, 3).num_rows == 77
    assert set(table.column("operator").cast(pa.string()).unique().to_pylist()) <= set(OPERATORS)


def test_parameters_are_plain_data(workload: Workload) -> None:
    parameters = workload.parameters()
    assert parameters["name"] == workload.name
    assert all(isinstance(value, int | float | str | None) for value in parameters.values())


@pytest.mark.parametrize("w4", [WORKLOADS["w4-dense"], WORKLOADS["w4-sparse"]], ids=["dense", "sparse"])
def test_w4_has_the_shape_of_the_paper(w4: W4) -> None:
    table = w4.subscriptions(20_000, 1)
    size = sizes(table)
    assert (size.min(), size.max()) == (3, 7)
    assert size.mean() == pytest.approx(5.0, abs=0.05)
    assert share(table, "=") == pytest.approx(0.2, abs=0.01)
    assert share(table, "<=", ">=") == pytest.approx(0.2, abs=0.01)
    assert share(table, "between") == pytest.approx(0.6, abs=0.01)
    pairs = table.select(["id", "attribute"]).group_by(["id", "attribute"]).aggregate([])
    assert pairs.num_rows == table.num_rows, "an attribute stands twice in a subscription"
    numbers = pc.list_flatten(table.column("number"))
    assert (pc.min(numbers).as_py(), pc.max(numbers).as_py()) == (0, 99)


def test_w1_has_the_shape_of_the_paper() -> None:
    w1 = W1(most_predicates=4, most_attributes=20, equality=0.5, values=50)
    table = w1.subscriptions(20_000, 1)
    size = sizes(table)
    assert np.bincount(size)[1:] / 20_000 == pytest.approx([0.25] * 4, abs=0.01)
    assert share(table, "=") == pytest.approx(0.5, abs=0.01)
    assert share(table, "<=") == pytest.approx(0.25, abs=0.01)
    assert share(table, ">=") == pytest.approx(0.25, abs=0.01)
    pairs = table.select(["id", "attribute"]).group_by(["id", "attribute"]).aggregate([])
    assert pairs.num_rows == table.num_rows, "an attribute stands twice in a subscription"
    numbers = pc.list_flatten(table.column("number"))
    assert (pc.min(numbers).as_py(), pc.max(numbers).as_py()) == (0, 49)
    events = w1.events(400, 1).column("attributes").to_pylist()
    assert {len(event) for event in events} == set(range(1, 21))
    assert all(len(dict(event)) == len(event) for event in events)


def test_w1_attributes_and_operands_follow_zipf() -> None:
    table = W1(alpha=1.0, dimensions=1_000).subscriptions(20_000, 1)
    for column, first, tenth in (("attribute", "a0", "a9"), ("number", 0, 9)):
        drawn = table.column(column)
        drawn = drawn.cast(pa.string()) if column == "attribute" else pc.list_flatten(drawn)
        ratio = pc.sum(pc.equal(drawn, first)).as_py() / pc.sum(pc.equal(drawn, tenth)).as_py()
        assert 5 < ratio < 13


def test_a_w1_event_matches_some_subscriptions_by_chance() -> None:
    assert mean_matches(W1(dimensions=500), 20_000, 40) > 5


def test_w4_ranges_are_as_wide_as_documented() -> None:
    table = W4().subscriptions(20_000, 1)
    ranges = table.filter(pc.equal(table.column("operator").cast(pa.string()), "between")).column("number")
    low, high = (pc.list_element(ranges, at).to_numpy() for at in (0, 1))
    width = high - low + 1
    assert (width.min(), width.max()) == (1, 30)
    assert width.mean() == pytest.approx(15.5, abs=0.3)


@pytest.mark.parametrize("w4", [W4(), W4(dimensions=30_000), W4(alpha=3.0)], ids=["dense", "sparse", "zipf"])
def test_w4_events_have_different_attributes(w4: W4) -> None:
    for event in w4.events(200, 1).column("attributes").to_pylist():
        assert len({name for name, _ in event}) == len(event) == 30
        assert all(0 <= value < 100 for _, value in event)


def test_w4_follows_zipf() -> None:
    table = W4(alpha=1.0, dimensions=1_000).subscriptions(20_000, 1)
    first = pc.equal(table.column("attribute").cast(pa.string()), "a0")
    tenth = pc.equal(table.column("attribute").cast(pa.string()), "a9")
    assert pc.sum(first).as_py() > 5 * pc.sum(tenth).as_py()


def test_a_dense_event_matches_some_subscriptions_by_chance() -> None:
    assert 20 <= mean_matches(W4(), 200_000, 40) * 5 <= 80  # per million


def test_a_share_of_the_sparse_events_is_planted() -> None:
    assert mean_matches(W4(dimensions=30_000, planted=1.0), 1_000, 50) == 1.0
    assert 0.02 < mean_matches(WORKLOADS["w4-sparse"], 1_000, 500) < 0.3  # type: ignore[arg-type]


@pytest.mark.parametrize("probability", [0.001, 0.01, 0.5])
@pytest.mark.parametrize("dimensions", [100, 30_000])
def test_match_probability_is_reached_by_construction(probability: float, dimensions: int) -> None:
    w4 = W4(match_probability=probability, dimensions=dimensions)
    assert mean_matches(w4, 50_000, 20) / 50_000 == pytest.approx(probability, rel=0.15)


def test_a_listing_is_what_some_people_look_for() -> None:
    assert 5 <= mean_matches(WORKLOADS["market"], 200_000, 60) * 5 <= 50  # per million


def test_searches_differ_by_category() -> None:
    table = WORKLOADS["market"].subscriptions(N, 1).to_pylist()
    searches: dict[str, dict[str, Any]] = {}
    for row in table:
        searches.setdefault(row["id"], {})[row["attribute"]] = row
    for search in searches.values():
        assert 1 <= len(search) <= 15
        if search["category"]["string"] == ["flats"]:
            assert "mileage" not in search
        if "area_m2" in search:
            assert search["category"]["string"] == ["flats"]


def test_texts_are_expressions() -> None:
    from tamis.lang import parse

    texts = WORKLOADS["market"].texts(50_000, 1).column("expression").to_pylist()
    assert len(texts) == 200
    for text in texts:
        parse(text)
    assert any("POLYGON" in text for text in texts)
    assert any("KM OF POINT" in text for text in texts)
    assert any(" OR " in text for text in texts)


def test_searches_read_as_bulk_columns() -> None:
    from tamis.lang.columns import columns_from_arrow

    for workload in WORKLOADS.values():
        bulk = columns_from_arrow(workload.subscriptions(N, 1))
        assert bulk.refused == []
        assert len(bulk.ids) == N - workload.texts(N, 1).num_rows


def test_distinct_keeps_what_is_fixed_even_under_a_steep_law() -> None:
    fixed = np.full((50, 3), -1)
    fixed[:, 1] = 7
    drawn = distinct(generator(1, "test"), zipf(500, 5.0), 50, 6, fixed)
    assert (drawn == 7).any(axis=1).all()
    assert all(len(set(row)) == 6 for row in drawn.tolist())


def test_distinct_refuses_more_than_there_is() -> None:
    with pytest.raises(ValueError, match="cannot draw 5"):
        distinct(generator(1, "test"), zipf(4, 0.0), 1, 5)


def test_ranks_follow_their_popularity() -> None:
    drawn = ranks(generator(1, "test"), zipf(3, 1.0), 60_000)
    assert np.bincount(drawn) / 60_000 == pytest.approx([6 / 11, 3 / 11, 2 / 11], abs=0.01)


def test_the_brute_force_reading() -> None:
    table = pa.table(
        {
            "id": ["a", "a", "b", "c", "d", "e"],
            "attribute": ["x", "city", "x", "title", "city", "new"],
            "operator": ["between", "=", ">=", "has all", "in", "="],
            "number": pa.array([[1, 5], None, [4], None, None, None], pa.list_(pa.int64())),
            "string": pa.array(
                [None, ["Oslo"], None, ["red", "car"], ["Oslo", "Rome"], None], pa.list_(pa.string())
            ),
            "boolean": pa.array([None] * 5 + [[True]], pa.list_(pa.bool_())),
        }
    )
    book = Book(table)
    assert book.matches({"x": 4, "city": "Oslo"}) == ["a", "b", "d"]
    assert book.matches({"x": 6, "city": "Paris", "title": "A red old Car"}) == ["b", "c"]
    assert book.matches({"new": True, "title": "red"}) == ["e"]
    assert book.matches({"new": False}) == []


def test_ads_have_the_shape_of_the_paper() -> None:
    table = Ads().subscriptions(60_000, 1)
    size = sizes(table)
    assert size.min() == 1
    assert 30 < size.max() <= 56
    assert size.mean() == pytest.approx(8.0, abs=0.1)
    assert len(table.column("attribute").combine_chunks().dictionary) == 122
    assert share(table, "=") > 0.4
    assert share(table, "in") == pytest.approx(0.3, abs=0.02)
    assert share(table, "between", "<=", ">=") > 0.1
    pairs = table.select(["id", "attribute"]).group_by(["id", "attribute"]).aggregate([])
    assert pairs.num_rows == table.num_rows, "an attribute stands twice in a subscription"


def test_ads_sets_have_different_members_and_ranges_are_in_order() -> None:
    table = Ads().subscriptions(5_000, 1)
    for operator, numbers in zip(
        table.column("operator").to_pylist(), table.column("number").to_pylist(), strict=True
    ):
        assert len(set(numbers)) == len(numbers) or operator == "between"
        assert numbers == sorted(numbers) or operator == "in"


def test_an_ad_is_shown_to_some() -> None:
    assert 1 < mean_matches(Ads(), 20_000, 60) < 100


def test_parameters_can_be_changed_by_name() -> None:
    workload = changed(
        WORKLOADS["w4-dense"], {"alpha": "1.5", "dimensions": "1_000", "match_probability": 0.1}
    )
    assert (workload.alpha, workload.dimensions, workload.match_probability) == (1.5, 1_000, 0.1)
    assert changed(workload, {"match_probability": "none"}).match_probability is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("warp", "1", "has no parameter 'warp'; it has dimensions, cardinality"),
        ("alpha", "x", "alpha is float, not 'x'"),
    ],
)
def test_a_change_that_cannot_be_made_says_why(name: str, value: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        changed(WORKLOADS["w4-dense"], {name: value})
