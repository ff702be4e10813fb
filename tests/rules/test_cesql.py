"""Test expressions of CloudEvents SQL: each operator, each refusal."""

from __future__ import annotations

import pytest

from tests.rules.reading import imported

INTEGER = " | a: events must carry an integer; CloudEvents SQL also reads integers in strings"
FOLDS = " | LOWER and UPPER become ILIKE, which folds case by Unicode's rules (ß is ss)"
EXPRESSED = [
    ("source = 'x' AND NOT EXISTS Subject", "source = 'x' AND subject IS NULL"),
    ("a = 5", "a IN (5, '5') | a: of the strings that say 5, only the shortest is equal"),
    ("a != '5'", "a NOT IN ('5', 5)"),
    ("NOT (a = 'x' OR b LIKE 'y%')", "a != 'x' AND b NOT LIKE 'y%'"),
    ("a", "a = TRUE OR a ILIKE 'true'"),
    ("NOT a", "a = FALSE OR a ILIKE 'false'"),
    ("10 > INT(a)", "a < 10" + INTEGER),
    ("a NOT IN ('x', 7)", "a NOT IN ('x', 7, '7')"),
    ("a IN (TRUE, '05')", "a IN (TRUE, 'true', 1, '05', 5)"),
    (r"a LIKE 'x\_\y%'", r"a LIKE 'x\_\\y%'"),
    (r"a = 'it\'s'", "a = 'it''s'"),
    ("LOWER(a) = 'x' AND UPPER(b) LIKE 'X%'", "a ILIKE 'x' AND b ILIKE 'X%'" + FOLDS),
    ("EXISTS a XOR EXISTS b", "a IS NOT NULL AND b IS NULL OR a IS NULL AND b IS NOT NULL"),
    ("true OR 1 / 0 = 1", "TRUE"),
    ("LENGTH(CONCAT('ab', 1)) = 3", "TRUE"),
]


@pytest.mark.parametrize(("rule", "text"), EXPRESSED)
def test_expression_becomes_a_condition(rule: str, text: str) -> None:
    assert imported("cesql", rule) == text


REFUSED = [
    ("a = b", "with another attribute"),
    ("a + 1 = 5", "computes nothing"),
    ("LENGTH(a) > 3", "computes nothing"),
    ("NOT a = 5", "computes nothing"),  # NOT binds more strongly than =
    ("a IN (b)", "with constants"),
    ("LOWER(a) = 'X'", "letters of the other case"),
    ("1 / 0 = 1", "divides by zero"),
    ("NOSUCH('a')", "no function 'nosuch'"),
    ("LENGTH()", "does not take 0 arguments"),
    ("'x'", "neither true nor false"),
    ("a LIKE b", "a pattern in quotes"),
    ("and()", "found 'and'"),
    ("a = 'x", "is not expected here"),
    ("'" + "\\" * 5_000, "is not expected here"),
    ("(" * 500 + "a" + ")" * 500, "nests too deeply"),
    (" XOR ".join(["a"] * 40), "too many parts"),
    ("a = 5 b", "expected an operator or the end, found 'b'"),
]


@pytest.mark.parametrize(("rule", "reason"), REFUSED, ids=lambda part: part[:30])
def test_expression_that_cannot_be_expressed_is_refused(rule: str, reason: str) -> None:
    found = imported("cesql", rule)
    assert found.startswith("refused: ")
    assert reason in found


def test_long_chain_is_read_without_recursion() -> None:
    assert imported("cesql", " OR ".join(f"a = 'x{n}'" for n in range(400))).startswith(
        "a = 'x0' OR a = 'x1'"
    )
