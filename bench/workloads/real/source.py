"""Provide the base of real workloads: a random order, and an end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench.workloads.base import Ints
from bench.workloads.draw import generator
from bench.workloads.real.data import event_table, lines, shared_folder
from bench.workloads.synthetic import Synthetic
from tamis.expression.tree import Expr
from tamis.language import to_text
from tamis.limits import DEFAULT_LIMITS


@dataclass(frozen=True)
class Real(Synthetic):
    """Subscriptions and events from a folder of data; the seed decides which come first.

    The number of subscriptions is limited; the events begin again after the last.
    """

    def parameters(self) -> dict[str, Any]:
        """Return the numbers of subscriptions and events."""
        return super().parameters() | {"known_subscriptions": self.known, "known_events": len(self._events)}

    @property
    @abstractmethod
    def known(self) -> int | None:
        """The number of subscriptions, unless it is unlimited."""

    @abstractmethod
    def read_events(self) -> Iterator[dict[str, Any]]:
        """Return all events as dictionaries."""

    def lines(self, name: str) -> Iterator[Any]:
        """Return the objects of a file of the data sets; raise ``ValueError`` if there is none."""
        file = shared_folder() / name
        if not file.is_file():
            raise ValueError(
                f"{self.name} needs {Path(name).name} at {file.parent}; "
                "set TAMIS_SHARED_DATA to the folder that holds the data sets"
            )
        return lines(file)

    def stream(self, seed: int, rows: range, book: int) -> pa.Table:
        """Return events in a random order, again and again."""
        order = generator(seed, f"{self.name} events").permutation(len(self._events))
        return event_table(self._events[order[at % len(order)]] for at in rows)

    def chosen(self, seed: int, rows: range) -> Ints:
        """Return the places of the subscriptions of these numbers."""
        known = self.known or 0
        if rows.stop > known:
            raise ValueError(f"{self.name} has {known:,} subscriptions; ask for at most so many")
        order = generator(seed, f"{self.name} subscriptions").permutation(known)
        return np.asarray(order[rows.start : rows.stop])

    @cached_property
    def _events(self) -> list[dict[str, Any]]:
        return list(self.read_events())


@dataclass(frozen=True)
class RealRules(Real):
    """Rules that are trees; those beyond the default limits are left out, and counted."""

    def parameters(self) -> dict[str, Any]:
        """Return the numbers of rules and events, and of rules that are too large."""
        return super().parameters() | {"left_out": self._rules[1]}

    @abstractmethod
    def read_rules(self) -> Iterator[tuple[str, Expr]]:
        """Return the id and the tree of every rule."""

    @property
    def known(self) -> int:
        """The number of rules."""
        return len(self._rules[0])

    def in_text(self, count: int) -> int:
        """Return the number of all rules: all are texts."""
        return count

    def columns(self, seed: int, rows: range) -> pa.Table:
        """Return no columns."""
        kinds = {name: pa.array([], pa.string()) for name in ("id", "attribute", "operator")}
        return pa.table(kinds | {"string": pa.array([], pa.list_(pa.string()))})

    def expressions(self, seed: int, rows: range) -> pa.Table:
        """Return rules in a random order."""
        some = [self._rules[0][at] for at in self.chosen(seed, rows)]
        ids, texts = ([entry[at] for entry in some] for at in (0, 1))
        return pa.table({"id": pa.array(ids, pa.string()), "expression": pa.array(texts, pa.string())})

    @cached_property
    def _rules(self) -> tuple[list[tuple[str, str]], int]:
        """Ids and texts, and the number of rules that are too large."""
        kept, left_out = [], 0
        for name, tree in self.read_rules():
            text = to_text(tree)
            if _leaves(tree) > DEFAULT_LIMITS.expression_predicates or (
                len(text.encode()) > DEFAULT_LIMITS.expression_bytes
            ):
                left_out += 1
            else:
                kept.append((name, text))
        return kept, left_out


def _leaves(tree: Expr) -> int:
    children = getattr(tree, "children", None) or ([tree.child] if hasattr(tree, "child") else [])
    return sum(map(_leaves, children)) if children else 1
