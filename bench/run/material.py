"""Generate the data of a run, and build its index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from bench.run.plan import EngineSpec, Plan

Build = Callable[..., Any]

_SAMPLE_SEED = 104_729  # the events for statistics differ from those that are matched


@dataclass(frozen=True)
class Material:
    """Subscriptions in columns, those that need text, the events, and events for the builder."""

    columns: pa.Table
    texts: pa.Table
    events: pa.Table
    sample: pa.Table | None


def library_build() -> Build:
    """Call ``tamis.Index.build``, imported on first use."""
    import tamis

    build: Build = tamis.Index.build
    return build


def generate(plan: Plan) -> Material:
    """Return the subscriptions and events of ``plan``."""
    workload, n = plan.workload, plan.subscriptions
    sample = workload.events(plan.sample, plan.seed + _SAMPLE_SEED, n) if plan.sample else None
    return Material(
        workload.subscriptions(n, plan.seed),
        workload.texts(n, plan.seed),
        workload.events(plan.events, plan.seed, n),
        sample,
    )


def make_index(material: Material, spec: EngineSpec, build: Build, *, merge: bool = True) -> Any:
    """Return the index of all subscriptions, in columns and as text, merged if requested."""
    how = {"engine": spec.engine, "parameters": dict(spec.parameters), "sample": material.sample}
    ids, texts = (material.texts.column(name).to_pylist() for name in ("id", "expression"))
    written = dict(zip(ids, texts, strict=True))
    if not material.columns.num_rows:
        return build(written, **how)
    index = build(material.columns, **how)
    if written:
        index.add(written)
        if merge:
            index.merge()
    return index
