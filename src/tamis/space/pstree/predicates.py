"""Write predicates as ranges between cuts, by operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

End = tuple[Any, bool] | None  # a value and whether the cut is after it; None: the end of the domain
Range = tuple[End, End]


def ranges_of(operator: str, values: tuple[Any, ...], order: Callable[[Any], Any]) -> list[Range]:
    """Return the disjoint ranges that a predicate covers, in order; none if no value satisfies it."""
    if operator in ("in", "not in"):
        members = sorted(set(values), key=order)
        return _points(members) if operator == "in" else _between(members)
    arity = 2 if operator == "between" else 1
    if len(values) != arity:
        raise ValueError(f"{operator} takes {arity} value(s), not {len(values)}")
    value = values[0]
    match operator:
        case "=":
            return _points([value])
        case "!=":
            return _between([value])
        case "<":
            return [(None, (value, False))]
        case "<=":
            return [(None, (value, True))]
        case ">":
            return [((value, True), None)]
        case ">=":
            return [((value, False), None)]
        case "between":
            return [((value, False), (values[1], True))] if order(value) <= order(values[1]) else []
    raise ValueError(f"there is no operator {operator!r}")


def _points(members: list[Any]) -> list[Range]:
    return [((value, False), (value, True)) for value in members]


def _between(members: list[Any]) -> list[Range]:
    """Return the ranges of all values except the members."""
    lows: list[End] = [None, *((value, True) for value in members)]
    highs: list[End] = [*((value, False) for value in members), None]
    return list(zip(lows, highs, strict=True))
