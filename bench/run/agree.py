"""Compare the pairs of two engines, and describe the first difference in full."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from bench.run.material import Material, library_build
from bench.run.plan import Plan
from bench.timing import Timing
from bench.workloads.truth import rows_of
from tamis import to_text

Pair = tuple[int, str]


@dataclass(frozen=True)
class Case:
    """One pair that one engine finds and another does not."""

    finder: str
    loser: str
    event: int
    subscription: str
    workload: str = ""
    parameters: dict[str, Any] | None = None
    seed: int = 0
    expression: str = ""
    attributes: dict[str, Any] | None = None
    holds: bool | None = None
    explanation: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the case as plain values, for a file."""
        return asdict(self)

    def __str__(self) -> str:
        pair = f"event {self.event}, subscription {self.subscription!r}"
        return f"{pair}: {self.finder} finds it, {self.loser} does not"


class Disagreement(Exception):
    """An error: two engines gave different pairs; ``case`` is the first of them."""

    def __init__(self, case: Case) -> None:
        super().__init__(str(case) + (f"\n{case.explanation}" if case.explanation else ""))
        self.case = case


def agree(one: str, first: Timing, other: str, second: Timing) -> None:
    """Raise :class:`Disagreement` unless both found the same pairs among the events that both matched."""
    common = min(first.events, second.events)
    left, right = _in_order(first.pairs, common), _in_order(second.pairs, common)
    if left.equals(right):
        return
    raise Disagreement(_first_difference(one, _tuples(left), other, _tuples(right)))


def _in_order(pairs: pa.Table, events: int) -> pa.Table:
    few = pairs.filter(pc.less(pairs.column("event"), events)).select(["event", "subscription"])
    return few.sort_by([("event", "ascending"), ("subscription", "ascending")]).combine_chunks()


def _tuples(pairs: pa.Table) -> list[Pair]:
    columns = (pairs.column(name).to_pylist() for name in ("event", "subscription"))
    return list(zip(*columns, strict=True))


def _first_difference(one: str, left: list[Pair], other: str, right: list[Pair]) -> Case:
    different = set(left).symmetric_difference(right)
    if different:
        pair = min(different)
        found_by_one = pair in set(left)
    else:  # the pairs are the same, but one engine reports a pair more often than the other
        longer, shorter = (left, right) if len(left) > len(right) else (right, left)
        pair = next(a for a, b in zip(longer, [*shorter, None], strict=False) if a != b)
        found_by_one = longer is left
    finder, loser = (one, other) if found_by_one else (other, one)
    return Case(finder, loser, *pair)


def described(case: Case, plan: Plan, material: Material) -> Case:
    """Return ``case`` with everything needed to investigate it, judged by the tree evaluator."""
    known = replace(case, workload=plan.workload.name, parameters=plan.as_parameters(), seed=plan.seed)
    event = next(iter(rows_of(material.events.slice(case.event, 1))))
    index = _alone(case.subscription, material)
    if index is None:
        return replace(known, attributes=event, explanation="no subscription of the book has this id")
    found = index.explain(case.subscription, event)
    expression = to_text(index.expression(case.subscription))
    return replace(
        known, attributes=event, expression=expression, holds=found.matched, explanation=str(found)
    )


def _alone(subscription: str, material: Material) -> Any:
    """Return an index of this subscription alone."""
    for table in (material.columns, material.texts):
        mine = table.filter(pc.equal(table.column("id").cast(pa.string()), subscription))
        if mine.num_rows:
            return library_build()(mine, engine="scan")
    return None
