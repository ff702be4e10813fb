"""Test advice on attributes that no event of a long run has."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tamis import Index


@pytest.fixture(scope="module")
def index() -> Index:
    book = {
        "typo": "pirce < 3",
        "good": "price < 3",
        "text": "title HAS 'wool'",
        "deep": "shop.name LIKE 'a%'",
    }
    return Index.build(book)


def _events(count: int) -> list[dict[str, Any]]:
    return [{"price": 1, "title": "coat", "shop": {"name": "b"}} for _ in range(count)]


@pytest.mark.parametrize("form", [list, pa.Table.from_pylist])
def test_misspelt_attribute_gets_one_warning(index: Index, form: Any) -> None:
    found = index.match_many(form(_events(1_000)))
    assert found.work.advice == ("no event has pirce; did you mean price?",)


def test_batches_warn_once(index: Index) -> None:
    batches = list(index.match_batches(_events(3_000), batch_size=400))
    assert [line for batch in batches for line in batch.work.advice] == [
        "no event has pirce; did you mean price?"
    ]


def test_no_warning_for_few_events_or_for_seen_attributes(index: Index) -> None:
    assert index.match_many(_events(999)).work.advice == ()
    late = [*_events(2_000), {"pirce": 1}]
    assert index.match_many(late, batch_size=500).work.advice == ()


def test_attributes_in_maps_are_seen(index: Index) -> None:
    pairs = [[("price", 1), ("pirce", 2)]] * 1_000
    table = pa.table({"m": pa.array(pairs, pa.map_(pa.string(), pa.int64()))})
    assert index.match_many(table).work.advice == ("no event has shop.name", "no event has title")


def test_many_unseen_attributes_are_counted() -> None:
    index = Index.build({f"s{n}": f"attribute_{n} = 1" for n in range(40)} | {"typo": "colour = 1"})
    advice = index.match_many([{"color": 1}] * 1_000).work.advice
    assert advice[0] == "no event has colour; did you mean color?"
    assert advice[-1] == "no event has 36 more of the attributes that are asked for"
    assert len(advice) == 6
