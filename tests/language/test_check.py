"""Test the check of trees built from Python objects or decoded JSON: any object may arrive there."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from tamis.errors import ExpressionError, ParseError, PatternError, TypeMismatch
from tamis.expression.predicates import Between, Compare, Exists, In, Like, Network, Regex, Text, Within
from tamis.expression.tree import And, Not, Or
from tamis.language import attr, check_tree, expression_from, from_json, parse, to_text
from tamis.values.shape import Box, Circle, Polygon
from tamis.values.value import Interval, Point

REFUSED: list[tuple[Any, type[ExpressionError]]] = [
    (None, ParseError),
    (5, ParseError),
    (And(5), ParseError),  # type: ignore[arg-type]
    (And(("a = 1", "b = 2")), ParseError),  # type: ignore[arg-type]
    (Not("a = 1"), ParseError),  # type: ignore[arg-type]
    (Compare(5, "=", 1), ParseError),  # type: ignore[arg-type]
    (Compare("", "=", 1), ParseError),
    (Compare("\ud800", "=", 1), ParseError),
    (Compare("a", "~", 1), ParseError),  # type: ignore[arg-type]
    (Compare("a", [], 1), ParseError),  # type: ignore[arg-type]
    (Compare("a", "=", "\udfff"), ParseError),
    (Compare("a", "=", None), TypeMismatch),  # type: ignore[arg-type]
    (Compare("a", "=", float("nan")), TypeMismatch),
    (Compare("a", "=", float("inf")), TypeMismatch),
    (Compare("a", "=", 2**63), TypeMismatch),
    (Compare("a", "=", [1]), TypeMismatch),  # type: ignore[arg-type]
    (Compare("a", "=", Interval(1, 2)), TypeMismatch),  # type: ignore[arg-type]
    (Compare("a", "<", True), TypeMismatch),
    (Compare("a", ">=", Point(1, 2)), TypeMismatch),
    (Compare("a", "=", 1, -1.0), TypeMismatch),
    (Compare("a", "=", 1, float("inf")), TypeMismatch),
    (Compare("a", "=", 1, 10**400), TypeMismatch),
    (Compare("a", "=", 1, True), TypeMismatch),
    (Compare("a", "=", 1, "2"), TypeMismatch),  # type: ignore[arg-type]
    (In("a", "abc"), TypeMismatch),  # type: ignore[arg-type]
    (In("a", (Point(1, 2),)), TypeMismatch),  # type: ignore[arg-type]
    (Between("a", 1, "x"), TypeMismatch),
    (Between("a", True, True), TypeMismatch),
    (Like("a", 5), TypeMismatch),  # type: ignore[arg-type]
    (Like("a", "\\"), PatternError),
    (Regex("a", "("), PatternError),
    (Regex("a", "(?=x)"), PatternError),
    (Text("a", "some", ("x",)), ParseError),  # type: ignore[arg-type]
    (Text("a", "any", ()), TypeMismatch),
    (Text("a", "all", ("x", "--")), TypeMismatch),
    (Text("a", "any", ("x", "new york")), TypeMismatch),
    (Text("a", "phrase", ("?!",)), TypeMismatch),
    (Network("a", ()), TypeMismatch),
    (Network("a", ("10.0.0.0/33",)), PatternError),
    (Network("a", (10,)), TypeMismatch),  # type: ignore[arg-type]
    (Within("a", "here"), PatternError),  # type: ignore[arg-type]
    (Within("a", Polygon(())), PatternError),
    (Within("a", Polygon(((),))), PatternError),
    (Within("a", Polygon(5)), PatternError),  # type: ignore[arg-type]
    (Within("a", Polygon((((0, 0), (1, 1)),))), PatternError),  # type: ignore[arg-type]
    (Within("a", Box(0, 0, 999, 0)), PatternError),
    (Within("a", Box(0, float("nan"), 1, 0)), TypeMismatch),
    (Within("a", Circle((1, 2), 5)), PatternError),  # type: ignore[arg-type]
    (Within("a", Circle(Point(1, 2), -5)), PatternError),
]


@pytest.mark.parametrize(("tree", "error"), REFUSED, ids=lambda case: str(case)[:60])
def test_malformed_tree_is_refused(tree: Any, error: type[ExpressionError]) -> None:
    with pytest.raises(error):
        check_tree(tree)


def test_operands_are_cleaned() -> None:
    decomposed = "Cafe\u0301"
    assert check_tree(Compare(decomposed, "=", decomposed)) == Compare("Café", "=", "Café")
    zero = check_tree(Compare("a", "=", -0.0))
    assert to_text(zero) == "a = 0.0"
    assert check_tree(Compare("a", "=", date(2026, 1, 2))) == Compare(
        "a", "=", datetime(2026, 1, 2, tzinfo=UTC)
    )
    oslo = timezone(timedelta(hours=1))
    assert check_tree(Compare("a", "<", datetime(2026, 1, 2, 1, tzinfo=oslo))) == Compare(
        "a", "<", datetime(2026, 1, 2, tzinfo=UTC)
    )
    assert check_tree(Text("a", "all", ("e\u0301", "COAT"))) == Text("a", "all", ("é", "COAT"))
    assert check_tree(Text("a", "phrase", ("New York", "coat"))) == Text("a", "phrase", ("New York coat",))
    assert check_tree(Text("a", "any", ("plus-size",))) == Text("a", "phrase", ("plus-size",))
    assert check_tree(Network("a", ("10.1.2.3/8",))) == Network("a", ("10.0.0.0/8",))
    assert check_tree(In("a", {3, 1, "x", 2})) == In("a", (1, 2, 3, "x"))  # type: ignore[arg-type]


def test_numpy_scalars_are_values() -> None:
    numpy = pytest.importorskip("numpy")
    assert check_tree(attr("a") == numpy.int64(5)) == Compare("a", "=", 5)
    assert check_tree(attr("a") <= numpy.float64(0.5)) == Compare("a", "<=", 0.5)


def test_builder_gives_the_tree_of_the_text() -> None:
    box = Box(0, 0, 1, 1)
    built = [
        (attr("a") == 1, "a = 1"),
        (attr("a") != "x", "a != 'x'"),
        (attr("a") < 1, "a < 1"),
        (attr("a") <= 1, "a <= 1"),
        (attr("a") > 1, "a > 1"),
        (attr("a") >= 1, "a >= 1"),
        (5 > attr("a"), "a < 5"),  # noqa: SIM300
        (attr("a").isin("x", 1), "a IN ('x', 1)"),
        (attr("a").isin(["x", 1]), "a IN ('x', 1)"),
        (attr("a").not_in({1}), "a NOT IN (1)"),
        (attr("a").between(1, 2), "a BETWEEN 1 AND 2"),
        (attr("a").like("x%"), "a LIKE 'x%'"),
        (attr("a").ilike("x%"), "a ILIKE 'x%'"),
        (attr("a").rlike("^x"), "a RLIKE '^x'"),
        (attr("a").has("Wool"), "a HAS 'Wool'"),
        (attr("a").has_all("Wool", "coat"), "a HAS ALL ('Wool', 'coat')"),
        (attr("a").has_any("wool", "coat"), "a HAS ANY ('wool', 'coat')"),
        (attr("a").has_phrase("New York"), "a HAS PHRASE 'New York'"),
        (attr("a").using("english").has("coats"), "a HAS 'coats' USING english"),
        (attr("a").within(box), "a WITHIN BOX (0, 0, 1, 1)"),
        (attr("a").in_network("10.0.0.0/8"), "a IN CIDR '10.0.0.0/8'"),
        (attr("a").exists(), "a IS NOT NULL"),
        (attr("a").is_null(), "a IS NULL"),
        (attr("a").weight(2) == 1, "a = 1 ^ 2"),
        ((attr("a") == 1) & (attr("b") == 2) & (attr("c") == 3), "a = 1 AND b = 2 AND c = 3"),
        ((attr("a") == 1) | (attr("b") == 2) | ~(attr("c") == 3), "a = 1 OR b = 2 OR NOT c = 3"),
    ]
    for tree, text in built:
        assert check_tree(tree) == parse(text)


def test_attribute_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(attr("a"))


@pytest.mark.parametrize("source", [5, None, b"a = 1", ["a"]])
def test_expression_from_refuses_other_objects(source: Any) -> None:
    with pytest.raises(ParseError):
        expression_from(source)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("[]", "JSON object"),
        ("{", "not JSON"),
        ("{}", "empty object"),
        ('{"and": 5}', "takes a list"),
        ('{"and": [], "or": []}', "expected one of the keys"),
        ('{"not": null}', "JSON object"),
        ('{"attribute": "a", "op": "=", "op": "<", "value": 1}', "twice"),
        ('{"attribute": "a", "op": "=", "value": NaN}', "not a finite number"),
        ('{"attribute": "a", "op": "=", "value": 1e999}', "finite"),
        ('{"attribute": "a", "op": "=", "value": null}', "null is not a value"),
        ('{"attribute": "a", "op": "=", "value": {"x": 1}}', "object cannot be a value"),
        ('{"attribute": "a", "op": "=", "value": {"$time": "soon"}}', "cannot hold"),
        ('{"attribute": "a", "op": "=", "value": {"$interval": [1, 2]}}', "object cannot be a value"),
        ('{"attribute": "a", "op": "=", "value": {"$point": [1, 200]}}', "latitude"),
        ('{"attribute": "a", "op": "=", "value": "\\ud800"}', "surrogate"),
        ('{"attribute": "a", "op": "="}', "needs the key 'value'"),
        ('{"attribute": "a", "op": "not =", "value": 1}', "not an operator"),
        ('{"attribute": "a", "op": "matches", "value": 1}', "not an operator"),
        ('{"attribute": "a", "op": "=", "value": 1, "wieght": 2}', "'wieght' is not a key"),
        ('{"attribute": "a", "op": "in", "values": "abc"}', "takes a list"),
        ('{"attribute": "a", "op": "within", "shape": {"type": "Blob"}}', "a shape is"),
        ('{"attribute": "a", "op": "within", "shape": {"type": "Box", "bounds": [1]}}', "nested"),
        ('{"attribute": "a", "op": "within", "shape": {"type": "Box"}}', "has the keys"),
        ('{"attribute": "a", "op": "within", "shape": {"type": "Polygon", "coordinates": 5}}', "nested"),
    ],
)
def test_bad_json_is_refused_by_name(form: str, words: str) -> None:
    with pytest.raises(ExpressionError, match=words):
        from_json(form)


def test_deep_json_is_refused_without_recursion_error() -> None:
    with pytest.raises(ExpressionError):
        from_json('{"not":' * 2000)
    with pytest.raises(ExpressionError, match="expression_depth"):
        from_json('{"not":' * 100 + '{"and": []}' + "}" * 100)
    data: dict[str, Any] = {"and": []}
    for _ in range(10_000):
        data = {"not": data}
    with pytest.raises(ExpressionError, match="expression_depth"):
        from_json(data)


def test_huge_integers_are_refused() -> None:
    for text in (f"a = {'9' * 10_000}", f"a = -{'9' * 10_000}", f"a = 1 ^ {'9' * 10_000}"):
        with pytest.raises(TypeMismatch):
            parse(text)
    assert parse(f"a = {'0' * 10_000}7") == Compare("a", "=", 7)
    with pytest.raises(ExpressionError):
        from_json('{"attribute": "a", "op": "=", "value": ' + "9" * 10_000 + "}")


def test_empty_and_or_are_constants() -> None:
    assert to_text(And(())) == "TRUE"
    assert to_text(Or(())) == "FALSE"
    assert from_json('{"and": []}') == parse("TRUE")
    assert from_json('{"or": []}') == parse("FALSE")
    assert check_tree(And((Exists("a"),))) == Exists("a")
