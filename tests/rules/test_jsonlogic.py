"""Test rules of JsonLogic: each operation, each refusal, and a duel with rules that hold their data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import rules
from tests.rules.reading import imported, verdict

A = {"var": "a"}
STRICT = " | a: == compares type and value; JavaScript also takes 1, '1' and true for equal"
EXPRESSED: list[tuple[Any, str]] = [
    (A, "a NOT IN (FALSE, 0, '')"),
    ({"!": A}, "NOT a NOT IN (FALSE, 0, '')"),
    ({"===": [A, 5]}, "a = 5"),
    ({"!==": [5, {"var": ["a.b"]}]}, "NOT a.b = 5"),
    ({"==": [A, 5]}, "a = 5" + STRICT),
    ({"==": [A, None]}, "a IS NULL"),
    ({"===": [{"var": ["a", 5]}, 5]}, "a = 5 OR a IS NULL"),
    ({">": [A, 5]}, "a > 5"),
    (
        {">": [5, A]},
        "a < 5 | a < 5: absent data counts as 0 in JavaScript, and is false here; coerce='js' keeps it",
    ),
    ({"<": [1, A, 5]}, "a BETWEEN 1.0000000000000002 AND 4.999999999999999"),
    ({"in": [A, ["x", "y", None]]}, "a IN ('x', 'y') OR a IS NULL"),
    (
        {"in": ["x", A]},
        "a CONTAINS 'x' | a: of an array, an element that holds the text is enough;"
        " JsonLogic needs an equal element",
    ),
    ({"missing": ["a", "b"]}, "(a IS NULL OR a = '') OR (b IS NULL OR b = '')"),
    ({"missing_some": [1, ["a", "b"]]}, "(a IS NULL OR a = '') AND (b IS NULL OR b = '')"),
    ({"some": [A, {">": [{"var": "qty"}, 1]}]}, "a.qty > 1"),
    ({"none": [A, {"===": [{"var": ""}, 1]}]}, "NOT a = 1"),
    (
        {"all": [A, {">=": [{"var": ""}, 1]}]},
        "a IS NOT NULL AND NOT a < 1 | a: elements that are no numbers, or lack the field, pass 'all'",
    ),
    ({"if": [{"===": [A, 1]}, {"===": [{"var": "b"}, 2]}, False]}, "a = 1 AND b = 2 OR NOT a = 1 AND FALSE"),
    ({"and": [{"===": [A, 1]}, {"==": ["1", 1]}]}, "a = 1 AND TRUE"),
    ({"===": [A, {"+": ["2", 3]}]}, "a = 5"),
    ({"cat": ["", ""]}, "FALSE"),
]


@pytest.mark.parametrize(("rule", "text"), EXPRESSED, ids=lambda part: str(part)[:40])
def test_rule_becomes_a_condition(rule: Any, text: str) -> None:
    assert imported("jsonlogic", rule) == text


REFUSED: list[tuple[Any, str]] = [
    ({"<": [A, {"var": "b"}]}, "with another attribute"),
    ({">": [{"+": [A, 1]}, 5]}, "computes nothing of data"),
    ({"==": [A, [1]]}, "as a whole"),
    ({"var": ""}, "all data at once"),
    ({"var": "a.0"}, "an element at its place"),
    ({"var": A}, "computes no names"),
    ({"map": [A, 1]}, "computes no 'map'"),
    ({"all": [A, {"==": [{"var": ""}, 1]}]}, "'all' with <, <="),
    ({"some": [A, {"and": []}]}, "one comparison"),
    ({"nosuch": 1}, "no operation 'nosuch'"),
    ({"<": [A, True]}, "an order with a boolean"),
    ({"substr": []}, "does not take 0 arguments"),
]


@pytest.mark.parametrize(("rule", "reason"), REFUSED, ids=lambda part: str(part)[:40])
def test_rule_that_cannot_be_expressed_is_refused(rule: Any, reason: str) -> None:
    found = imported("jsonlogic", rule)
    assert found.startswith("refused: ")
    assert reason in found


def test_deep_rule_is_refused() -> None:
    rule: Any = A
    for _ in range(200):
        rule = {"!": rule}
    assert "deeper than" in imported("jsonlogic", rule)


def test_unknown_coercion_is_refused() -> None:
    with pytest.raises(rules.formats.InputError, match="coerce is one of none, js"):
        rules.read("jsonlogic", "true", coerce="php")


VALUES = st.sampled_from([True, False, 0, 1, 2, -1, "a", "b"])
VARIABLES = st.sampled_from([{"var": "a"}, {"var": "b"}, {"var": ["a", 1]}])
LEAVES = st.one_of(
    VARIABLES,
    VALUES,
    st.builds(lambda sign, one, two: {sign: [one, two]}, st.sampled_from(["==", "!="]), VARIABLES, VALUES),
    st.builds(
        lambda sign, one, two: {sign: [one, two]},
        st.sampled_from(["===", "!=="]),
        VARIABLES,
        VALUES,
    ),
    st.builds(
        lambda sign, one, two, flip: {sign: [two, one] if flip else [one, two]},
        st.sampled_from(["<", "<=", ">", ">="]),
        VARIABLES,
        st.sampled_from([0, 1, 2, -1, "a", "b"]),
        st.booleans(),
    ),
    st.builds(
        lambda one, many: {"in": [one, many]}, st.sampled_from([{"var": "a"}, {"var": "b"}]), st.lists(VALUES)
    ),
    st.builds(lambda names: {"missing": names}, st.lists(st.sampled_from("ab"), unique=True)),
)
RULES = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda one: {"!": one}, inner)
        | st.builds(
            lambda name, parts: {name: parts},
            st.sampled_from(["and", "or", "if"]),
            st.lists(inner, min_size=1, max_size=3),
        )
    ),
    max_leaves=6,
)


def inlined(rule: Any, event: dict[str, Any]) -> Any:
    """Return the rule with its data in the place of variables; its constants are then worked out."""
    if isinstance(rule, list):
        return [inlined(one, event) for one in rule]
    if not isinstance(rule, dict):
        return rule
    ((name, given),) = rule.items()
    if name == "var":
        path, default = given if isinstance(given, list) else (given, None)
        return event.get(path, default)
    if name == "missing":
        return [one for one in given if event.get(one) in (None, "")]
    return {name: inlined(given, event)}


@given(RULES, st.lists(st.dictionaries(st.sampled_from("ab"), VALUES), min_size=1, max_size=5))
def test_coerced_rules_decide_as_rules_with_their_data_inside(
    rule: Any, events: list[dict[str, Any]]
) -> None:
    for event in events:
        constant = verdict("jsonlogic", {"!!": [inlined(rule, event)]}, {}, coerce="js")
        assert verdict("jsonlogic", rule, event, coerce="js") == constant, event
