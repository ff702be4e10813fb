"""Mutate inputs of a saved corpus: the result is a tree or a Tamis error, never anything else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import TamisError
from tamis.expression.tree import Expr
from tamis.expression.truth import matches
from tamis.language import (
    check_tree,
    from_eventbridge,
    from_json,
    from_lucene,
    from_query_string,
    from_search_box,
    parse,
    to_json,
    to_text,
)
from tamis.normal import clauses_of
from tamis.values.event import Event

FOLDER = Path(__file__).parent / "corpus"
READERS: dict[str, Callable[[str], Expr]] = {
    "text": parse,
    "json": from_json,
    "query_string": from_query_string,
    "search_box": from_search_box,
    "eventbridge": from_eventbridge,
    "lucene": from_lucene,
}
CORPUS = {name: (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in READERS}
SCRAPS = [
    *(
        "AND",
        "OR",
        "NOT",
        "IN",
        "BETWEEN",
        "LIKE",
        "HAS",
        "ALL",
        "ANY",
        "WITHIN",
        "POLYGON (",
        "POINT (",
        "IS NULL",
    ),
    *(
        "(",
        ")",
        ",",
        "'",
        "''",
        '"',
        "`",
        "^",
        "=",
        "<>",
        "<=",
        "1",
        "-1",
        "1e9",
        ".",
        "0.5",
        "'x'",
        "TRUE",
        "DATE",
    ),
    *("CIDR", "\\", "%", "_", "{", "}", "[", "]", ":", "&", "+", "-", "\n", "\t", "\0", "é", "e\u0301", "𝒳"),
    *(
        "NEAR",
        "SLOP 2",
        "AT LEAST 2 OF",
        "~",
        "~2",
        "~3:hamming",
        "&&",
        "||",
        "!",
        "[a TO b}",
        "/a/",
        "\u3000",
    ),
    *("\u202e", "\ud800", "$time", "$point", "$or", "anything-but", "prefix", "numeric", "null", "*"),
]
EVENT = Event({"a": (1, "x", True), "t": ("new york plus-size wool",), "ip": ("10.0.0.1",)})


@st.composite
def mutated(draw: st.DrawFn, seeds: list[str]) -> str:
    """Return a seed with pieces cut, copied, swapped and inserted."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        low, high = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        kind = draw(st.sampled_from(["cut", "copy", "insert", "splice", "any"]))
        if kind == "cut":
            text = text[:low] + text[high:]
        elif kind == "copy":
            text = text[:high] + text[low:high] + text[high:]
        elif kind == "insert":
            text = text[:low] + draw(st.sampled_from(SCRAPS)) + text[low:]
        elif kind == "splice":
            text = text[:low] + draw(st.sampled_from(seeds))[low:]
        else:
            text = text[:low] + draw(st.text(max_size=3)) + text[low:]
    return text


def assert_read_or_refused(form: str, text: str) -> None:
    refusal: TamisError | None = None
    try:
        tree = READERS[form](text)
    except TamisError as bad:
        refusal = bad
    if refusal is not None:
        assert refusal.code.startswith("expression-"), refusal.code
        assert str(refusal)
        return
    assert check_tree(tree) == tree
    assert parse(to_text(tree)) == tree
    assert from_json(to_json(tree)) == tree
    matches(tree, EVENT)
    clauses_of(tree)


@pytest.mark.parametrize("form", READERS)
def test_corpus_is_read_or_refused(form: str) -> None:
    for text in CORPUS[form]:
        assert_read_or_refused(form, text)


@pytest.mark.parametrize("form", READERS)
@given(data=st.data())
@settings(max_examples=3 * settings.default.max_examples)
def test_mutated_input_is_read_or_refused(form: str, data: st.DataObject) -> None:
    assert_read_or_refused(form, data.draw(mutated(CORPUS[form])))


@pytest.mark.parametrize("form", READERS)
@given(text=st.text())
def test_any_text_is_read_or_refused(form: str, text: str) -> None:
    assert_read_or_refused(form, text)


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
OPERANDS = ("value", "values", "low", "high", "pattern", "patterns", "terms", "distance", "count")
OPERANDS += ("shape", "blocks", "weight")
keys = st.sampled_from(["and", "or", "not", "attribute", "op", "type", "coordinates", "$time", *OPERANDS])
data_trees = st.recursive(
    plain, lambda c: st.lists(c, max_size=3) | st.dictionaries(keys, c, max_size=5), max_leaves=12
)
ops = st.sampled_from(
    [
        "=",
        "!=",
        "<",
        "in",
        "not in",
        "between",
        "like",
        "ilike",
        "rlike",
        "within",
        "in network",
        "has any",
        "has near",
        "has sloppy phrase",
        "has at least",
        "like any",
        "exists",
    ]
)
shaped = st.fixed_dictionaries(
    {"attribute": st.just("a") | data_trees, "op": ops}, optional=dict.fromkeys(OPERANDS, data_trees)
)


@given(st.dictionaries(keys, data_trees | shaped, max_size=3) | shaped)
@settings(max_examples=3 * settings.default.max_examples)
def test_any_json_data_is_read_or_refused(form: dict[str, object]) -> None:
    try:
        tree = from_json(form)
    except TamisError:
        return
    assert parse(to_text(tree)) == tree
