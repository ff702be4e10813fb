"""Test that the generators have the papers' shapes, and match as often as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from bench.workloads import W1, W2, W3, W4, W5, WORKLOADS, Ads, Queries, W1Clauses, W1Prefix
from bench.workloads.truth import rows_of
from tests.bench.frame import assert_attributes_differ, share, sizes

pytestmark = pytest.mark.usefixtures("small_blocks")

N = 2_000


@pytest.mark.parametrize("w4", [WORKLOADS["w4-dense"], WORKLOADS["w4-sparse"]], ids=["dense", "sparse"])
def test_w4_has_the_shape_of_the_paper(w4: W4) -> None:
    table = w4.subscriptions(20_000, 1)
    size = sizes(table)
    assert (size.min(), size.max()) == (3, 7)
    assert size.mean() == pytest.approx(5.0, abs=0.05)
    assert share(table, "=") == pytest.approx(0.2, abs=0.01)
    assert share(table, "<=", ">=") == pytest.approx(0.2, abs=0.01)
    assert share(table, "between") == pytest.approx(0.6, abs=0.01)
    assert_attributes_differ(table)
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
    assert_attributes_differ(table)
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
    from tamis.language import parse

    texts = WORKLOADS["market"].texts(50_000, 1).column("expression").to_pylist()
    assert len(texts) == 200
    for text in texts:
        parse(text)
    assert any("POLYGON" in text for text in texts)
    assert any("KM OF POINT" in text for text in texts)
    assert any(" OR " in text for text in texts)


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
    assert_attributes_differ(table)


def test_ads_sets_have_different_members_and_ranges_are_in_order() -> None:
    table = Ads().subscriptions(5_000, 1)
    for operator, numbers in zip(
        table.column("operator").to_pylist(), table.column("number").to_pylist(), strict=True
    ):
        assert len(set(numbers)) == len(numbers) or operator == "between"
        assert numbers == sorted(numbers) or operator == "in"


@pytest.mark.parametrize(("form", "inner", "outer"), [("dnf", " AND ", " OR "), ("cnf", " OR ", " AND ")])
def test_w1_normal_forms_have_up_to_five_clauses(form: str, inner: str, outer: str) -> None:
    texts = W1Clauses(form=form).texts(N, 1).column("expression").to_pylist()
    clauses = [text.replace("(", "").split(outer) for text in texts if ")" in text]
    counts = np.array([len(parts) for parts in clauses])
    assert counts.max() == 5
    assert np.bincount(counts)[2:] / len(texts) == pytest.approx([0.2] * 4, abs=0.07)
    predicates = np.array([clause.count(inner) + 1 for parts in clauses for clause in parts])
    assert np.bincount(predicates)[1:] / len(predicates) == pytest.approx([0.25] * 4, abs=0.06)


def test_w1_prefixes_stand_on_strings_only() -> None:
    table = W1Prefix(prefix=0.3, prefix_length=4).subscriptions(N, 1)
    assert share(table, "like") == pytest.approx(0.3, abs=0.02)
    assert share(table, "=", "like") == 1.0
    assert_attributes_differ(table)
    for row in table.to_pylist():
        assert row["attribute"].startswith("t" if row["operator"] == "like" else "a")
        assert bool(row["string"]) != bool(row["number"])
        assert row["operator"] == "=" or 3 <= len(row["string"][0]) <= 5
    events = list(rows_of(W1Prefix().events(300, 1)))
    strings = sum(isinstance(value, str) for event in events for value in event.values())
    assert strings / sum(map(len, events)) == pytest.approx(0.2, abs=0.03)


def test_w2_values_lie_in_clusters() -> None:
    table = W2(match_probability=0.0, dimensions=20, reach=50).subscriptions(N, 1)
    first = table.filter(pc.equal(table.column("attribute").cast(pa.string()), "a3"))
    low = np.sort(pc.list_element(first.column("number"), 0).to_numpy())
    assert len(np.flatnonzero(np.diff(low) > 1_000)) == 3  # four clusters
    assert low.max() - low.min() > 1_000_000
    assert share(table, "between") == pytest.approx(8 / 9, abs=0.02)
    assert sizes(table).mean() == pytest.approx(8.0, abs=0.1)
    spread = W2(match_probability=0.0, dimensions=20, clusters=0).subscriptions(N, 1).column("number")
    values = np.sort(pc.list_element(spread, 0).to_numpy())
    assert np.diff(values).max() < 250_000_000 / 100


def test_w2_rare_attributes_weigh_more() -> None:
    table = W2(alpha=1.0, dimensions=50).subscriptions(N, 1)
    weight, name = table.column("weight").to_numpy(), table.column("attribute").cast(pa.string())
    rare, popular = (weight[pc.equal(name, at).to_numpy()] for at in ("a49", "a0"))
    assert rare.mean() == pytest.approx(0.8, abs=0.02)
    assert rare.std() == pytest.approx(0.05, abs=0.015)
    assert popular.mean() == pytest.approx(0.8 / 50, abs=0.001)


def test_dblp_has_the_figures_of_the_paper() -> None:
    author, title = (WORKLOADS[name].parameters() for name in ("w2-dblp", "w2-dblp-title"))
    figures = ("dimensions", "cardinality", "clusters", "reach", "size", "event_size")
    assert [author[name] for name in figures] == [677, 17_576, 4, 100, 8, 16]
    assert [title[name] for name in figures] == [677, 17_576, 4, 100, 30, 43]


def test_w3_has_the_lengths_of_the_paper() -> None:
    table = W3(repeated=0.0).subscriptions(N, 1)
    terms = pc.list_value_length(table.column("string")).to_numpy()
    expected = np.array([410_943, 301_249, 181_609, 98_999, 51_290]) / 1_099_925
    assert np.bincount(terms)[2:7] / N == pytest.approx(expected, abs=0.03)
    assert terms.max() == 10
    assert all(len(set(query)) == len(query) for query in table.column("string").to_pylist())
    words = np.array([len(row["text"].split()) for row in W3().events(400, 1).to_pylist()])
    assert (words <= 200).mean() == pytest.approx(0.19, abs=0.05)
    assert ((words > 200) & (words <= 600)).mean() == pytest.approx(0.37, abs=0.07)
    assert words.max() <= 5_000


def test_w3_documents_come_in_batches() -> None:
    batches = [batch.num_rows for batch in W3(batch=50).event_pieces(128, 1)]
    assert batches == [50, 50, 28]


def test_queries_have_the_figures_of_the_paper() -> None:
    table = Queries().subscriptions(20_000, 1)
    size = sizes(table)
    assert (size.min(), size.max()) == (1, 5)
    assert size.mean() == pytest.approx(2.78, abs=0.02)
    assert share(table, "=") == 1.0
    assert_attributes_differ(table)
    names = table.column("attribute").combine_chunks().dictionary.to_pylist()
    assert len(set(names)) == 17_577
    assert all(len(name) == 3 for name in names[:-1])
    events = list(rows_of(Queries().events(300, 1)))
    assert np.mean([len(event) for event in events]) == pytest.approx(93.07, abs=2)


def test_w5_asks_for_properties_of_cars() -> None:
    w5 = W5(region=0.5, mark=0.6, model=0.5, several=0.3, year=0.4, price=0.7, from_to=0.5)
    table = w5.subscriptions(N, 1)
    names, count = table.column("attribute").cast(pa.string()), N - w5.in_text(N)
    asked = {name: pc.sum(pc.equal(names, name)).as_py() / count for name in names.unique().to_pylist()}
    alone = 0.5 * 0.6 * 0.3  # asks for neither region nor year nor price, so for a mark
    mark = 0.6 + 0.4 * alone
    assert asked["region"] == pytest.approx(0.5, abs=0.05)
    assert asked["mark"] == pytest.approx(mark, abs=0.05)
    assert asked["model"] == pytest.approx(0.5 * mark, abs=0.05)
    assert asked["year"] == pytest.approx(0.4, abs=0.05)
    assert asked["price"] == pytest.approx(0.7, abs=0.05)
    assert share(table.filter(pc.equal(names, "model")), "in") == pytest.approx(0.3, abs=0.06)
    assert share(table.filter(pc.equal(names, "year")), "between") == pytest.approx(0.5, abs=0.06)
    event = next(iter(rows_of(w5.events(1, 1))))
    assert list(event) == ["region", "mark", "model", "year", "price", "location"]


def test_w5_draws_on_the_map() -> None:
    texts = W5(circles=0.3, either=0.2).texts(10_000, 1).column("expression").to_pylist()
    assert len(texts) == 1_000
    assert sum("KM OF POINT" in text for text in texts) / 1_000 == pytest.approx(0.3, abs=0.05)
    assert sum("POLYGON" in text for text in texts) / 1_000 == pytest.approx(0.7, abs=0.05)
    assert sum(" OR " in text for text in texts) / 1_000 == pytest.approx(0.2, abs=0.05)
