"""Whatever form a tree is written in, it comes back the same."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tamis.expression.predicates import PREDICATES, Compare, In
from tamis.expression.tree import And, Expr, Not, Or, predicates_of
from tamis.language import check_tree, expression_from, from_json, parse, span_of, to_json, to_text
from tamis.language.fast import read_plain
from tamis.language.parse import read_expression
from tamis.language.scan import Cursor
from tamis.limits import DEFAULT_LIMITS
from tests.strategies import expressions, names, numbers, strings


def typed(expr: Expr) -> Any:
    """The tree with the types of its operands, which equality in Python does not see: ``1 == True``."""
    found = []
    for p in predicates_of(expr):
        operands = p.values if isinstance(p, In) else (getattr(p, "value", None), getattr(p, "low", None))
        found.append((type(p), [type(operand) for operand in operands]))
    return expr, found


@given(expressions())
def test_parse_of_print_is_the_identity(expr: Expr) -> None:
    assert typed(parse(to_text(expr))) == typed(expr)


@given(expressions())
def test_json_there_and_back(expr: Expr) -> None:
    assert typed(from_json(to_json(expr))) == typed(expr)
    assert typed(from_json(json.dumps(to_json(expr)))) == typed(expr)


@given(expressions())
def test_text_to_json_to_text(expr: Expr) -> None:
    text = to_text(expr)
    assert to_text(from_json(to_json(parse(text)))) == text


@given(expressions())
def test_a_checked_tree_is_left_alone(expr: Expr) -> None:
    assert typed(check_tree(expr)) == typed(expr)
    assert expression_from(expr) == expression_from(to_text(expr)) == expression_from(to_json(expr)) == expr


plain_predicates = st.builds(
    Compare, names, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), numbers() | strings()
) | st.builds(In, names, st.lists(numbers() | strings(), max_size=3).map(tuple))


@given(st.lists(plain_predicates, min_size=1, max_size=5), st.sampled_from([" AND ", "  and\n", "\tAnd "]))
def test_the_fast_lane_agrees_with_the_grammar(predicates: list[Expr], word: str) -> None:
    text = word.join(to_text(check_tree(p)) for p in predicates)
    slow = read_expression(Cursor(text, DEFAULT_LIMITS))
    fast = read_plain(text, DEFAULT_LIMITS)
    assert fast is None or typed(fast) == typed(slow)
    assert typed(parse(text)) == typed(slow)


@given(expressions())
def test_the_fast_lane_agrees_with_the_grammar_inside_trees(expr: Expr) -> None:
    text = to_text(expr)
    assert typed(read_expression(Cursor(text, DEFAULT_LIMITS))) == typed(parse(text))


def test_the_fast_lane_takes_plain_conjunctions() -> None:
    text = "model = 'iphone5s' AND price <= 580 AND ratio > -0.5 AND city IN ('Oslo', 'Rome', 7)"
    assert read_plain(text, DEFAULT_LIMITS) == parse(text)


def test_nesting_is_kept_and_single_children_are_not() -> None:
    a, b, c = (Compare(name, "=", 1) for name in "abc")
    for tree in (
        And((And((a, b)), c)),
        And((a, And((b, c)))),
        Or((Or((a, b)), And((b, c)))),
        Not(Not(Or(()))),
    ):
        assert parse(to_text(tree)) == tree
    assert check_tree(And((Or((And((a,)),)),))) == a


@given(expressions())
def test_trees_hold_no_node_with_a_single_child(expr: Expr) -> None:
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, And | Or):
            assert len(node.children) != 1
            stack.extend(node.children)
        elif isinstance(node, Not):
            stack.append(node.child)
        else:
            assert isinstance(node, PREDICATES)


@given(expressions())
def test_spans_are_where_the_parts_stand(expr: Expr) -> None:
    text = to_text(expr)
    stack = [(expr, span_of(expr))]
    while stack:
        node, span = stack.pop()
        assert text[span.start : span.end] == to_text(node)
        stack.extend(zip(node.children, span.children, strict=True))
