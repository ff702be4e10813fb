"""Test every workload: seeded, equal in pieces and as a whole, shaped by each parameter, read alike."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from bench.workloads import W2, WORKLOADS, Workload
from bench.workloads.base import OPERATORS, changed, parameters_of
from bench.workloads.synthetic import Synthetic
from bench.workloads.texts import expressions
from bench.workloads.truth import Book, rows_of
from tamis import Index
from tests.bench.conftest import SIZES

pytestmark = pytest.mark.usefixtures("small_blocks")

N = 700

# One of each class, and a different value for each parameter.
CHANGES: dict[str, dict[str, Any]] = {
    "w1": {
        "dimensions": 900, "most_predicates": 4, "most_attributes": 7, "equality": 0.9, "values": 9,
        "alpha": 0.8, "value_alpha": 1.0,
    },
    "w1-dnf": {
        "dimensions": 900, "most_predicates": 2, "most_attributes": 7, "equality": 0.9, "values": 9,
        "alpha": 0.8, "value_alpha": 1.0, "form": "cnf", "most_clauses": 2,
    },
    "w1-prefix": {
        "dimensions": 900, "strings": 50, "most_predicates": 4, "most_attributes": 7, "values": 9,
        "prefix": 1.0, "prefix_length": 2, "text": 0.9, "words": 99, "alpha": 0.5, "word_alpha": 0.2,
    },
    "w2": {
        "dimensions": 90, "cardinality": 9_999, "clusters": 0, "reach": 9, "size": 5, "spread": 0,
        "event_size": 12, "widest": 2, "alpha": 1.0, "match_probability": 0.05, "profiles": 3, "weight": 0.2,
        "weight_deviation": 0.2,
    },
    "w3": {
        "vocabulary": 90_000, "topics": 9, "topic_words": 50, "topical": 0.1, "repeated": 0.0,
        "query_shift": 0, "topic_shift": 9, "topic_alpha": 0.1, "least_terms": 4, "most_terms": 5,
        "shortest": 800, "longest": 90, "batch": 7,
    },
    "w4-dense": {
        "dimensions": 90, "cardinality": 9, "size": 7, "spread": 0, "event_size": 12, "equality": 0.9,
        "alpha": 1.0, "one_sided": 0.9, "narrowest": 0.2, "widest": 0.9, "planted": 0.9,
        "match_probability": 0.1,
    },
    "w4-ads": {
        "dimensions": 90, "mean": 4.0, "sigma": 0.1, "most": 9, "event_size": 12, "alpha": 0.1,
        "value_alpha": 0.1, "equality": 0.1, "members": 0.1, "widest": 0.9, "most_members": 3,
    },
    "w4-queries": {
        "dimensions": 18_000, "size": 1.5, "most": 4, "event_size": 12.0, "endings": 9, "alpha": 0.1,
        "value_alpha": 0.1,
    },
    "w5": {
        "region": 0.1, "mark": 0.1, "model": 0.1, "several": 0.9, "year": 0.1, "price": 0.1, "from_to": 0.9,
        "on_map": 0.5, "circles": 0.9, "either": 0.9,
    },
    "market": {"on_map": 0.1},
}  # fmt: skip


@pytest.fixture(params=WORKLOADS.values(), ids=WORKLOADS.keys())
def workload(request: pytest.FixtureRequest) -> Synthetic:
    found: Synthetic = request.param
    return found


def data(workload: Workload, seed: int) -> list[Any]:
    """Return everything that can differ: subscriptions, texts, and events in their pieces."""
    assert isinstance(workload, Synthetic)
    pieces = [piece.to_pylist() for piece in workload.event_pieces(100, seed, N)]
    return [workload.subscriptions(N, seed).to_pylist(), workload.texts(N, seed).to_pylist(), pieces]


def test_same_seed_gives_the_same_data(workload: Synthetic) -> None:
    assert data(workload, 3) == data(replace(workload), 3)


def test_another_seed_gives_other_data(workload: Synthetic) -> None:
    columns, texts, events = zip(data(workload, 3), data(workload, 4), strict=True)
    assert columns[0] != columns[1] or texts[0] != texts[1]
    assert events[0] != events[1]


def test_smaller_book_is_the_beginning_of_a_larger_one(workload: Synthetic) -> None:
    for table in (workload.subscriptions, workload.texts):
        small = table(N, 3).to_pylist()
        assert table(2 * N, 3).slice(0, len(small)).to_pylist() == small
    few = workload.events(50, 3).to_pylist()
    assert workload.events(100, 3).slice(0, 50).to_pylist() == few


def test_pieces_add_up_to_the_whole(workload: Synthetic) -> None:
    for pieces, whole in (
        (workload.subscription_pieces(N, 3), workload.subscriptions(N, 3)),
        (workload.text_pieces(N, 3), workload.texts(N, 3)),
        (workload.event_pieces(300, 3, N), workload.events(300, 3, N)),
    ):
        tables = list(pieces)
        assert len(tables) > 1 or whole.num_rows <= SIZES["PIECE"]
        assert [row for table in tables for row in table.to_pylist()] == whole.to_pylist()


def test_workload_has_as_many_subscriptions_as_requested(workload: Synthetic) -> None:
    table, texts = workload.subscriptions(N, 3), workload.texts(N, 3)
    assert len(table.column("id").unique()) + texts.num_rows == N
    assert workload.in_text(N) == texts.num_rows
    assert workload.events(77, 3).num_rows == 77
    assert set(table.column("operator").cast(pa.string()).unique().to_pylist()) <= set(OPERATORS)


def test_parameters_are_plain_data(workload: Synthetic) -> None:
    parameters = workload.parameters()
    assert parameters["name"] == workload.name
    assert all(isinstance(value, int | float | str | None) for value in parameters.values())


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_shapes_the_data(name: str) -> None:
    workload = WORKLOADS[name]
    assert list(CHANGES[name]) == list(parameters_of(workload))
    usual = data(workload, 3)
    for parameter, value in CHANGES[name].items():
        assert data(changed(workload, {parameter: str(value)}), 3) != usual, parameter


@pytest.mark.parametrize(
    ("name", "parameter", "value", "message"),
    [
        ("w1", "most_predicates", 20_001, "w1: most_predicates must be from 1 to 20,000, not 20001"),
        ("w1", "equality", 1.5, "equality must be from 0 to 1, not 1.5"),
        ("w1-dnf", "form", "xnf", "form must be one of dnf, cnf, not 'xnf'"),
        ("w1-prefix", "most_attributes", 101, "most_attributes must be from 1 to 100"),
        ("w2", "size", 401, "w2: size must be from 1 to 400, not 401"),
        ("w2", "cardinality", 100, "cardinality must be at least 202"),
        ("w3", "most_terms", 1, "most_terms must be from 2 to 10"),
        ("w4-dense", "event_size", 101, "event_size must be from 1 to 100"),
        ("w4-dense", "alpha", -1, "alpha must be at least 0"),
        ("w4-sparse", "match_probability", 2, "match_probability must be from 0 to 1"),
        ("w4-ads", "value_alpha", 1, "value_alpha must be from 0 to 0.99"),
        ("w4-queries", "size", 9, "size must be from 1 to 5"),
        ("w5", "on_map", -0.1, "on_map must be from 0 to 1"),
        ("market", "on_map", 7, "on_map must be from 0 to 1"),
        ("w4-dense", "warp", "1", "has no parameter 'warp'; it has dimensions, cardinality"),
        ("w4-dense", "alpha", "x", "alpha is float, not 'x'"),
    ],
)
def test_impossible_change_is_refused_with_a_reason(
    name: str, parameter: str, value: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        changed(WORKLOADS[name], {parameter: value})


def test_parameters_can_be_changed_by_name() -> None:
    workload = changed(
        WORKLOADS["w4-dense"], {"alpha": "1.5", "dimensions": "1_000", "match_probability": 0.1}
    )
    assert workload.parameters() | {"alpha": 1.5, "dimensions": 1_000, "match_probability": 0.1} == (
        workload.parameters()
    )
    assert changed(workload, {"match_probability": "none"}).parameters()["match_probability"] is None


def test_brute_force_and_scan_agree(workload: Synthetic) -> None:
    columns, events = workload.subscriptions(N, 2), workload.events(30, 2, N)
    expected = []
    if columns.num_rows:
        book = Book(columns)
        expected = [(at, name) for at, event in enumerate(rows_of(events)) for name in book.matches(event)]
    found = Index.build(columns, engine="scan").match_many(events, threads=1).to_pylist()
    assert sorted((row["event"], row["subscription"]) for row in found) == sorted(expected)


@pytest.mark.parametrize("name", ["w1-dnf", "w1-cnf"])
def test_normal_forms_mean_what_they_say(name: str) -> None:
    workload = changed(WORKLOADS[name], {"dimensions": 60})
    texts, stream = workload.texts(N, 2), workload.events(20, 2)
    found = Index.build(texts, engine="scan").match_many(stream, threads=1).to_pylist()
    events = list(rows_of(stream))
    expected = []
    for subscription in texts.to_pylist():
        code = subscription["expression"].replace(" = ", " == ").replace("AND", "and").replace("OR", "or")
        code = re.sub(r"(a\d+) (\S+) (\d+)", r"('\1' in e and e['\1'] \2 \3)", code)
        true = [at for at, e in enumerate(events) if eval(code, {"e": e})]
        expected += [(at, subscription["id"]) for at in true]
    assert len(expected) > 100
    assert sorted((row["event"], row["subscription"]) for row in found) == sorted(expected)


def test_text_of_columns_means_the_same(workload: Synthetic) -> None:
    columns, events = workload.subscriptions(300, 2), workload.events(40, 2, 300)
    texts = expressions(columns)
    assert texts.column("id").to_pylist() == columns.column("id").unique().to_pylist()
    in_columns, in_text = (
        sorted(map(str, Index.build(table).match_many(events, threads=1).to_pylist()))
        for table in (columns, texts)
    )
    assert in_columns == in_text


def test_weights_are_part_of_the_text() -> None:
    columns = W2(size=1, spread=0).subscriptions(1, 1)
    weight = columns.column("weight")[0].as_py()
    assert expressions(columns).column("expression")[0].as_py().endswith(f" ^ {weight!r}")


def test_names_and_strings_are_quoted() -> None:
    table = pa.table(
        {
            "id": ["x", "x", "y"],
            "attribute": ["two words", "in", "plain.name"],
            "operator": ["=", "in", "has all"],
            "string": [["it's"], ["a", "b"], ["red", "car"]],
        }
    )
    assert expressions(table).to_pylist() == [
        {"id": "x", "expression": "\"two words\" = 'it''s' AND \"in\" IN ('a', 'b')"},
        {"id": "y", "expression": "plain.name HAS ALL ('red', 'car')"},
    ]
