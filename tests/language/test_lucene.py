"""Test Lucene queries: a corpus with the verdicts of Lucene itself, options, weights and hostile texts.

``tools/lucene_corpus.py`` asks Lucene's classic query parser and its MemoryIndex for the verdicts.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, parse, to_text
from tamis.errors import ExpressionError, InputError, ParseError
from tamis.expression.tree import Expr
from tamis.expression.truth import matches
from tamis.language import from_lucene
from tamis.language.lucene.regexes import to_re2
from tamis.values.event import event_from
from tamis.values.terms import read_term

FOLDER = Path(__file__).parent / "lucene"
PAGE = Path(__file__).parents[2] / "docs" / "lucene.md"
DOCUMENTS, CASES = (
    [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    for name in ("documents.jsonl", "cases.jsonl")
)
DIFFERENCES = {
    "only prohibited clauses": 155,
    "Lucene's own expressions": 8,
    "a sign inside one word": 5,
    "~ behind a pattern": 3,
    "no number behind ~": 2,
    "no word at all": 2,
    "the field \\*": 2,
    "several default fields": 1,
}


def read(query: str, **options: Any) -> Expr | ExpressionError:
    """Return the tree of a query, or the reason why it is refused."""
    try:
        return from_lucene(query, **options)
    except ExpressionError as bad:
        return bad


def tree_of(case: dict[str, Any]) -> Expr | None:
    """Return the tree of a case; ``None`` if it is refused, with a place and a reason."""
    options = {"default_field": case.get("fields", ["text"]), "default_operator": case.get("operator", "OR")}
    found = read(case["query"], **options)
    if not isinstance(found, ExpressionError):
        return found
    assert found.message
    assert found.position is not None
    assert 0 <= found.position <= len(case["query"])
    return None


def expected_of(case: dict[str, Any]) -> str:
    return "refused" if (verdict := case.get("ours", case["found"])) == "error" else str(verdict)


TREES = [tree_of(case) for case in CASES]


def test_corpus_has_the_verdicts_of_lucene() -> None:
    events = [event_from(document) for document in DOCUMENTS]
    for case, tree in zip(CASES, TREES, strict=True):
        found = "refused" if tree is None else "".join(str(int(matches(tree, event))) for event in events)
        assert found == expected_of(case), case
    assert len(CASES) == 1_608
    assert sum(case["found"] == "error" for case in CASES) == 53


def test_every_difference_to_lucene_is_known_and_documented() -> None:
    assert Counter(case["why"] for case in CASES if "ours" in case) == DIFFERENCES
    page = PAGE.read_text(encoding="utf-8")
    assert [why for why in DIFFERENCES if f"**{why}**" not in page] == []


@pytest.mark.parametrize("engine", ["hybrid", "presearch", "head"])
def test_index_finds_the_documents_that_lucene_finds(engine: str) -> None:
    trees = {str(at): tree for at, tree in enumerate(TREES) if tree is not None}
    index = Index.build() if engine == "head" else Index.build(trees, engine=engine)
    if engine == "head":
        for name, tree in trees.items():
            index.add(name, tree)
    for row, document in enumerate(DOCUMENTS):
        expected = {name for name in trees if expected_of(CASES[int(name)])[row] == "1"}
        assert set(index.match(document)) == expected, document


@pytest.mark.parametrize("case", CASES[::7], ids=lambda case: case["query"][:40])
def test_query_prints_back_as_our_language(case: dict[str, Any]) -> None:
    tree = tree_of(case)
    if tree is not None:
        assert parse(to_text(tree)) == tree


def test_ranges_are_of_words_if_values_are_not_typed() -> None:
    assert to_text(from_lucene("x:[10 TO 50}")) == "x BETWEEN 10 AND 49.99999999999999"
    assert to_text(from_lucene("x:[10 TO 50}", typed=False)) == "x HAS '[10 TO 50}'"
    assert to_text(from_lucene("x:10 ok:true", typed=False)) == "x HAS '10' OR ok HAS 'true'"
    assert to_text(from_lucene("10 true")) == "text HAS '10' OR text HAS 'true'"


def test_one_value_lies_in_a_range() -> None:
    index = Index.build(
        {"open": from_lucene("x:{1 TO 5}"), "days": from_lucene("d:[2020-01-01 TO 2020-01-31]")}
    )
    assert index.match({"x": [0, 9]}) == []
    assert index.match({"x": [1, 5]}) == []
    assert index.match({"x": 1.5}) == ["open"]
    assert index.match({"d": {"$time": "2020-01-31T23:00:00Z"}}) == ["days"]
    assert index.match({"d": {"$time": "2020-02-01T00:00:00Z"}}) == []


@pytest.mark.parametrize(
    ("query", "low", "high"),
    [
        ("x:{9223372036854775807 TO 9223372036854775807}", 9223372036854775807, 2.0**64),
        ("x:[1e308 TO 1e309]", 1e308, 1.0),
        ("d:{9999-12-31 TO 9999-12-31}", 0, 1),
        ("d:{0001-01-01 TO 0001-01-01}", 0, 1),
    ],
)
def test_ends_of_all_values_are_read_or_refused(query: str, low: Any, high: Any) -> None:
    tree = read(query)
    if isinstance(tree, ExpressionError):
        assert tree.position is not None
        return
    assert parse(to_text(tree)) == tree
    assert Index.build({"s": tree}).match({"x": low, "d": high}) == []


def test_boosts_become_weights_of_the_best_matches() -> None:
    index = Index.build({"much": from_lucene("wool^4 coat"), "less": from_lucene("(wool coat)^2 silk^9")})
    assert index.top_k({"text": "wool coat"}, 2) == [
        ("much", 4.0),
        ("less", 2.0),
    ]


def test_optional_clause_adds_to_the_score_only() -> None:
    index = Index.build({"s": from_lucene("+wool coat^3")})
    assert index.top_k({"text": "wool"}, 1) == [("s", 1.0)]
    assert index.top_k({"text": "wool coat"}, 1) == [("s", 4.0)]


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="'AND' or 'OR'"):
        from_lucene("a", default_operator="and")
    with pytest.raises(InputError, match="names no field"):
        from_lucene("a", default_field=[])
    with pytest.raises(ParseError, match="a string, not a int"):
        from_lucene(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "query",
    [
        "(" * 5_000,
        "a:" * 5_000,
        "+" * 16_000,
        "a AND " * 2_000,
        '"' + "a " * 8_000 + '"~9',
        "\\" * 16_001,
        "[" * 16_000,
    ],
    ids=lambda query: query[:8],
)
def test_hostile_query_is_refused_with_its_place(query: str) -> None:
    with pytest.raises(ExpressionError):
        from_lucene(query)


@pytest.mark.parametrize("query", ["*" * 16_000, "a*" * 500, "?" * 900, "a~" * 1, "/" + "(a|b)*" * 100 + "/"])
def test_long_pattern_is_read_in_time(query: str) -> None:
    tree = from_lucene(query)
    assert not matches(tree, event_from({"title": "a" * 1_000}))


@given(st.text(st.sampled_from('ab/[]^-\\d"@(){}12,.|*+?'), max_size=12))
def test_translated_expression_is_read_or_refused(pattern: str) -> None:
    try:
        term = read_term(f"/{to_re2(pattern).replace('/', chr(92) + '/')}/")
    except ExpressionError:
        return
    term.matches("ab")


@given(
    st.lists(
        st.sampled_from(["a", "b", " ", " AND ", " OR ", "+", "-", "(", ")", ":", "^2", "~1", '"', "*"]),
        max_size=14,
    )
)
def test_query_of_signs_is_read_or_refused(pieces: list[str]) -> None:
    query = "".join(pieces)
    tree = read(query)
    if isinstance(tree, ExpressionError):
        assert tree.position is None or tree.position <= len(query)
    else:
        assert parse(to_text(tree)) == tree
