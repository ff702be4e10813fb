"""Test LIKE ANY, LIKE ALL, ILIKE ANY and ILIKE ALL: every written form, and the same matches as LIKEs."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, attr, parse, to_json, to_text
from tamis.errors import PatternError, TypeMismatch
from tamis.expression import Like, Likes
from tamis.expression.truth import matches
from tamis.expression.views import OnView, View
from tamis.language import check_tree, from_json
from tamis.values.event import Event
from tests.strategies import PATTERNS, events

FORMS = {
    "a LIKE ANY ('x%', '%y')": Likes("a", "any", False, ("x%", "%y")),
    "a NOT LIKE ALL ('it''s%')": Likes("a", "all", False, ("it's%",), True),
    "a ILIKE ALL ('x%', '_y') ^ 2": Likes("a", "all", True, ("x%", "_y"), weight=2.0),
    "a NOT ILIKE ANY ('X', 'y')": Likes("a", "any", True, ("X", "y"), True),
}


@pytest.mark.parametrize("text", FORMS)
def test_text_and_json_give_the_predicate_back(text: str) -> None:
    tree = FORMS[text]
    assert parse(text) == check_tree(tree) == tree
    assert to_text(tree) == text
    assert from_json(to_json(tree)) == tree


def test_json_names_the_operator_by_its_words() -> None:
    assert to_json(parse("a NOT ILIKE ANY ('x')")) == {
        "attribute": "a",
        "op": "not ilike any",
        "patterns": ["x"],
    }


def test_python_method_builds_the_predicate() -> None:
    assert attr("a", 2.0).like_any("x%", "y") == Likes("a", "any", False, ("x%", "y"), weight=2.0)
    assert attr("a").ilike_all(["x%", "y"]) == Likes("a", "all", True, ("x%", "y"))


def test_bulk_table_takes_the_operator() -> None:
    rows = {"id": ["1", "2"], "attribute": ["a", "a"], "operator": ["LIKE ANY", "not ilike any"]}
    index = Index.build(pa.table(rows | {"values": [["Os%", "%e"], ["o%", "r%"]]}))
    assert index.match({"a": "Oslo"}) == ["1"]
    assert index.match({"a": "Rome"}) == ["1"]
    assert index.match({"a": "Bern"}) == ["2"]


@pytest.mark.parametrize("text", ["a LIKE ANY ('x\\')", "a ILIKE ALL ('x%', 'y\\')"])
def test_bad_pattern_is_refused(text: str) -> None:
    with pytest.raises(PatternError, match="lone backslash"):
        parse(text)


def test_empty_list_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="need a pattern"):
        from_json({"attribute": "a", "op": "like any", "patterns": []})


def test_prefixes_become_ranges_of_one_view() -> None:
    (atom,) = Likes("a", "any", False, ("x%", "y%", "zzz")).atoms(denied=True)
    assert isinstance(atom, OnView)
    assert (atom.view, len(atom.ranges)) == (View.PATTERN, 3)


def test_all_patterns_hold_of_one_value() -> None:
    index = Index.build({"all": "a LIKE ALL ('x%', '%y')", "none": "a NOT LIKE ALL ('x%', '%y')"})
    assert index.match({"a": ["xa", "ay"]}) == ["none"]
    assert index.match({"a": ["xa", "xay"]}) == ["all"]


@given(
    st.sampled_from(["any", "all"]),
    st.booleans(),
    st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3),
    st.booleans(),
    events(),
)
def test_predicate_matches_like_its_patterns(
    mode: str, fold: bool, patterns: list[str], negated: bool, event: Event
) -> None:
    tree = Likes("a", mode, fold, tuple(patterns), negated)  # type: ignore[arg-type]
    each = [Like("a", pattern, fold) for pattern in patterns]
    join = any if mode == "any" else all
    values = event.attributes.get("a", ())
    expected = any(join(one.accepts(value) for one in each) for value in values)
    if negated:
        expected = bool(values) and not expected
    assert matches(tree, event) is expected
    assert bool(Index.build({"s": tree}).match(event)) is expected
