"""Rules about map objects, and OpenStreetMap objects, in our language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.workloads.real.data import tree_of, values_of
from bench.workloads.real.source import RealRules
from tamis.expression.predicates import Exists, In
from tamis.expression.tree import Expr


def expression_of(rule: dict[str, Any]) -> Expr:
    """Return the expression of a rule about map objects."""
    return tree_of(rule["expr"], _leaf)


def _leaf(leaf: dict[str, Any]) -> Expr:
    if leaf["op"] in ("exists", "missing"):
        return Exists(leaf["f"], negated=leaf["op"] == "missing")
    if leaf["op"] not in ("eq", "in"):
        raise ValueError(f"no reading for the operator {leaf['op']!r}")
    return In(leaf["f"], tuple(values_of(leaf)))


def event_of(line: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a map object."""
    return {name: value for name, value in line.items() if name not in ("id", "osm", "_in")}


@dataclass(frozen=True)
class RealGeo(RealRules):
    """Presets and brands against map objects."""

    name: str = "real-geo"

    @property
    def about(self) -> str:
        """One line for people."""
        return "real: presets and brands (ISC, BSD-3) against objects (c) OpenStreetMap contributors (ODbL)"

    def read_rules(self) -> Iterator[tuple[str, Expr]]:
        """Return all rules."""
        return ((rule["id"], expression_of(rule)) for rule in self.lines("geo_osm/rules.jsonl.gz"))

    def read_events(self) -> Iterator[dict[str, Any]]:
        """Return all objects."""
        return map(event_of, self.lines("geo_osm/events.jsonl.gz"))
