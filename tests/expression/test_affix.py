"""STARTS WITH, ENDS WITH and CONTAINS: every written form, and the same matches as the LIKE that says it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, attr, parse, to_json, to_text
from tamis.errors import TypeMismatch
from tamis.expression import Affix, Like
from tamis.expression.truth import matches
from tamis.language import from_json
from tamis.normal.passes import implies
from tamis.values.event import event_from
from tests.strategies import events, strings

FORMS = {
    "a STARTS WITH 'x'": Affix("a", "prefix", "x"),
    "a ENDS WITH 'x'": Affix("a", "suffix", "x"),
    "a CONTAINS 'x'": Affix("a", "contains", "x"),
    "a NOT STARTS WITH 'it''s' ^ 2": Affix("a", "prefix", "it's", True, 2.0),
    "a NOT CONTAINS '%'": Affix("a", "contains", "%", True),
}
LIKES = {"prefix": "{}%", "suffix": "%{}", "contains": "%{}%"}


@pytest.mark.parametrize("text", FORMS)
def test_text_and_json_give_the_predicate_back(text: str) -> None:
    tree = FORMS[text]
    assert parse(text) == parse(text.lower().replace("with", "  With ")) == tree
    assert to_text(tree) == text
    assert from_json(to_json(tree)) == tree


def test_json_names_the_operator_by_its_words() -> None:
    assert to_json(parse("a NOT ENDS WITH 'x'")) == {"attribute": "a", "op": "not ends with", "value": "x"}


def test_python_method_builds_the_predicate() -> None:
    assert attr("a", 2.0).starts_with("x") == Affix("a", "prefix", "x", weight=2.0)
    assert {"starts_with", "ends_with", "contains"} <= set(dir(attr("a")))
    with pytest.raises(AttributeError, match="no method 'startswith'"):
        attr("a").startswith("x")


def test_bulk_table_takes_the_operator() -> None:
    rows = {"id": ["1", "2"], "attribute": ["a", "a"], "operator": ["Starts With", "not contains"]}
    index = Index.build(pa.table(rows | {"value": ["Os", "l"]}))
    assert sorted(index.match({"a": "Oslo"})) == ["1"]
    assert sorted(index.match({"a": "Rome"})) == ["2"]


def test_attributes_may_have_the_names_of_the_words() -> None:
    assert to_text(parse("contains CONTAINS 'x' AND starts = 1")) == "contains CONTAINS 'x' AND starts = 1"


def test_operand_that_is_no_string_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="expected a text, found a number"):
        Index.build([("s", attr("a").contains(5))])


@given(st.sampled_from(sorted(LIKES)), strings(), st.booleans(), events())
def test_predicate_matches_like_its_pattern(place: str, text: str, negated: bool, event: object) -> None:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    like = Like("a", LIKES[place].format(escaped), False, negated)
    affix = Affix("a", place, text, negated)  # type: ignore[arg-type]
    assert matches(affix, event) == matches(like, event)  # type: ignore[arg-type]


@given(*[st.builds(Affix, st.just("a"), st.sampled_from(sorted(LIKES)), st.text("ab", max_size=3))] * 2)
def test_implied_predicate_holds_wherever_the_other_does(strong: Affix, weak: Affix) -> None:
    if implies(strong, weak):
        texts = ["", "a", "b", "ab", "ba", "aba", "bab", "abab"]
        for text in [*texts, strong.value, strong.value + "b", "b" + strong.value]:
            event = event_from({"a": text})
            assert matches(weak, event) or not matches(strong, event)
