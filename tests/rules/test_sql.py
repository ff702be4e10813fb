"""Test conditions of SQL dialects: each operator, each refusal, and a duel with DuckDB."""

from __future__ import annotations

import itertools
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import rules
from tamis.errors import InputError
from tamis.expression.truth import matches
from tamis.values.event import event_from
from tests.rules.reading import imported

FOLDS = " | LOWER and UPPER become ILIKE, which folds case by Unicode's rules (ß is ss)"
COLLATION = " | strings are compared by code point; the collation of MySQL may ignore case and accents"
EXPRESSED = [
    ("postgres", "WHERE a = 5 AND 3 < b OR NOT c", "a = 5 AND b > 3 OR c = FALSE"),
    ("postgres", "NOT (a = 5 OR b > 3)", "a != 5 AND (b IS NOT NULL AND NOT b > 3)"),
    ("postgres", "a NOT IN (1, NULL) OR b IN (1, NULL)", "FALSE OR b IN (1)"),
    ("postgres", "a = NULL OR NOT a = NULL OR 1 = 1", "FALSE OR FALSE OR TRUE"),
    ("postgres", "a IS NOT DISTINCT FROM 5 AND b IS DISTINCT FROM 5", "a = 5 AND NOT b = 5"),
    (
        "postgres",
        "a IS TRUE AND b IS NOT FALSE AND c NOTNULL",
        "a = TRUE AND NOT b = FALSE AND c IS NOT NULL",
    ),
    ("postgres", "a ~* '^x' AND b !~ 'y'", "a RLIKE '(?i)^x' AND b NOT RLIKE 'y'"),
    ("postgres", "a NOT ILIKE 'x%' AND b LIKE 'x\\_%'", r"a NOT ILIKE 'x%' AND b LIKE 'x\_%'"),
    ("postgres", "NOT (a LIKE ANY ('x', 'y'))", "a NOT LIKE ANY ('x', 'y')"),
    ("postgres", "a = ANY(ARRAY[1,2]) AND b <> ALL(ARRAY[3])", "a IN (1, 2) AND b NOT IN (3)"),
    ("postgres", "5 = ANY(a) AND b @> ARRAY['x','y']", "a = 5 AND (b = 'x' AND b = 'y')"),
    ("postgres", "NOT (a && ARRAY[1,2])", "a NOT IN (1, 2)"),
    ("postgres", "ip << inet '10.0.0.0/8'", "ip IN CIDR '10.0.0.0/8'"),
    ("postgres", "lower(a) = 'x' AND upper(b) LIKE 'X%'", "a ILIKE 'x' AND b ILIKE 'X%'" + FOLDS),
    ("postgres", "strpos(a, 'x') > 0", "a CONTAINS 'x'"),
    ("postgres", "a BETWEEN SYMMETRIC 5 AND 1", "a BETWEEN 1 AND 5"),
    ("postgres", "a = '2026-01-01'::date", "a = TIMESTAMP '2026-01-01T00:00:00Z'"),
    (
        "postgres",
        "a > '2026-01-01'",
        "a > '2026-01-01' | '2026-01-01' is compared as a string; write TIMESTAMP before it for a time",
    ),
    ("mysql", 'a <=> 5 AND b = "x"', "a = 5 AND b = 'x'" + COLLATION),
    ("mysql", "a LIKE '5|%\\_' ESCAPE '|'", r"a LIKE '5\%\\_'" + COLLATION),
    ("mysql", "NOT (a XOR b = 1)", "a = TRUE AND b = 1 OR a = FALSE AND b != 1"),
    ("bigquery", "`a.b` = 'x' AND REGEXP_CONTAINS(c, r'^\\d')", r"a.b = 'x' AND c RLIKE '^\d'"),
    ("bigquery", "STARTS_WITH(a,'x') AND ENDS_WITH(b,'y')", "a STARTS WITH 'x' AND b ENDS WITH 'y'"),
    ("bigquery", "x IN UNNEST([1,2]) AND 5 IN UNNEST(t)", "x IN (1, 2) AND t = 5"),
    ("bigquery", "d >= TIMESTAMP '2026-01-01 00:00:00+01'", "d >= TIMESTAMP '2025-12-31T23:00:00Z'"),
    (
        "snowflake",
        "a ILIKE ANY ('x%','y%') AND CONTAINS(b,'x')",
        "a ILIKE ANY ('x%', 'y%') AND b CONTAINS 'x'",
    ),
    ("snowflake", "a RLIKE 'x' AND b LIKE 'x\\\\_'", r"a RLIKE '^(?:x)$' AND b LIKE 'x\\_'"),
    ("snowflake", "to_timestamp('2026-01-01') < a", "a > TIMESTAMP '2026-01-01T00:00:00Z'"),
    ("spark", "array_contains(t, 5) AND a <=> NULL AND b RLIKE 'x'", "t = 5 AND a IS NULL AND b RLIKE 'x'"),
    ("trino", "regexp_like(a, 'x')", "a RLIKE 'x'"),
]


@pytest.mark.parametrize(("dialect", "condition", "text"), EXPRESSED)
def test_condition_is_read_as_in_its_dialect(dialect: str, condition: str, text: str) -> None:
    assert imported("sql", condition, dialect=dialect) == text


REFUSED = [
    ("a < b", "with the attribute b"),
    ("a < b * 0.8", "computes nothing"),
    ("a::int > 3", "casts no attribute"),
    ("length(a) > 3", "computes no functions"),
    ("d > now() - interval '7 days'", "no current time"),
    ("a IN (SELECT 1)", "no tables"),
    ("SELECT 1", "not a statement"),
    ("a =", "cannot read the condition"),
    ("a NOT LIKE ANY (ARRAY['x'])", "in two ways"),
    ("lower(a) = 'X'", "letters of the other case"),
    ("a = $1", "found @1"),
    ("a SIMILAR TO 'x'", "computes nothing"),
    ("(a, b) IN ((1, 2))", "found (1, 2)"),
    ("a = DATE 'x'", "no ISO 8601 date"),
    ("a BETWEEN SYMMETRIC 'x' AND 1", "different types"),
    ("a -> 'b' = '1'", "computes nothing"),
    ("(" * 500 + "a" + ")" * 500, "nests too deeply"),
    (" # ".join(["a"] * 60), "computes nothing"),
    ("a = '" + "x" * 20_000 + "'", "expression_bytes"),
    ("a = 1; b = 2", "found a = 1; b = 2"),
    ("SELECT * FROM t WHERE a = 1", "the condition behind WHERE, not a statement"),
]


@pytest.mark.parametrize(("condition", "reason"), REFUSED, ids=lambda part: part[:30])
def test_condition_that_cannot_be_expressed_is_refused(condition: str, reason: str) -> None:
    found = imported("sql", condition)
    assert found.startswith("refused: ")
    assert reason in found


def test_chain_of_xor_is_refused_before_it_grows() -> None:
    assert "too many parts" in imported("sql", " XOR ".join(["a"] * 60), dialect="mysql")


def test_unknown_dialect_is_refused() -> None:
    with pytest.raises(InputError, match="dialect is one of postgres"):
        rules.read("sql", "a = 1", dialect="cobol")


# -- the duel: DuckDB decides about the same rows, NULL included -----------------------------------------

NUMBERS, STRINGS, TRUTHS = [None, 0, 1, 2], [None, "a", "ab", "A_", "b"], [None, True, False]
ROWS = [dict(zip("nsb", row, strict=True)) for row in itertools.product(NUMBERS, STRINGS, TRUTHS)]
NUMBER = st.sampled_from(["0", "1", "2", "NULL"])
STRING = st.sampled_from(["'a'", "'ab'", "'A_'", "NULL"])
SIGN = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
PATTERN = st.sampled_from(["'a%'", "'%b'", "'A\\_'", "'_'", "'%'", "'a!_%' ESCAPE '!'"])
LEAVES = st.one_of(
    st.builds("n {} {}".format, SIGN, NUMBER),
    st.builds("{} {} n".format, NUMBER, SIGN.filter(lambda sign: sign[0] != "I")),
    st.builds("s {} {}".format, SIGN, STRING),
    st.builds("n {}IN ({}, {})".format, st.sampled_from(["", "NOT "]), NUMBER, NUMBER),
    st.builds(
        "n {}BETWEEN {} AND {}".format,
        st.sampled_from(["", "NOT "]),
        *[NUMBER.filter(lambda n: n != "NULL")] * 2,
    ),
    st.builds("s {}{} {}".format, st.sampled_from(["", "NOT "]), st.sampled_from(["LIKE", "ILIKE"]), PATTERN),
    st.builds("{} IS {}NULL".format, st.sampled_from("nsb"), st.sampled_from(["", "NOT "])),
    st.builds("b IS {}{}".format, st.sampled_from(["", "NOT "]), st.sampled_from(["TRUE", "FALSE"])),
    st.builds("regexp_matches(s, {})".format, st.sampled_from(["'^a'", "'B'", "'b$'"])),
    st.builds("{}(s, {})".format, st.sampled_from(["starts_with", "contains"]), STRING),
    st.sampled_from(["b", "NULL", "TRUE", "1 = 1"]),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds("NOT ({})".format, inner)
        | st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR"]), inner)
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def database() -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (i INTEGER, n INTEGER, s VARCHAR, b BOOLEAN)")
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?, ?)", [[at, *row.values()] for at, row in enumerate(ROWS)]
    )
    return connection


@given(conditions=st.lists(CONDITIONS, min_size=1, max_size=6))
def test_imported_conditions_find_the_rows_that_duckdb_finds(database: Any, conditions: list[str]) -> None:
    kept = [rules.read("sql", condition, dialect="duckdb") for condition in conditions]
    assert not [found.refused[0] for found in kept if found.refused], conditions
    events = [event_from(row) for row in ROWS]
    for condition, found in zip(conditions, kept, strict=True):
        rows = {at for (at,) in database.execute(f"SELECT i FROM t WHERE {condition}").fetchall()}
        tree = found.rules[0].expression
        assert {at for at, event in enumerate(events) if matches(tree, event)} == rows, (
            condition,
            found.rules[0].text,
        )
