"""Provide measures of a book for tests of workloads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads import Workload
from bench.workloads.truth import Book, rows_of


def sizes(table: pa.Table) -> np.ndarray[Any, Any]:
    """Return the predicates per subscription."""
    counted = table.group_by("id").aggregate([("attribute", "count")])
    return counted.column("attribute_count").to_numpy()


def share(table: pa.Table, *operators: str) -> float:
    """Return the share of predicates with one of these operators."""
    wanted = pc.is_in(table.column("operator").cast(pa.string()), pa.array(operators))
    return float(pc.mean(wanted.cast(pa.int8())).as_py())


def assert_attributes_differ(table: pa.Table) -> None:
    """Assert that no subscription has two predicates on one attribute."""
    pairs = table.select(["id", "attribute"]).group_by(["id", "attribute"]).aggregate([])
    assert pairs.num_rows == table.num_rows, "an attribute stands twice in a subscription"


def mean_matches(workload: Workload, count: int, events: int) -> float:
    """Return the matches per event by brute force."""
    found = Book(workload.subscriptions(count, 5))
    return float(np.mean([len(found.matches(event)) for event in rows_of(workload.events(events, 5, count))]))
