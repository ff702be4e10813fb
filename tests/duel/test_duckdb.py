"""An independent oracle: subscriptions as SQL, run by DuckDB over random tables and a real catalogue.

SQL has three truth values, we have two: every predicate is wrapped so that unknown is false.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from bench.workloads.real.data import lines
from tamis import Index
from tamis.engines.engines import NAMES as ENGINES
from tamis.expression.predicates import Between, Compare, Exists, In, Like, Predicate
from tamis.expression.tree import And, Expr, Not, Or
from tests.duel.expected import name_of, named, pairs_of

SEED = 77
DAY = datetime(2026, 11, 15, tzinfo=UTC)
POOLS: dict[str, list[Any]] = {
    "i": [-(2**63) + 1, -1, 0, 1, 2, 3, 2**53, 2**53 + 1, 2**63 - 1],
    "j": list(range(12)),
    "f": [-1e300, -0.5, 0.0, 0.1, 0.1 + 0.2, 0.3, 1.0, 2.5, 5e-324, 1e300],
    "s": ["", "a", "ab", "abc", "Abc", "b%", "a_c", "é", "𝒳", "a\\b", "line\nbreak", "it's"],
    "b": [True, False],
    "t": [DAY + timedelta(hours=n, microseconds=n % 3) for n in range(8)],
}
TYPES = {
    "i": pa.int64(), "j": pa.int64(), "f": pa.float64(), "s": pa.string(), "b": pa.bool_(),
    "t": pa.timestamp("us", "UTC"),
}  # fmt: skip
PATTERNS = ["a%", "%c", "%b%", "_", "a\\_c", "%\\%", "a%c", "", "%", "𝒳", "%\\\\b"]


def sql(expr: Expr) -> str:
    """``expr`` as a WHERE clause with two truth values."""
    if isinstance(expr, And | Or):
        empty, word = ("TRUE", " AND ") if isinstance(expr, And) else ("FALSE", " OR ")
        return f"({word.join(sql(child) for child in expr.children)})" if expr.children else empty
    if isinstance(expr, Not):
        return f"(NOT {sql(expr.child)})"
    name = f'"{expr.attribute}"'
    if isinstance(expr, Exists):
        return f"({name} IS {'' if expr.negated else 'NOT '}NULL)"
    return f"COALESCE({name} {_test(expr)}, FALSE)"


def _test(expr: Predicate) -> str:
    no = "NOT " if getattr(expr, "negated", False) else ""
    match expr:
        case Compare(op=op, value=value):
            return f"{op} {_literal(value)}"
        case In(values=values):
            return f"{no}IN ({', '.join(map(_literal, values))})"
        case Between(low=low, high=high):
            return f"{no}BETWEEN {_literal(low)} AND {_literal(high)}"
        case Like(pattern=pattern):
            return f"{no}LIKE {_literal(pattern)} ESCAPE '\\'"
    raise AssertionError(expr)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime):
        return f"TIMESTAMPTZ '{value.isoformat()}'"
    return f"{value!r}::DOUBLE" if isinstance(value, float) else f"{value}::BIGINT"


class Writer:
    """Writes random expressions over columns whose values it knows."""

    def __init__(self, pools: dict[str, list[Any]], chance: random.Random) -> None:
        self.pools, self.chance = pools, chance

    def expression(self, depth: int = 3) -> Expr:
        """A tree of up to ``depth`` levels."""
        if depth == 0 or self.chance.random() < 0.3:
            return self.predicate()
        if self.chance.random() < 0.2:
            return Not(self.expression(depth - 1))
        kind = self.chance.choice([And, And, Or])
        return kind(tuple(self.expression(depth - 1) for _ in range(self.chance.randint(2, 3))))

    def predicate(self) -> Expr:
        """One predicate on one column."""
        name = self.chance.choice(list(self.pools))
        pool, no = self.pools[name], self.chance.random() < 0.3
        pick = self.chance.choice
        kinds = ["=", "!=", "in", "exists"]
        if not isinstance(pool[0], bool):
            kinds += ["<", "<=", ">", ">=", "between"]
        kinds += ["like", "like"] if isinstance(pool[0], str) else []
        match kind := pick(kinds):
            case "in":
                return In(name, tuple(self.chance.sample(pool, min(len(pool), 3))), no)
            case "exists":
                return Exists(name, no)
            case "between":
                return Between(name, pick(pool), pick(pool), no)
            case "like":
                return Like(name, self._pattern(pool), False, no)
        return Compare(name, kind, pick(pool))  # type: ignore[arg-type]

    def _pattern(self, pool: list[str]) -> str:
        if pool is POOLS["s"]:
            return self.chance.choice(PATTERNS)
        text = self.chance.choice(pool)[:12].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return self.chance.choice([f"{text}%", f"%{text}", f"%{text[:4]}%", text])


def pairs_by_duckdb(book: list[Expr], table: pa.Table) -> set[tuple[int, str]]:
    """What DuckDB finds."""
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.register("events", table.append_column("row_", pa.array(range(table.num_rows))))
        return {
            (row, name_of(at))
            for at, expr in enumerate(book)
            for (row,) in database.execute(f"SELECT row_ FROM events WHERE {sql(expr)}").fetchall()
        }


def random_table(chance: random.Random, rows: int) -> pa.Table:
    """Rows with a third of the values absent."""
    return pa.table(
        {
            name: pa.array([chance.choice([None, *pool, *pool]) for _ in range(rows)], TYPES[name])
            for name, pool in POOLS.items()
        }
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_random_tables(engine: str) -> None:
    chance = random.Random(SEED)
    writer = Writer(POOLS, chance)
    book = [writer.expression() for _ in range(250)]
    table = random_table(chance, 300)
    expected = pairs_by_duckdb(book, table)
    index = Index.build(named(book), engine=engine)
    assert len(expected) > 10_000
    _same(pairs_of(index.match_many(table)), expected, book, table)
    rows = [{name: value for name, value in row.items() if value is not None} for row in table.to_pylist()]
    _same(pairs_of(index.match_many(rows)), expected, book, table)


def _same(
    found: list[tuple[int, str]], expected: set[tuple[int, str]], book: list[Expr], table: pa.Table
) -> None:
    if set(found) != expected:
        row, name = min(set(found) ^ expected)
        what = "extra" if (row, name) in found else "missing"
        raise AssertionError(f"{what}: {table.slice(row, 1).to_pylist()} and {sql(book[int(name[1:])])}")
    assert len(found) == len(expected)


def _catalogue(folder: Path) -> Iterator[dict[str, Any]]:
    for item in lines(folder / "catalogue_pcparts" / "items.jsonl.gz"):
        yield {name: value for name, value in item.items() if not isinstance(value, list | dict)}


@pytest.mark.realdata
def test_a_real_catalogue(shared_data: Path) -> None:
    items = list(_catalogue(shared_data))[::5]
    names = dict.fromkeys(name for item in items for name in item)
    columns = {name: [item.get(name) for item in items] for name in names}
    kinds = {name: {type(value) for value in column} - {type(None)} for name, column in columns.items()}
    types = {name: pa.float64() if kind == {int, float} else None for name, kind in kinds.items()}
    table = pa.table(
        {name: pa.array(columns[name], types[name]) for name in names if len(kinds[name]) == 1 or types[name]}
    )
    assert table.num_columns > 70
    chance = random.Random(SEED)
    pools = {name: [v for v in table[name].to_pylist() if v is not None][:200] for name in table.column_names}
    writer = Writer(pools, chance)
    book = [writer.expression(2) for _ in range(150)]
    expected = pairs_by_duckdb(book, table)
    assert len(expected) > 100_000
    _same(pairs_of(Index.build(named(book)).match_many(table)), expected, book, table)
