"""Test the columnar entry: rows of (id, attribute, operator, operands) match like their conjunctions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Limits, to_text
from tamis.columns.codes import NAMES as OPERATORS
from tamis.columns.codes import TAKES_NUMBER
from tamis.engines.engines import NAMES as ENGINES
from tamis.errors import DuplicateSubscription, TamisError
from tamis.expression.predicates import Exists, Predicate, Within
from tamis.expression.tree import And, Expr
from tamis.values.event import Event
from tests.duel.expected import Referee, match_one_by_one
from tests.engines import per_engine
from tests.strategies import events, predicates

WORDS = {code: word for word, code in OPERATORS.items()}
COLUMN = {int: "number", float: "real", str: "string", datetime: "time", bool: "boolean"}


def _flat(predicate: Predicate) -> bool:
    """Return whether the bulk form can express ``predicate``: operands of one type, no shapes or empty IN."""
    if isinstance(predicate, Within):
        return False
    if TAKES_NUMBER[predicate.code]:
        return True  # strings, and the number in another column
    kinds = {type(operand) for operand in _operands(predicate)[1]}
    return kinds <= COLUMN.keys() and len(kinds) == (type(predicate) is not Exists)


def _operands(predicate: Predicate) -> tuple[str, tuple[Any, ...]]:
    return WORDS[predicate.code], predicate.operands


conjunctions = st.lists(predicates().filter(_flat), min_size=1, max_size=4)


def bulk_table(book: list[list[Predicate]]) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for at, conjunction in enumerate(book):
        for predicate in conjunction:
            operator, operands = _operands(predicate)
            row = {"id": f"s{at}", "attribute": predicate.attribute, "operator": operator}
            row |= {"weight": predicate.weight, "priority": float(at)}
            if TAKES_NUMBER[predicate.code]:
                row["number"] = [operands[-1]]
                operands = operands[:-1]
            if operands:
                row[COLUMN[type(operands[0])]] = list(operands)
            rows.append(row)
    kinds = {
        "number": pa.int64(), "string": pa.string(), "time": pa.timestamp("us", "UTC"), "boolean": pa.bool_(),
    }  # fmt: skip
    columns: dict[str, Any] = {
        name: [row.get(name) for row in rows] for name in ("id", "attribute", "operator")
    }
    columns |= {name: pa.array([row[name] for row in rows], pa.float64()) for name in ("weight", "priority")}
    for name, kind in kinds.items():
        columns[name] = pa.array([row.get(name) for row in rows], pa.list_(kind))
    columns["value"] = pa.array([row.get("real") for row in rows], pa.list_(pa.float64()))
    return pa.table(columns)


@per_engine
@given(st.lists(conjunctions, min_size=1, max_size=6), st.lists(events(), min_size=1, max_size=4))
def test_bulk_rows_match_like_trees(book: list[list[Predicate]], batch: list[Event]) -> None:
    trees: list[Expr] = [And(tuple(conjunction)) for conjunction in book]
    referee, table = Referee(trees, batch), bulk_table(book)
    for engine in ENGINES:
        index = Index.build(table, engine=engine)
        referee.assert_same(match_one_by_one(index, batch), f"{engine}: bulk")
    for at, tree in enumerate(trees):
        held = index.subscription(f"s{at}")
        assert held.priority == at
        assert to_text(held.expression) == to_text(tree if len(tree.children) > 1 else tree.children[0])


def _row(**changed: Any) -> pa.Table:
    """Return a good subscription, one with a changed row, and another good one."""
    good = {"id": "first", "attribute": "a", "operator": "=", "value": "x"}
    rows = [good, good | {"id": "bad"} | changed, good | {"id": "last"}]
    return pa.table({name: pa.array([row[name] for row in rows]) for name in good})


BAD: dict[str, dict[str, Any]] = {
    "no id": {"id": None},
    "an empty id": {"id": ""},
    "a long id": {"id": "i" * 257},
    "no attribute": {"attribute": None},
    "an empty attribute": {"attribute": ""},
    "a long attribute": {"attribute": "a" * 257},
    "an unknown operator": {"operator": "~"},
    "no operator": {"operator": None},
    "no operand": {"value": None},
    "a bad pattern": {"operator": "rlike", "value": "("},
    "a bad network": {"operator": "in cidr"},
    "no terms": {"operator": "has", "value": "..."},
    "a long string": {"value": "x" * 65_537},
    "one end of a range": {"operator": "between"},
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_row_harms_only_its_subscription(bad: str) -> None:
    table = _row(**BAD[bad])
    index = Index.build(table, on_error="skip")
    assert sorted(index.match({"a": "x"})) == ["first", "last"]
    assert len(index.refused) == 1
    with pytest.raises(TamisError):
        Index.build(table)


@pytest.mark.parametrize(
    ("operator", "values", "kind"),
    [
        ("=", [1.0, float("nan"), 1.0], pa.float64()),
        ("=", [1, 2**63, 1], pa.uint64()),
        ("<", [0, 10**15, 0], pa.timestamp("s")),
        ("<", [True, True, True], pa.bool_()),
        ("like", [1, 1, 1], pa.int64()),
    ],
)
def test_bad_operands_are_refused_by_type(operator: str, values: list[Any], kind: Any) -> None:
    table = pa.table({"id": ["a", "b", "c"], "attribute": ["x"] * 3, "operator": [operator] * 3})
    index = Index.build(table.append_column("value", pa.array(values, kind)), on_error="skip")
    refused = [name for name, _ in index.refused]
    assert refused == (["b"] if values[0] != values[1] else ["a", "b", "c"])
    assert len(index) == 3 - len(refused)


def test_bulk_names_and_strings_are_normalised() -> None:
    table = pa.table({"id": ["a"], "attribute": ["e\u0301"], "operator": [" = "], "value": ["o\u0308"]})
    index = Index.build(table)
    assert index.match({"\u00e9": "\u00f6"}) == ["a"]
    assert index.match({"e\u0301": "o\u0308"}) == ["a"]


def test_conjunction_of_too_many_predicates_is_refused() -> None:
    rows = {"id": ["s"] * 4, "attribute": ["a"] * 4, "operator": ["="] * 4, "value": [1, 2, 3, 4]}
    limits = Limits(expression_predicates=3)
    assert len(Index.build(pa.table(rows).slice(1), limits=limits)) == 1
    with pytest.raises(TamisError, match="expression_predicates"):
        Index.build(pa.table(rows), limits=limits)


def test_ids_are_unique_in_a_table_of_texts() -> None:
    table = pa.table({"id": ["a", "a"], "expression": ["x = 1", "x = 2"]})
    with pytest.raises(DuplicateSubscription):
        Index.build(table)
    index = Index.build(table, on_error="skip")
    assert index.match({"x": [1, 2]}) == ["a"]
    assert [name for name, _ in index.refused] == ["a"]
