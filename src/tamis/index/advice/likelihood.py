"""Estimate the share of events that an expression matches, by a sample or by the kind of predicate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

from tamis.expression.predicate import PRESENT
from tamis.expression.predicates import (
    Exists,
)
from tamis.expression.tree import And, Expr, Not, Or
from tamis.expression.truth import matches
from tamis.language import to_text
from tamis.values.event import Event

Share = Callable[[Expr], float]
Truth = npt.NDArray[np.bool_]


class Counted:
    """A counter of matching sample events; each predicate is evaluated once per event and remembered."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._known: dict[str, Truth] = {}

    def share(self, expr: Expr) -> float:
        """Return the share of the events that ``expr`` is true of."""
        return float(self.truth(expr).mean())

    def truth(self, expr: Expr) -> Truth:
        """Return, for each of the events, whether ``expr`` is true of it."""
        if isinstance(expr, Not):
            return ~self.truth(expr.child)
        if isinstance(expr, And | Or):
            join = np.logical_and if isinstance(expr, And) else np.logical_or
            start = np.full(len(self._events), isinstance(expr, And))
            return reduce(join, map(self.truth, expr.children), start)
        key = to_text(expr)
        if key not in self._known:
            self._known[key] = np.array([matches(expr, event) for event in self._events], np.bool_)
        return self._known[key]


def guessed(expr: Expr) -> float:
    """Return a guess of the share by rule of thumb, as if predicates were independent."""
    if isinstance(expr, And):
        return math.prod(map(guessed, expr.children))
    if isinstance(expr, Or):
        return 1.0 - math.prod(1.0 - guessed(child) for child in expr.children)
    if isinstance(expr, Not):
        return 1.0 - guessed(expr.child)
    held = expr.positive().likelihood
    if not expr.is_negative:
        return held
    return 1.0 - held if isinstance(expr, Exists) else PRESENT - held
