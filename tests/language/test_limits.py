"""Test every bound on expressions at L-1, L and L+1, in each form that can exceed it."""

from __future__ import annotations

from typing import Any

import pytest

from tamis.errors import ExpressionLimit
from tamis.expression.predicates import Compare, In, Network, Regex, Text, Within
from tamis.expression.tree import TRUE, And, Expr, Not, Or
from tamis.language import (
    attr,
    check_tree,
    expression_from,
    from_eventbridge,
    from_json,
    from_lucene,
    from_query_string,
    from_search_box,
    parse,
    to_json,
    to_text,
)
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.shape import Polygon

EDGES = (-1, 0, 1)


def assert_edge(name: str, limits: Limits, read: Any, source: Any, over: bool) -> None:
    if not over:
        read(source, limits)
        return
    with pytest.raises(ExpressionLimit, match=name) as caught:
        read(source, limits)
    assert caught.value.details["limit"] == name


def nested(depth: int) -> Expr:
    """Return a tree of exactly ``depth`` levels, of alternating nodes."""
    leaf = Compare("a", "=", 1)
    tree: Expr = leaf
    for level in range(depth - 1):
        tree = (Not(tree), And((leaf, tree)), Or((leaf, tree)))[level % 3]
    return tree


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("bound", [1, 2, 3, 7, DEFAULT_LIMITS.expression_depth])
def test_depth_limit_is_exact(bound: int, edge: int) -> None:
    if bound + edge < 1:
        return
    tree, limits = nested(bound + edge), Limits(expression_depth=bound)
    for read, source in ((parse, to_text(tree)), (from_json, to_json(tree)), (check_tree, tree)):
        assert_edge("expression_depth", limits, read, source, edge > 0)


@pytest.mark.parametrize("edge", EDGES)
def test_depth_limit_counts_parentheses_and_nots(edge: int) -> None:
    levels = DEFAULT_LIMITS.expression_depth + edge - 1
    for text in (f"{'(' * levels}a = 1{')' * levels}", f"{'NOT ' * levels}a = 1"):
        assert_edge("expression_depth", DEFAULT_LIMITS, parse, text, edge > 0)


@pytest.mark.parametrize("text", ["(" * 16_000, "NOT " * 4_000, "NOT(" * 4_000, "((a=1 OR" * 2_000])
def test_deep_text_is_refused_without_recursion_error(text: str) -> None:
    with pytest.raises(ExpressionLimit, match="expression_depth") as caught:
        parse(text)
    assert caught.value.position is not None


def test_generous_depth_limit_causes_no_recursion_error() -> None:
    with pytest.raises(ExpressionLimit, match="expression_depth"):
        parse("(" * 16_000, Limits(expression_depth=100_000))


def test_shared_nodes_count_each_time() -> None:
    for leaf in (TRUE, Compare("a", "=", 1)):
        tree: Expr = leaf
        for _ in range(31):
            tree = And((tree, tree))
        with pytest.raises(ExpressionLimit, match="expression_predicates"):
            check_tree(tree)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("bound", [1, 5, DEFAULT_LIMITS.expression_predicates])
def test_predicate_limit_is_exact(bound: int, edge: int) -> None:
    if bound + edge < 1:
        return
    tree = check_tree(And((Compare("a", "=", 1),) * (bound + edge)), Limits(expression_predicates=10_000))
    limits = Limits(expression_predicates=bound)
    for read, source in ((parse, to_text(tree)), (from_json, to_json(tree)), (check_tree, tree)):
        assert_edge("expression_predicates", limits, read, source, edge > 0)
    odd = " OR ".join(["a = 1 ^ 2"] * (bound + edge))  # not for the fast lane
    assert_edge("expression_predicates", limits, parse, odd, edge > 0)
    assert_edge("expression_predicates", limits, from_search_box_text, "w " * (bound + edge), edge > 0)


def from_search_box_text(text: str, limits: Limits) -> Expr:
    return from_search_box(text, limits=limits)


@pytest.mark.parametrize("edge", EDGES)
def test_text_bytes_limit_is_exact(edge: int) -> None:
    size = DEFAULT_LIMITS.expression_bytes + edge
    for text in (f"a = '{'x' * (size - 6)}'", f"a = '{'é' * ((size - 6) // 2)}{'x' * (size % 2)}'"):
        assert len(text.encode()) == size
        assert_edge("expression_bytes", DEFAULT_LIMITS, parse, text, edge > 0)
    assert_edge("expression_bytes", DEFAULT_LIMITS, from_query_string, f"a={'x' * (size - 2)}", edge > 0)
    assert_edge("expression_bytes", DEFAULT_LIMITS, from_search_box_text, "x" * size, edge > 0)
    assert_edge("expression_bytes", DEFAULT_LIMITS, from_json, json_of_size(size), edge > 0)


@pytest.mark.parametrize("edge", EDGES)
def test_limits_hold_for_eventbridge_patterns(edge: int) -> None:
    """The limits count bytes and levels of the pattern as written, predicates and values of its tree."""
    size = DEFAULT_LIMITS.expression_bytes + edge
    text = '{"a": [""]}'.replace('""', f'"{"x" * (size - 11)}"')
    assert_edge("expression_bytes", DEFAULT_LIMITS, from_eventbridge, text, edge > 0)
    for bound in (2, 7, DEFAULT_LIMITS.expression_depth):
        limits = Limits(expression_depth=bound)
        pattern: Any = {"a": [1]}
        for level in range(bound + edge - 1):
            pattern = {"b": pattern} if level % 2 else {"$or": [pattern, {"c": [2]}]}
        assert_edge("expression_depth", limits, from_eventbridge, pattern, edge > 0)
    count = DEFAULT_LIMITS.expression_predicates + edge
    for pattern in (
        {f"a{at}": [1] for at in range(count)},
        {"a": [{"prefix": "x"}] * count},
        {"a": [None] + [{"prefix": "x"}] * (count - 1)},
    ):
        assert_edge("expression_predicates", DEFAULT_LIMITS, from_eventbridge, pattern, edge > 0)
    values = {"a": list(range(DEFAULT_LIMITS.in_list_values + edge))}
    assert_edge("in_list_values", DEFAULT_LIMITS, from_eventbridge, values, edge > 0)
    name = "n" * (DEFAULT_LIMITS.attribute_name_bytes + edge - 2)
    for entry in (1, None):
        assert_edge(
            "attribute_name_bytes", DEFAULT_LIMITS, from_eventbridge, {"a": {name: [entry]}}, edge > 0
        )


def json_of_size(size: int) -> str:
    bare = '{"attribute": "a", "op": "=", "value": ""}'
    return bare.replace('""', '"' + "x" * (size - len(bare)) + '"')


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("bound", [2, 9])
def test_in_list_limit_is_exact_in_text(bound: int, edge: int) -> None:
    limits = Limits(in_list_values=bound)
    for item in ("1", "'x'", "DATE '2026-01-01'"):
        text = f"a IN ({', '.join([item] * (bound + edge))})"
        assert_edge("in_list_values", limits, parse, text, edge > 0)
    blocks = ", ".join(["'10.0.0.0/8'"] * (bound + edge))
    assert_edge("in_list_values", limits, parse, f"a IN CIDR ({blocks})", edge > 0)
    terms = ", ".join(["'x'"] * (bound + edge))
    assert_edge("in_list_values", limits, parse, f"a HAS ANY ({terms})", edge > 0)


@pytest.mark.parametrize("edge", EDGES)
def test_in_list_limit_is_exact_in_data(edge: int) -> None:
    count = DEFAULT_LIMITS.in_list_values + edge
    for tree in (
        In("a", tuple(range(count))),
        Text("a", "any", ("x",) * count),
        Network("a", ("10.0.0.1",) * count),
    ):
        assert_edge("in_list_values", DEFAULT_LIMITS, check_tree, tree, edge > 0)
    form = {"attribute": "a", "op": "in", "values": list(range(count))}
    assert_edge("in_list_values", DEFAULT_LIMITS, from_json, form, edge > 0)


@pytest.mark.parametrize("edge", EDGES)
def test_string_bytes_limit_is_exact(edge: int) -> None:
    size = DEFAULT_LIMITS.string_bytes + edge
    for text in ("x" * size, "é" * (size // 2) + "x" * (size % 2)):
        for tree in (
            attr("a") == text,
            attr("a").isin(text),
            attr("a").like(text),
            attr("a").between("", text),
        ):
            assert_edge("string_bytes", DEFAULT_LIMITS, check_tree, tree, edge > 0)
    limits = Limits(string_bytes=8)
    for written in (
        f"a = '{'x' * (8 + edge)}'",
        f"a IN ('{'x' * (8 + edge)}', 'y')",
        f"a HAS '{'x' * (8 + edge)}'",
    ):
        assert_edge("string_bytes", limits, parse, written, edge > 0)


@pytest.mark.parametrize("edge", EDGES)
def test_attribute_name_bytes_limit_is_exact(edge: int) -> None:
    size = DEFAULT_LIMITS.attribute_name_bytes + edge
    for name in ("n" * size, "é" * (size // 2) + "n" * (size % 2)):
        tree = Compare(name, "=", 1)
        for read, source in ((parse, to_text(tree)), (from_json, to_json(tree)), (check_tree, tree)):
            assert_edge("attribute_name_bytes", DEFAULT_LIMITS, read, source, edge > 0)


@pytest.mark.parametrize("edge", EDGES)
def test_regex_characters_limit_is_exact(edge: int) -> None:
    for character in "xé":
        tree = Regex("a", character * (DEFAULT_LIMITS.regex_characters + edge))
        for read, source in ((parse, to_text(tree)), (from_json, to_json(tree)), (check_tree, tree)):
            assert_edge("regex_characters", DEFAULT_LIMITS, read, source, edge > 0)


@pytest.mark.parametrize("edge", EDGES)
def test_polygon_vertices_limit_is_exact(edge: int) -> None:
    count = DEFAULT_LIMITS.polygon_vertices + edge
    ring = ((0.0, 0.0), *((1.0, i / count) for i in range(count - 6)), (0.0, 0.0))
    hole = ((0.9, 0.1), (0.9, 0.2), (0.95, 0.2), (0.9, 0.1))
    tree = Within("p", Polygon(((ring, hole),)))
    assert_edge("polygon_vertices", DEFAULT_LIMITS, check_tree, tree, edge > 0)
    assert_edge("polygon_vertices", DEFAULT_LIMITS, from_json, to_json(tree), edge > 0)
    roomy = Limits(expression_bytes=1 << 20)
    assert_edge("polygon_vertices", roomy, parse, to_text(tree), edge > 0)


def test_limits_reach_expression_from() -> None:
    tight = Limits(expression_predicates=1)
    for source in ("a = 1 AND b = 2", And((Compare("a", "=", 1), Compare("b", "=", 2)))):
        with pytest.raises(ExpressionLimit):
            expression_from(source, tight)
        with pytest.raises(ExpressionLimit):
            expression_from(to_json(expression_from(source)), tight)


def from_lucene_text(text: str, limits: Limits) -> Expr:
    return from_lucene(text, limits=limits)


@pytest.mark.parametrize("edge", EDGES)
def test_limits_hold_for_lucene_queries(edge: int) -> None:
    """The limits count bytes and groups of the query as written, predicates of its tree."""
    size = DEFAULT_LIMITS.expression_bytes + edge
    assert_edge("expression_bytes", DEFAULT_LIMITS, from_lucene_text, "x" * size, edge > 0)
    for bound in (2, 7, DEFAULT_LIMITS.expression_depth):
        query = "(" * (bound + edge - 1) + "a" + ")" * (bound + edge - 1)
        assert_edge("expression_depth", Limits(expression_depth=bound), from_lucene_text, query, edge > 0)
    count = DEFAULT_LIMITS.expression_predicates + edge
    assert_edge("expression_predicates", DEFAULT_LIMITS, from_lucene_text, "w " * count, edge > 0)
    name = "n" * (DEFAULT_LIMITS.attribute_name_bytes + edge)
    assert_edge("attribute_name_bytes", DEFAULT_LIMITS, from_lucene_text, f"{name}:x", edge > 0)
    regex = f"/{'x' * (DEFAULT_LIMITS.regex_characters + edge)}/"
    assert_edge("regex_characters", DEFAULT_LIMITS, from_lucene_text, regex, edge > 0)
    phrase = f'"{"w " * (DEFAULT_LIMITS.near_terms + edge)}"~2'
    assert_edge("near_terms", DEFAULT_LIMITS, from_lucene_text, phrase, edge > 0)
