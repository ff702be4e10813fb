"""Test that every public object has a short, useful repr; an index is a collection; notebooks show tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import tamis
import tamis.client
import tamis.spark
import tamis.store

HOSTILE = "<script>alert('x')</script>"
INDEX = tamis.Index.build({"s1": "a = 1 AND b = 2", HOSTILE: "a >= 1"})
EXAMPLES: dict[str, Callable[[], Any]] = {
    "Advice": lambda: tamis.advise("a = 1 AND a = 2"),
    "AsyncClient": lambda: tamis.AsyncClient("http://127.0.0.1:1", "key"),
    "Audit": lambda: tamis.Audit(0.5),
    "Client": lambda: tamis.Client("http://127.0.0.1:1", "key"),
    "Event": lambda: tamis.Event({"a": (1,)}),
    "Explanation": lambda: INDEX.explain("s1", {"a": 1}),
    "Index": lambda: INDEX,
    "Interval": lambda: tamis.Interval(1, 2),
    "Limits": lambda: tamis.Limits(dnf_clauses=4),
    "MatchBatch": lambda: next(INDEX.match_batches([{"a": 1}, {"a": 2}])),
    "MatchTable": lambda: INDEX.match_many([{"a": 1}, 5], on_error="skip"),
    "Matches": lambda: INDEX.match({"a": 1}),
    "Point": lambda: tamis.Point(1.0, 2.0),
    "Refusal": lambda: INDEX.match_many([5], on_error="skip").refused[0],
    "Subscription": lambda: INDEX.subscription("s1"),
    "TamisError": lambda: tamis.errors.TamisError("something is wrong"),
    "TopMatches": lambda: INDEX.top_k({"a": 1}),
    "WorkReport": lambda: INDEX.match({"a": 1}).work,
    "attr": lambda: tamis.attr("a"),
}
TABLES = ["Advice", "Explanation", "Index", "MatchTable", "Matches", "TopMatches", "WorkReport"]


def test_every_public_class_has_an_example() -> None:
    classes = {name for name in tamis.__all__ if inspect.isclass(getattr(tamis, name))}
    assert classes <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_repr_is_short_and_not_the_default(name: str) -> None:
    text = repr(EXAMPLES[name]())
    assert " object at 0x" not in text
    assert "\n" not in text
    assert 1 < len(text) <= 240, text


@pytest.mark.parametrize(
    "kind",
    [
        member
        for module in (tamis.client, tamis.spark, tamis.store)
        for name in module.__all__
        if inspect.isclass(member := getattr(module, name))
    ],
    ids=lambda kind: f"{kind.__module__}.{kind.__name__}",
)
def test_class_of_an_optional_part_has_its_own_repr(kind: type) -> None:
    assert kind.__repr__ is not object.__repr__


def test_reprs_show_the_important_fields() -> None:
    assert repr(INDEX).startswith("<tamis.Index: 2 subscriptions, hybrid, 1 segment, ")
    assert repr(tamis.Limits()) == "Limits()"
    assert repr(tamis.Limits(dnf_clauses=4)) == "Limits(dnf_clauses=4)"
    assert "does not match 'a = 1 AND b = 2'" in repr(INDEX.explain("s1", {"a": 1}))
    batch = next(INDEX.match_batches([{"a": 1}, {"a": 2}]))
    assert repr(batch) == "<MatchBatch: 2 matches of 2 events from row 0, 0 refused>"
    assert "never" in repr(tamis.advise("a = 1 AND a IS NULL"))


@pytest.mark.parametrize("name", TABLES)
def test_notebook_shows_a_table(name: str) -> None:
    page = EXAMPLES[name]()._repr_html_()
    assert page.startswith("<table>")
    assert "<script>" not in page


def test_user_text_in_a_table_is_escaped() -> None:
    assert "&lt;script&gt;" in INDEX.match({"a": 1})._repr_html_()
    assert "&lt;script&gt;" in INDEX.top_k({"a": 1})._repr_html_()
    index = tamis.Index.build({"s": f"a = '{HOSTILE.replace(chr(39), chr(39) * 2)}'"})
    page = index.explain("s", {"a": HOSTILE})._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_long_table_is_cut_and_counted() -> None:
    index = tamis.Index.build({f"s{n}": "a = 1" for n in range(80)})
    page = index.match({"a": 1})._repr_html_()
    assert page.count("<tr>") == 51
    assert "30 more" in page


def test_index_is_a_collection_in_order_of_registration() -> None:
    index = tamis.Index.build({f"b{n}": "a = 1" for n in range(50)})
    expected = [f"b{n}" for n in range(50)]
    for n in range(100):
        index.add(f"a{n}", "a = 1")
        expected.append(f"a{n}")
    index.remove("b7")
    index.update("b9", "a = 2")  # registered anew
    expected = [name for name in expected if name not in ("b7", "b9")] + ["b9"]
    assert list(index) == expected
    assert len(index) == len(expected)
    assert all(name in index for name in index)
    index.merge()
    assert list(index) == expected
    assert list(tamis.Index.build({})) == []


def test_iteration_sees_a_snapshot() -> None:
    index = tamis.Index.build({f"s{n}": "a = 1" for n in range(10)})
    seen = iter(index)
    index.remove("s3")
    index.add("new", "a = 1")
    index.merge()
    assert list(seen) == [f"s{n}" for n in range(10)]
