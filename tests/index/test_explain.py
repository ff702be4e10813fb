"""Test that explanations agree with the evaluator, point at the right text, and are plain data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

from tamis import Event, Index, parse, to_text
from tamis.expression.tree import Expr
from tamis.expression.truth import matches
from tamis.index.explain import LISTED_TEXT, LISTED_VALUES, Explanation, explain
from tamis.values.event import event_from, tagged, tagged_value
from tamis.values.value import Value
from tests.strategies import events, expressions, values


def nodes(node: Explanation) -> Iterator[Explanation]:
    yield node
    for child in node.children:
        yield from nodes(child)


@given(expressions(), events())
def test_explanation_of_every_part_agrees_with_the_evaluator(expr: Expr, event: Event) -> None:
    found = explain(expr, event)
    assert found.expression == to_text(expr)
    for node in nodes(found):
        part = found.expression[node.start : node.end]
        assert node.matched == matches(parse(part), event), part
        if node.attribute is not None:
            assert node.text == part
            assert node.values == event.attributes.get(node.attribute, ())
            assert (node.cause == "absent") == (not node.values)
    json.dumps(found.as_dict())


EVENT = {"price": 600, "model": ["a", "b"], "span": {"$interval": [1, 5]}, "at": {"$point": [1, 2]}}


@pytest.mark.parametrize(
    ("text", "matched", "cause", "reason"),
    [
        ("price <= 580", False, "no-value", "price is 600"),
        ("price > 580", True, "some-value", "price is 600"),
        ("price = '600'", False, "other-type", "price is 600: a number is never compared with a string"),
        ("price LIKE '6%'", False, "other-type", "price is 600: a number is never compared with a string"),
        ("price WITHIN BOX (0, 0, 1, 1)", False, "other-type",
         "price is 600: a number is never compared with a point"),
        ("price IN (TRUE, 'x')", False, "other-type",
         "price is 600: a number is never compared with a boolean or a string"),
        ("price IN ()", False, "other-type", "price is 600"),
        ("price != '600'", True, "other-type", "price is 600"),
        ("model != 'a'", False, "some-value", "model is 'a', 'b'"),
        ("model NOT IN ('c')", True, "no-value", "model is 'a', 'b'"),
        ("span > 3", True, "some-value", "span is [1, 5]"),
        ("span = 'x'", False, "other-type", "span is [1, 5]: a number is never compared with a string"),
        ("at = POINT (1 2)", True, "some-value", "at is POINT (1.0 2.0)"),
        ("model IS NULL", False, "present", "model is 'a', 'b'"),
        ("colour IS NULL", True, "absent", "colour is absent"),
        ("colour != 'red'", False, "absent", "colour is absent"),
    ],
)  # fmt: skip
def test_explanation_names_the_causes(text: str, matched: bool, cause: str, reason: str) -> None:
    found = explain(parse(text), event_from(EVENT))
    assert (found.matched, found.cause, found.reason) == (matched, cause, reason)


def test_explanation_is_plain_data() -> None:
    index = Index.build({"s": "price <= 580 AND NOT (model = 'a' OR when > DATE '2026-01-01')"})
    event = {"price": 550, "model": ["x" * 300] * 30, "when": {"$time": "2025-11-15T08:00:00Z"}}
    found = index.explain("s", event).as_dict()
    assert found["expression"] == to_text(index.expression("s"))
    price, denial = found["children"]
    assert price == {
        "matched": True,
        "text": "price <= 580",
        "reason": "price is 550",
        "start": 0,
        "end": 12,
        "attribute": "price",
        "cause": "some-value",
        "values": [550],
        "value_count": 1,
    }
    assert (denial["text"], denial["matched"]) == ("NOT", True)
    assert found["expression"][denial["start"] : denial["end"]].startswith("NOT (model")
    model, when = denial["children"][0]["children"]
    assert (len(model["values"]), model["value_count"]) == (LISTED_VALUES, 30)
    assert model["values"][0] == "x" * LISTED_TEXT + "…"
    assert when["values"] == [{"$time": "2025-11-15T08:00:00Z"}]


@given(values())
def test_explained_values_read_back(value: Value) -> None:
    written: Any = json.loads(json.dumps(tagged(value)))
    again = tagged_value(written) if isinstance(written, dict) else written
    assert (type(again), again) == (type(value), value)
