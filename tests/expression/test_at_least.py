"""Test HAS AT LEAST n OF: every written form, the index, and the terms that it needs."""

from __future__ import annotations

from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, attr, parse, to_json, to_text
from tamis.errors import TypeMismatch
from tamis.expression import AtLeast, Predicate, Text
from tamis.expression.predicates.at_least import MOST_NEEDED
from tamis.expression.truth import matches
from tamis.language import check_tree, from_json
from tamis.normal.passes import implies
from tamis.values.event import event_from

FORMS = {
    "a HAS AT LEAST 2 OF ('wool', 'co*', 'blue')": AtLeast("a", ("wool", "co*", "blue"), 2),
    "a NOT HAS AT LEAST 1 OF ('wool') ^ 3": AtLeast("a", ("wool",), 1, True, 3.0),
}


@pytest.mark.parametrize("text", FORMS)
def test_text_and_json_give_the_predicate_back(text: str) -> None:
    tree = FORMS[text]
    assert parse(text) == parse(text.lower()) == check_tree(tree) == tree
    assert to_text(tree) == text
    assert from_json(to_json(tree)) == tree


def test_json_has_terms_and_count() -> None:
    assert to_json(parse("a HAS AT LEAST 2 OF ('x', 'y')")) == {
        "attribute": "a",
        "op": "has at least",
        "terms": ["x", "y"],
        "count": 2,
    }


def test_python_method_builds_the_predicate() -> None:
    assert attr("a", 2.0).has_at_least(2, "x", "y") == AtLeast("a", ("x", "y"), 2, weight=2.0)
    assert attr("a").has_at_least(1, ["x", "y"]) == AtLeast("a", ("x", "y"), 1)


def test_bulk_table_takes_terms_and_a_number() -> None:
    rows = {"id": ["1", "2"], "attribute": ["a", "a"], "operator": ["has at least", "not has at least"]}
    index = Index.build(pa.table(rows | {"values": [["x", "y", "z"]] * 2, "number": [2, 2]}))
    assert index.match({"a": "z x"}) == ["1"]
    assert index.match({"a": "z z"}) == ["2"]


def test_equal_terms_count_once() -> None:
    tree = parse("a HAS AT LEAST 1 OF ('Wool', 'wool')")
    assert to_text(tree) == "a HAS AT LEAST 1 OF ('Wool', 'wool')"
    assert isinstance(tree, AtLeast)
    assert tree.reading == ("wool",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a HAS AT LEAST 3 OF ('x', 'y')", "write 2 or fewer"),
        ("a HAS AT LEAST 2 OF ('x', 'X')", "write 1 or fewer"),
        ("a HAS AT LEAST 0 OF ('x', 'y')", "whole number of at least 1"),
        ("a HAS AT LEAST 1 OF ('x y')", "holds 2 terms"),
        ("a HAS AT LEAST 1 OF ('x y', 'z')", "2 terms"),
        ("a HAS AT LEAST 1 OF ('-')", "holds no term"),
    ],
)
def test_operands_without_meaning_are_refused(text: str, reason: str) -> None:
    with pytest.raises(TypeMismatch, match=reason):
        parse(text)


_TERMS = ["a", "b", "c", "d*"]
_TEXTS = [" ".join(some) for size in range(5) for some in combinations(["a", "b", "c", "d", "dd"], size)]
_lists = st.lists(st.sampled_from(_TERMS), min_size=1, max_size=4, unique=True)


@given(_lists, st.integers(1, 4), st.booleans())
def test_index_and_head_count_the_terms(terms: list[str], count: int, negated: bool) -> None:
    tree = AtLeast("t", tuple(terms), min(count, len(terms)), negated)
    index, head = Index.build({"s": tree}), Index.build()
    head.add("s", tree)
    for text in _TEXTS:
        held = sum(any(word.startswith(term.strip("*")) for word in text.split()) for term in terms)
        expected = (held >= tree.count) != negated
        assert matches(tree, event_from({"t": text})) is expected, text
        assert bool(index.match({"t": text})) is bool(head.match({"t": text})) is expected, text


@given(_lists, st.integers(1, 4))
def test_text_that_matches_has_a_term_of_each_needed_group(terms: list[str], count: int) -> None:
    tree = AtLeast("t", tuple(terms), min(count, len(terms)))
    for text in _TEXTS:
        if matches(tree, event_from({"t": text})):
            assert all(
                matches(Text("t", "any", group), event_from({"t": text})) for group in tree.needed_terms()
            )


@pytest.mark.parametrize("count", [1, 2, 1_000, 10_000, 19_999, 20_000])
def test_needed_groups_stay_few_for_many_terms(count: int) -> None:
    groups = AtLeast("t", tuple(f"w{number}" for number in range(20_000)), count).needed_terms()
    assert len(groups) == 1 or sum(map(len, groups)) <= MOST_NEEDED


@given(_lists, st.integers(1, 4), _lists, st.integers(1, 4), st.sampled_from(["any", "all", "at least"]))
def test_implied_predicate_holds_wherever_the_other_does(
    terms: list[str], count: int, others: list[str], other: int, mode: str
) -> None:
    strong = AtLeast("t", tuple(terms), min(count, len(terms)))
    weak: Predicate = AtLeast("t", tuple(others), min(other, len(others)))
    if mode != "at least":
        weak = Text("t", mode, tuple(others))  # type: ignore[arg-type]
    if implies(strong, weak):
        for text in _TEXTS:
            assert matches(weak, event_from({"t": text})) or not matches(strong, event_from({"t": text}))
