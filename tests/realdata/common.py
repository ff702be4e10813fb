"""Reading the data sets, their common rule format, and comparing pairs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tamis import Index
from tamis.model.expr import And, Expr, Not, Or

Pairs = set[tuple[Any, str]]
Leaf = Callable[[dict[str, Any]], Expr]


def lines(path: Path) -> Iterator[Any]:
    """The objects of a gzipped JSON Lines file."""
    with gzip.open(path, "rb") as file:
        for line in file:
            yield json.loads(line)


def tree_of(rule: dict[str, Any], leaf: Leaf) -> Expr:
    """A rule of the common format as a tree; ``leaf`` says what a leaf means."""
    if "and" in rule:
        return And(tuple(tree_of(child, leaf) for child in rule["and"]))
    if "or" in rule:
        return Or(tuple(tree_of(child, leaf) for child in rule["or"]))
    if "not" in rule:
        return Not(tree_of(rule["not"], leaf))
    return leaf(rule)


def any_of(branches: Iterable[Expr]) -> Expr:
    """One branch as it is, several under OR."""
    found = tuple(branches)
    return found[0] if len(found) == 1 else Or(found)


def values_of(leaf: dict[str, Any]) -> list[Any]:
    """The values of a leaf, of which any will do."""
    value = leaf.get("v")
    return value if isinstance(value, list) else [value]


def matched(index: Index, events: Iterable[Any], names: list[Any], batch_size: int = 4096) -> Pairs:
    """The pairs (name of the event, subscription) of a run in which no event may be refused."""
    found: Pairs = set()
    count = 0
    for batch in index.match_batches(events, batch_size=batch_size):
        assert not batch.refused, batch.refused[0]
        count += batch.events
        rows, ids = batch.table["event"].to_pylist(), batch.table["subscription"].to_pylist()
        found.update((names[row], name) for row, name in zip(rows, ids, strict=True))
        assert len(rows) == len(set(zip(rows, ids, strict=True))), "a pair was reported twice"
    assert count == len(names)
    return found


def assert_equal_pairs(found: Pairs, expected: Pairs) -> None:
    """None missing, none extra."""
    missing, extra = expected - found, found - expected
    shown = {"missing": sorted(missing, key=str)[:5], "extra": sorted(extra, key=str)[:5]}
    assert found == expected, f"{len(missing)} missing, {len(extra)} extra: {shown}"
