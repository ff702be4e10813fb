"""Turn the temporal functions of CQL2 into comparisons of the ends of intervals."""

from __future__ import annotations

from typing import Any

from tamis.errors import ParseError
from tamis.expression.predicates import Compare
from tamis.expression.tree import FALSE, Expr
from tamis.rules.cql2.parser import Interval
from tamis.rules.infix.parser import Constant, Name, Node

# Each relation of an event's interval with a fixed one: pairs of ends that must compare so.
_RELATIONS: dict[str, tuple[tuple[str, Any, str], ...]] = {
    "t_after": (("start", ">", "high"),),
    "t_before": (("end", "<", "low"),),
    "t_equals": (("start", "=", "low"), ("end", "=", "high")),
    "t_intersects": (("start", "<=", "high"), ("end", ">=", "low")),
    "t_contains": (("start", "<", "low"), ("end", ">", "high")),
    "t_during": (("start", ">", "low"), ("end", "<", "high")),
    "t_finishes": (("end", "=", "high"), ("start", ">", "low")),
    "t_finishedby": (("end", "=", "high"), ("start", "<", "low")),
    "t_meets": (("end", "=", "low"),),
    "t_metby": (("start", "=", "high"),),
    "t_overlaps": (("start", "<", "low"), ("end", ">", "low"), ("end", "<", "high")),
    "t_overlappedby": (("start", ">", "low"), ("start", "<", "high"), ("end", ">", "high")),
    "t_starts": (("start", "=", "low"), ("end", "<", "high")),
    "t_startedby": (("start", "=", "low"), ("end", ">", "high")),
}
_DISJOINT = (("end", "<", "low"), ("start", ">", "high"))
NAMES = (*_RELATIONS, "t_disjoint")
_CONVERSE = {
    "t_after": "t_before",
    "t_contains": "t_during",
    "t_finishes": "t_finishedby",
    "t_meets": "t_metby",
}
_CONVERSE |= {"t_overlaps": "t_overlappedby", "t_starts": "t_startedby"}
_CONVERSE |= {two: one for one, two in _CONVERSE.items()}


def conditions(name: str, arguments: tuple[Node, ...]) -> tuple[list[Expr], bool]:
    """Return comparisons, and whether all of them must hold (otherwise one is enough)."""
    if len(arguments) != 2:
        raise ParseError(f"{name} takes two arguments, not {len(arguments)}")
    one, two = arguments
    if _is_fixed(one) and not _is_fixed(two):
        one, two, name = two, one, _CONVERSE.get(name, name)
    names = dict(zip(("start", "end"), _names(one), strict=True))
    times = dict(zip(("low", "high"), _times(two), strict=True))
    pairs = _DISJOINT if name == "t_disjoint" else _RELATIONS[name]
    found: list[Expr] = []
    for end, sign, at in pairs:
        op: Any = sign
        time = times[at]
        if time is not None:
            found.append(Compare(names[end], op, time))
        elif _holds_at_open_end(sign, at) is False:
            found.append(FALSE)
    return found, name != "t_disjoint"


def _holds_at_open_end(sign: str, at: str) -> bool:
    """Return how every time compares with an end that is open, and lies before or behind all times."""
    return sign in ((">", ">=") if at == "low" else ("<", "<="))


def _is_fixed(node: Node) -> bool:
    if not isinstance(node, Constant):
        return False
    if isinstance(node.value, Interval):
        return all(end is None or isinstance(end, Constant) for end in node.value)
    return True


def _names(node: Node) -> tuple[str, str]:
    if isinstance(node, Name):
        return node.name, node.name
    if isinstance(node, Constant) and isinstance(node.value, Interval):
        low, high = node.value
        if isinstance(low, Name) and isinstance(high, Name):
            return low.name, high.name
    raise ParseError(
        "a temporal function compares an attribute, or an interval of two attributes, with fixed times"
    )


def _times(node: Node) -> tuple[Any, Any]:
    if isinstance(node, Constant) and isinstance(node.value, Interval):
        low, high = node.value
        if all(end is None or isinstance(end, Constant) for end in (low, high)):
            return (low and low.value), (high and high.value)  # type: ignore[union-attr]
    if isinstance(node, Constant) and not isinstance(node.value, str | bool | int | float | tuple):
        return node.value, node.value
    raise ParseError(
        "a temporal function compares an attribute with a DATE, a TIMESTAMP or an INTERVAL of them"
    )
