"""Test phrases with slop, NEAR and NEAR ORDERED: their definition, every written form, and the index."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Limits, attr, parse, to_json, to_text
from tamis.columns.rows import RowWriter, tree_at
from tamis.errors import ExpressionLimit, TypeMismatch
from tamis.expression import Near, Predicate, Text
from tamis.expression.truth import matches
from tamis.language import check_tree, from_json, from_search_box
from tamis.limits import DEFAULT_LIMITS
from tamis.normal.passes import implies
from tamis.segment.expressions import check_book
from tamis.space.terms import Terms
from tamis.values.event import event_from
from tamis.values.terms import Proximity, is_close, read_term

FORMS = {
    "a HAS PHRASE 'wool coat' SLOP 2": Near("a", "slop", ("wool coat",), 2),
    "a HAS NEAR 'wool c*' WITHIN 5": Near("a", "near", ("wool c*",), 5),
    "a NOT HAS NEAR ORDERED 'new york city' WITHIN 3 ^ 2": Near(
        "a", "near ordered", ("new york city",), 3, True, 2.0
    ),
}
TEXTS = {  # of wool and coat: the least slop, the least window, the least window in order
    "wool coat": (0, 2, 2),
    "wool blue coat": (1, 3, 3),
    "coat wool": (2, 2, None),
    "coat of wool": (3, 3, None),
    "wool and silk, coat or coat": (2, 4, 4),
    "a coat, a wool, a coat": (1, 3, 3),
    "wool": (None, None, None),
    "woolcoat": (None, None, None),
}
MODES: tuple[Proximity, ...] = ("slop", "near", "near ordered")


@pytest.mark.parametrize("text", FORMS)
def test_text_and_json_give_the_predicate_back(text: str) -> None:
    tree = FORMS[text]
    assert parse(text) == parse(text.lower()) == check_tree(tree) == tree
    assert to_text(tree) == text
    assert from_json(to_json(tree)) == tree


def test_json_has_terms_and_distance() -> None:
    found = to_json(parse("a NOT HAS PHRASE 'new york' SLOP 1"))
    assert found == {"attribute": "a", "op": "not has sloppy phrase", "terms": ["new york"], "distance": 1}
    assert from_json(found | {"terms": ["new", "york"]}) == from_json(found)


def test_python_methods_build_the_predicate() -> None:
    assert check_tree(attr("a", 2.0).has_near("Wool coat", 4)) == Near(
        "a", "near", ("Wool coat",), 4, weight=2.0
    )
    assert attr("a").has_near("x y", 4, ordered=True) == Near("a", "near ordered", ("x y",), 4)
    assert attr("a").has_phrase("x y", slop=1) == Near("a", "slop", ("x y",), 1)
    assert attr("a").has_phrase("x y") == Text("a", "phrase", ("x y",))


def test_search_box_takes_slop() -> None:
    assert to_text(from_search_box('"wool coat"~2 -"new york"~1', "t")) == (
        "t HAS PHRASE 'wool coat' SLOP 2 AND t NOT HAS PHRASE 'new york' SLOP 1"
    )
    assert to_text(from_search_box('"wool"~2 "a b"~ "c d"~0', "t")) == (
        "t HAS 'wool' AND t HAS PHRASE 'a b' AND t HAS PHRASE 'c d'"
    )


@pytest.mark.parametrize("column", ["values", "string"])
def test_bulk_table_takes_terms_and_a_number(column: str) -> None:
    table = pa.table(
        {
            "id": ["slop", "near", "none", "two", "narrow"],
            "attribute": ["a"] * 5,
            "operator": ["Has Sloppy Phrase", "not has near", "has near", "has near", "has near"],
            column: [["wool coat"], ["wool", "coat"], ["wool coat"], ["wool coat"], ["a b c"]],
            "number": pa.array([[1], [3], None, [1, 2], [2]], pa.list_(pa.int64())),
        }
    )
    index = Index.build(table, on_error="skip")
    assert sorted(name for name, _ in index.refused) == ["narrow", "none", "two"]
    assert sorted(index.match({"a": "wool blue coat"})) == ["slop"]
    assert sorted(index.match({"a": "wool and a coat"})) == ["near"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a HAS NEAR 'wool' WITHIN 5", "needs two terms or more; write HAS 'wool'"),
        ("a HAS NEAR 'wool coat' WITHIN 1", "no room for 2 terms; write WITHIN 2 or more"),
        ("a HAS PHRASE 'wool coat' SLOP -1", "whole number of at least 0"),
        ("a HAS PHRASE 'wool coat' SLOP 1.0", "whole number of at least 0"),
        ("a HAS PHRASE 'wool coat' SLOP 9223372036854775808", "whole number of at least 0"),
    ],
)
def test_operands_without_meaning_are_refused(text: str, reason: str) -> None:
    with pytest.raises(TypeMismatch, match=reason) as caught:
        parse(text)
    assert caught.value.position is not None


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_number_of_terms_is_limited(extra: int) -> None:
    limits = Limits(near_terms=5)
    text = f"a HAS PHRASE '{'x ' * (5 + extra)}' SLOP 1"
    if extra <= 0:
        assert isinstance(parse(text, limits), Near)
        return
    with pytest.raises(ExpressionLimit) as caught:
        parse(text, limits)
    assert caught.value.details["limit"] == "near_terms"


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("mode", MODES)
def test_text_is_close_from_its_least_distance_on(mode: Proximity, text: str) -> None:
    least = TEXTS[text][MODES.index(mode)]
    for distance in range(0 if mode == "slop" else 2, 7):
        tree = Near("a", mode, ("wool", "coat"), distance)
        expected = least is not None and distance >= least
        assert matches(tree, event_from({"a": text})) is expected, distance
        fresh = Index.build()
        fresh.add("s", tree)
        for index in (fresh, Index.build({"s": tree})):
            assert bool(index.match({"a": text.upper()})) is expected, distance


def test_two_values_do_not_complete_each_other() -> None:
    index = Index.build(
        {"near": "a HAS NEAR 'wool coat' WITHIN 9", "not": "a NOT HAS NEAR 'wool coat' WITHIN 9"}
    )
    index.add("head", "a HAS PHRASE 'wool coat' SLOP 9")
    assert index.match({"a": ["wool", "coat"]}) == ["not"]
    assert sorted(index.match({"a": ["wool", "coat of wool"]})) == ["head", "near"]


def test_equal_and_overlapping_terms_need_a_word_each() -> None:
    words = ["coat", "of", "coat"]
    two = [read_term("coat"), read_term("coat*")]
    assert not is_close("near", ["coat", "of"], two, 2)
    assert is_close("near", words, two, 3)
    assert is_close("slop", words, two, 1)
    assert not is_close("slop", words, [*two, read_term("c*")], 9)


def _by_definition(mode: Proximity, words: list[str], terms: list[str], distance: int) -> bool:
    """Choose a word for each term in all ways."""
    places = [[at for at, word in enumerate(words) if read_term(term).matches(word)] for term in terms]
    for chosen in product(*places):
        if len(set(chosen)) < len(chosen):
            continue
        if mode == "slop":
            shifted = [place - at for at, place in enumerate(chosen)]
            if max(shifted) - min(shifted) <= distance:
                return True
        elif max(chosen) - min(chosen) < distance and (mode == "near" or list(chosen) == sorted(chosen)):
            return True
    return False


@given(
    st.sampled_from(MODES),
    st.lists(st.sampled_from(["a", "b", "ab", "c"]), max_size=7),
    st.lists(st.sampled_from(["a", "b", "ab", "a*", "*b", "c"]), min_size=2, max_size=4),
    st.integers(0, 6),
)
def test_closeness_is_as_defined(mode: Proximity, words: list[str], terms: list[str], distance: int) -> None:
    found = is_close(mode, words, [read_term(term) for term in terms], distance)
    assert found == _by_definition(mode, words, terms, distance)


@given(*[st.sampled_from(MODES), st.permutations(["a", "b", "c"]), st.integers(3, 5)] * 2)
def test_implied_predicate_holds_wherever_the_other_does(
    mode: Proximity, terms: list[str], distance: int, other_mode: Proximity, others: list[str], other: int
) -> None:
    strong = Near("t", mode, tuple(terms), distance)
    weak: list[Predicate] = [Near("t", other_mode, tuple(others), other), Text("t", "all", tuple(others[:2]))]
    for tree in (*weak, Text("t", "any", ("a", "x"))):
        if implies(strong, tree):
            for text in map(" ".join, permutations(["a", "b", "c", "x", "y"])):
                event = event_from({"t": text})
                assert matches(tree, event) or not matches(strong, event)


def test_index_tests_places_only_if_all_terms_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    tested: list[object] = []
    monkeypatch.setattr("tamis.space.terms.is_close", lambda *given: tested.append(given) or is_close(*given))
    table = Terms()
    for number in range(100):
        table.add_check(f'["near", ["wool", "coat{number}"], 5]', number)
    assert table.find("wool and silk") == []
    assert table.find("wool for coat7") == [7]
    assert len(tested) == 1


def test_hostile_terms_and_texts_end() -> None:
    most = DEFAULT_LIMITS.near_terms
    tree = Near("t", "near", ("a* " * (most - 1) + "b",), most)
    assert check_tree(tree) == tree
    text = "a " * (most - 2) + "c " + "a " * 2_000 + "b"
    assert matches(tree, event_from({"t": text}))
    text = ("a " * (most - 2) + "c b ") * 100
    assert not matches(tree, event_from({"t": text}))


def test_stored_number_stands_behind_the_terms() -> None:
    writer = RowWriter()
    writer.add(parse("t HAS NEAR 'a b' WITHIN 3 AND t HAS AT LEAST 1 OF ('a', 'b') AND t HAS 'c'"))
    columns = writer.freeze()
    refused: list[str] = []

    def ensure(true: Any, what: str) -> None:
        if not true:
            refused.append(what)

    check_book(columns, ensure)
    assert refused == []
    assert tree_at(columns, 0) == writer.expression(0)
    for args in (columns.args[[1, 0, 2, 3, 4, 5]], columns.args[[0, 0, 2, 3, 4, 5]]):
        refused.clear()
        check_book(columns._replace(args=args), ensure)
        assert refused == ["a predicate of terms has no number, or several"]
