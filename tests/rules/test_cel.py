"""Test expressions of CEL: each operator, each refusal."""

from __future__ import annotations

import pytest

from tests.rules.reading import imported

EXPRESSED = [
    ("a == 5 && b.c != 'x' || !d", "a = 5 AND b.c != 'x' OR d = FALSE"),
    ("!(a < 5 || b.startsWith('x'))", "a >= 5 AND b NOT STARTS WITH 'x'"),
    ("5u < a && a <= 0x10", "a > 5 AND a <= 16"),
    (
        "a in ['x', 'y'] && 'z' in tags",
        "a IN ('x', 'y') AND tags = 'z'"
        " | tags: 'in' looks for an element of a list; keys of maps are not found",
    ),
    ("!(a in [])", "a IS NOT NULL"),
    ("has(a.b) && !has(a.c)", "a.b IS NOT NULL AND a.c IS NULL"),
    ("a.matches('^x') && !matches(b, 'y')", "a RLIKE '^x' AND b NOT RLIKE 'y'"),
    ("a == null || b != null", "\"$null\" = 'a' OR b IS NOT NULL"),
    ("t > timestamp('2026-01-01T00:00:00Z')", "t > TIMESTAMP '2026-01-01T00:00:00Z'"),
    ("items.exists(i, i.sku == 'x')", "items.sku = 'x'"),
    ("!items.exists(i, i > 5)", "items IS NOT NULL AND NOT items > 5"),
    ("a ? b == 1 : c", "a = TRUE AND b = 1 OR a = FALSE AND c = TRUE"),
    ("1 < 2 && 'a' == \"a\"", "TRUE AND TRUE"),
    (r"a['b c'] == r'\n' // why", r""""a.b c" = '\n' """.strip()),
    (r"a == '\x41\u00e9\'' && b == " + '"""x"y"""', "a = 'Aé''' AND b = 'x\"y'"),
]


@pytest.mark.parametrize(("rule", "text"), EXPRESSED)
def test_expression_becomes_a_condition(rule: str, text: str) -> None:
    assert imported("cel", rule) == text


REFUSED = [
    ("a < b", "with another attribute"),
    ("a + 1 > 5", "computes no '+'"),
    ("size(a) > 3", "computes no 'size'"),
    ("items.all(i, i > 5)", "computes no 'all'"),
    ("items.exists(i, i.a == 1 && i.b == 2)", "one positive condition"),
    ("items.exists(i, i != 2)", "one positive condition"),
    ("items.exists(i, b == 2)", "names another attribute, b"),
    ("a[0] == 1", "an element by its place"),
    ("a == [1]", "a list as a whole"),
    ("!a == b", "computes nothing"),
    ("'x'", "is no condition"),
    ("a == b'x'", "expected an operator or the end"),
    (r"a == '\q'", "no escape"),
    (r"a == '\ud800'", "surrogate"),
    ("timestamp('x') < a", "no ISO 8601 time"),
    ("1 < 'x'", "constants of different types"),
    ("a.matches('(?=x)')", "invalid perl operator"),
    ("a ==", "found the end"),
    ("in(a)", "found 'in'"),
    ("(" * 500 + "a" + ")" * 500, "nests too deeply"),
    ("'" * 3 + "\\" * 5_000, "is not expected here"),
]


@pytest.mark.parametrize(("rule", "reason"), REFUSED, ids=lambda part: part[:30])
def test_expression_that_cannot_be_expressed_is_refused(rule: str, reason: str) -> None:
    found = imported("cel", rule)
    assert found.startswith("refused: ")
    assert reason in found
