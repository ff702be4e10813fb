"""Sigma rules and Windows events in our language.

Everything is compared as lower-cased string forms, which ILIKE does; a keyword rule (``f`` = ``*``) asks
a derived attribute that holds all values of the event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.workloads.real.data import any_of, tree_of, values_of
from bench.workloads.real.source import RealRules
from tamis.expression.predicates import Exists, Like, Network, Regex
from tamis.expression.tree import Expr

KEYWORDS = "*"
_SPECIAL = re.compile(r"([%_\\])")
_WILDCARD = re.compile(r"\\([*?\\])|([*?])|(.)", re.DOTALL)


def expression_of(rule: dict[str, Any]) -> Expr:
    """Return the expression of a Sigma rule."""
    return tree_of(rule["expr"], _leaf)


def _leaf(leaf: dict[str, Any]) -> Expr:
    name, op = leaf["f"], leaf["op"]
    if op in ("missing", "exists", "nonempty"):
        return Exists(name, negated=op == "missing")
    if op == "cidr":
        return Network(name, tuple(values_of(leaf)))
    if op == "regex":
        flags = leaf.get("flags")
        return any_of(Regex(name, f"(?{flags}){v}" if flags else v) for v in values_of(leaf))
    return any_of(Like(name, _pattern(op, text_of(v)), fold=True) for v in values_of(leaf))


def _pattern(op: str, text: str) -> str:
    if op == "wildcard":
        return _WILDCARD.sub(_wildcard, text)
    before = "%" if op in ("contains", "endswith") else ""
    after = "%" if op in ("contains", "startswith") else ""
    return before + escaped(text) + after


def _wildcard(match: re.Match[str]) -> str:
    literal, wild, other = match.groups()
    return {"*": "%", "?": "_"}[wild] if wild else escaped(literal or other)


def escaped(text: str) -> str:
    """``text`` as a LIKE pattern that only it satisfies."""
    return _SPECIAL.sub(r"\\\1", text)


def text_of(value: Any) -> str:
    """Return the string form of a value."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def event_of(line: dict[str, Any]) -> dict[str, Any]:
    """Return an event with string forms of all values, and all of them once more for the keyword rules."""
    event: dict[str, Any] = {}
    everything: list[str] = []
    for name, value in line.items():
        if value is None or name in ("_id", "_ds", "_ts", "_n"):
            continue
        texts = [text_of(item) for item in value] if isinstance(value, list) else [text_of(value)]
        event[name] = texts if isinstance(value, list) else texts[0]
        if not name.startswith("_"):
            everything += texts
    return event | {KEYWORDS: everything}


@dataclass(frozen=True)
class RealSigma(RealRules):
    """Detection rules against recorded events of Windows machines."""

    name: str = "real-sigma"

    @property
    def about(self) -> str:
        """One line for people."""
        return "real: Sigma detection rules (DRL 1.1) against OTRF event logs (MIT)"

    def read_rules(self) -> Iterator[tuple[str, Expr]]:
        """Return all rules."""
        return ((rule["id"], expression_of(rule)) for rule in self.lines("sigma_otrf/rules.jsonl.gz"))

    def read_events(self) -> Iterator[dict[str, Any]]:
        """Return all events."""
        return map(event_of, self.lines("sigma_otrf/events.jsonl.gz"))
