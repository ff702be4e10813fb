"""Define the targets of the suite's figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """A figure and the bound it must keep."""

    name: str
    bound: float
    unit: str
    at_least: bool = False

    def judged(self, value: float) -> dict[str, Any]:
        """Return ``value`` beside its bound."""
        met = value >= self.bound if self.at_least else value <= self.bound
        return asdict(self) | {"value": value, "met": met}


TARGETS = (
    Target("w4-dense, match, against scan", 200, "×", at_least=True),
    Target("w4-dense, match, against a bare loop", 200, "×", at_least=True),
    Target("w4-dense, end to end, against scan", 200, "×", at_least=True),
    Target("w4-sparse, match, against scan", 3_000, "×", at_least=True),
    Target("w4-sparse, match, against a bare loop", 3_000, "×", at_least=True),
    Target("w4-sparse, end to end, against scan", 3_000, "×", at_least=True),
    Target("w4-dense, build", 5, "s"),
    Target("w4-sparse, build", 5, "s"),
    Target("w4-dense, on disk", 150, "bytes a subscription"),
    Target("w4-sparse, on disk", 150, "bytes a subscription"),
    Target("parse, five comparisons", 30_000, "expressions/s", at_least=True),
    Target("parse, five predicates, three of them BETWEEN", 30_000, "expressions/s", at_least=True),
    Target("bulk columns", 1_000_000, "predicates/s", at_least=True),
    Target("match of one dict, next to no kernel", 15, "µs"),
    Target("import tamis", 0.3, "s"),
    Target("first match, warm cache", 1, "s"),
    Target("first match ever", 20, "s"),
)
