"""Test EventBridge patterns: the answers of a plain reading, and refusals with a path."""

from __future__ import annotations

import ipaddress
import json
import re
from itertools import product
from operator import eq, ge, gt, le, lt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import ExpressionError, ExpressionLimit, InputError, ParseError, TamisError
from tamis.expression.truth import matches
from tamis.language import FORMS, expression_from, from_eventbridge, parse, read, to_json, to_text
from tamis.language.eventbridge.wildcard import most_states
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.event import event_from

# -- a second opinion: patterns looked up in the event, without our trees -------------------------------


def leaves(event: Any, name: str = "") -> list[tuple[str, Any]]:
    if isinstance(event, dict):
        return [pair for key, item in event.items() for pair in leaves(item, f"{name}.{key}".lstrip("."))]
    if isinstance(event, list):
        return [pair for item in event for pair in leaves(item, name)]
    return [(name, event)]


def agrees(pattern: dict[str, Any], found: list[tuple[str, Any]], name: str = "") -> bool:
    for key, body in pattern.items():
        if key == "$or":
            good = any(agrees(branch, found, name) for branch in body)
        elif isinstance(body, dict):
            good = agrees(body, found, f"{name}.{key}".lstrip("."))
        else:
            held = [value for at, value in found if at == f"{name}.{key}".lstrip(".")]
            good = any(entry_agrees(entry, held) for entry in body)
        if not good:
            return False
    return True


def entry_agrees(entry: Any, held: list[Any]) -> bool:
    if not isinstance(entry, dict):
        return any(same(entry, value) for value in held)
    ((operator, operand),) = entry.items()
    if operator == "exists":
        return bool(held) == operand
    if operator == "anything-but":
        inner = operand if isinstance(operand, dict) else {"one of": operand}
        ((kind, listed),) = inner.items()
        each = listed if isinstance(listed, list) else [listed]
        denied = [value for value in held for item in each if value_agrees(kind, item, value)]
        return bool(held) and (not denied or None in held)
    return any(value_agrees(operator, operand, value) for value in held)


def same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


SIGNS = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


def value_agrees(operator: str, operand: Any, value: Any) -> bool:
    if operator == "one of":
        return same(operand, value)
    if operator == "numeric":
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        pairs = zip(operand[::2], operand[1::2], strict=True)
        return all(SIGNS[sign](value, number) for sign, number in pairs)
    if not isinstance(value, str):
        return False
    if isinstance(operand, dict):
        operand, value = operand["equals-ignore-case"].lower(), value.lower()
    match operator:
        case "prefix":
            return value.startswith(operand)
        case "suffix":
            return value.endswith(operand)
        case "equals-ignore-case":
            return value.lower() == operand.lower()
        case "wildcard":
            return re.fullmatch(expression_of(operand), value, re.DOTALL) is not None
        case "cidr":
            return address(value) in ipaddress.ip_network(operand, strict=False)
    raise AssertionError(operator)


def expression_of(wildcard: str) -> str:
    pieces = re.findall(r"\\.|\*|[^*\\]", wildcard, re.DOTALL)
    return "".join(".*" if piece == "*" else re.escape(piece[-1]) for piece in pieces)


def address(text: str) -> Any:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return ipaddress.ip_address("::")


words = st.sampled_from(["", "a", "ab", "b", "aXb", "A", "aB", "%", "_b", "a\\", "10.0.0.1", "*"])
numbers = st.sampled_from([0, 1, -1, 1.0, 2, 2.5, 2**53, 2**53 + 1, 9.0, 5e-324])
scalars = words | numbers | st.booleans() | st.none()
letters = st.lists(st.sampled_from(["a", "b", "\\*", "\\\\", "%"]), max_size=2).map("".join)
wildcards = st.lists(letters.filter(bool), max_size=3).map("*".join) | st.sampled_from(
    ["*", "*a", "b*", "*b*"]
)
ranges = st.tuples(st.sampled_from([">", ">="]), numbers, st.sampled_from(["<", "<="]), numbers).filter(
    lambda ends: ends[1] < ends[3]
)
numerics = ranges.map(list) | st.tuples(st.sampled_from(["=", "<", "<=", ">", ">="]), numbers).map(list)
strings = {"prefix": words, "suffix": words, "equals-ignore-case": words, "wildcard": wildcards}


def denials() -> st.SearchStrategy[Any]:
    lists = st.lists(words, min_size=1, max_size=2) | st.lists(numbers, min_size=1, max_size=2)
    inner = [
        (each.filter(bool) | st.lists(each.filter(bool), min_size=1, max_size=2)).map(
            lambda operand, name=name: {name: operand}
        )
        for name, each in strings.items()
    ]
    return words | numbers | lists | st.one_of(inner)


entries = st.one_of(
    scalars,
    *[each.map(lambda operand, name=name: {name: operand}) for name, each in strings.items()],
    words.map(lambda word: {"prefix": {"equals-ignore-case": word}}),
    words.map(lambda word: {"suffix": {"equals-ignore-case": word}}),
    numerics.map(lambda operand: {"numeric": operand}),
    st.booleans().map(lambda operand: {"exists": operand}),
    st.sampled_from(["10.0.0.0/24", "11.0.0.0/8"]).map(lambda operand: {"cidr": operand}),
    denials().map(lambda operand: {"anything-but": operand}),
)
names = st.sampled_from(["a", "b", "c-d", "e.f"])
fields = st.dictionaries(names, st.lists(entries, min_size=1, max_size=3), min_size=1, max_size=3)
patterns = st.recursive(
    fields,
    lambda inner: st.builds(
        lambda plain, nested, choice: plain | nested | ({"$or": choice} if choice else {}),
        fields,
        st.dictionaries(st.sampled_from(["d", "g"]), inner, max_size=1),
        st.just([]) | st.lists(inner, min_size=2, max_size=3),
    ),
    max_leaves=4,
)
held = scalars | scalars | st.lists(scalars, max_size=3)
objects = st.dictionaries(names, held, max_size=4)
events = st.builds(
    lambda plain, nested: plain | nested, objects, st.dictionaries(st.sampled_from("dg"), objects)
)


@given(patterns, st.lists(events, min_size=1, max_size=4))
@settings(max_examples=3 * settings.default.max_examples)
def test_pattern_matches_like_a_plain_reading(pattern: dict[str, Any], batch: list[dict[str, Any]]) -> None:
    tree = from_eventbridge(pattern)
    for event in batch:
        assert matches(tree, event_from(event)) == agrees(pattern, leaves(event)), event


# -- the bound on wildcards -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern", ["*", "a", "a*", "*a*a*a*", "*ab*aa", "a*b", "*aab*b*", "b*ba*ab", "*aa*a"]
)
def test_wildcard_states_equal_those_of_trying_all_texts(pattern: str) -> None:
    begun = [pattern[:end] for end in range(1, len(pattern) + 1) if "*" in pattern[:end]]
    tests = [re.compile(expression_of(each)) for each in begun]
    texts = ("".join(letters) for size in range(9) for letters in product("ab", repeat=size))
    most = max(sum(test.fullmatch(text) is not None for test in tests) for text in texts)
    assert most_states(pattern.split("*")) == most


@pytest.mark.parametrize("edge", [-1, 0, 1])
def test_wildcard_is_refused_beyond_its_bound_of_states(edge: int) -> None:
    bound = DEFAULT_LIMITS.wildcard_states + edge
    pattern = {"a": [{"wildcard": "*".join("abcdefghijklmnop"[:bound])}]}  # one star fewer, and one letter
    if edge <= 0:
        from_eventbridge(pattern)
        return
    with pytest.raises(ExpressionLimit, match="wildcard_states") as caught:
        from_eventbridge(pattern)
    assert caught.value.details["path"] == "$.a[0].wildcard"
    from_eventbridge(pattern, Limits(wildcard_states=bound))


def test_states_of_a_long_wildcard_are_counted_without_building_them() -> None:
    text = "*" + "ab" * 30_000
    read = from_eventbridge({"a": [{"wildcard": text}]}, Limits(wildcard_states=40_000))
    assert str(read).count("ab") == 30_000


# -- refusals, and the forms by name -----------------------------------------------------------------------

keys = st.sampled_from([*"ab", "$or", "prefix", "anything-but", "numeric", "exists", "cidr", "wildcard", ""])
data = st.recursive(
    scalars | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(keys | st.integers(), data | st.lists(entries | data, max_size=3), max_size=3))
@settings(max_examples=3 * settings.default.max_examples)
def test_any_data_is_a_pattern_or_refused_with_its_path(pattern: Any) -> None:
    refusal: TamisError | None = None
    try:
        tree = from_eventbridge(pattern)
    except TamisError as bad:
        refusal = bad
    if refusal is None:
        assert parse(to_text(tree)) == tree
    else:
        assert isinstance(refusal, ExpressionError)
        assert refusal.details["path"].startswith("$")
        assert refusal.message.startswith(refusal.details["path"])


@pytest.mark.realdata
def test_rules_with_the_word_or_are_read_as_amazon_does(shared_data: Path) -> None:
    """The rule files of Amazon's own library show which of these are rules."""
    folder = shared_data / "conformance" / "event-ruler"
    for name, good in [
        ("normalRulesWithOrWording", True),
        ("orRelationshipRules", True),
        ("wrongOrRelationshipRules", False),
    ]:
        for rule in json.loads((folder / f"{name}.json").read_text(encoding="utf-8")):
            if good:
                assert from_eventbridge(rule) is not None
            else:
                with pytest.raises(ParseError, match="two or more objects"):
                    from_eventbridge(rule)


WRITTEN = {
    "text": "a = 1",
    "json": '{"attribute": "a", "op": "=", "value": 1}',
    "query-string": "a=1",
    "search-box": "wool",
    "eventbridge": '{"a": [1]}',
    "lucene": "wool",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_a_name(form: str) -> None:
    expected = "text HAS 'wool'" if form in ("search-box", "lucene") else "a = 1"
    assert to_text(read(WRITTEN[form], form)) == expected
    with pytest.raises(ExpressionLimit):
        read(WRITTEN[form], form, Limits(expression_bytes=2))


def test_form_is_recognised_without_its_name() -> None:
    tree = parse("a = 1")
    for source in ("a = 1", WRITTEN["json"], "\n " + WRITTEN["json"], to_json(tree), tree):
        assert read(source) == expression_from(source) == tree
    assert read({"a": [1]}, "eventbridge") == read(to_json(tree), "json") == tree
    with pytest.raises(InputError, match="no form 'sql'; there are text, json"):
        read("a = 1", "sql")
