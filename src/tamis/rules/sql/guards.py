"""Refuse parts of a parsed condition that a reader would pass over."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from tamis.errors import ParseError
from tamis.rules.sql.operands import sql_of

_COMPARISONS = (
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Escape,
)
_FUNCTIONS: tuple[Any, ...] = (
    exp.StartsWith,
    exp.EndsWith,
    exp.Contains,
    exp.ArrayContainsAll,
    exp.ArrayOverlaps,
)
_FUNCTIONS += (exp.ArrayContains, exp.RegexpILike, exp.BitwiseLeftShift)
# The parts of a node beside its two operands that its reader looks at.
_KNOWN: dict[type[Any], tuple[str, ...]] = {
    **dict.fromkeys((*_COMPARISONS, *_FUNCTIONS), ()),
    exp.Like: ("negate",),
    exp.ILike: ("negate",),
    exp.Is: ("negate",),
    exp.Between: ("low", "high", "symmetric"),
    exp.In: ("expressions", "unnest", "query", "field"),
    exp.RegexpLike: ("flag", "full_match"),
    exp.RegexpILike: ("flag",),
}


def refuse_unknown(node: Any) -> None:
    """Refuse a node with a part that its reader does not look at, such as one of a later sqlglot."""
    known = _KNOWN.get(type(node))
    if known is None:
        return
    for key, part in node.args.items():
        if part not in (None, False, []) and key not in ("this", "expression", *known):
            raise ParseError(f"Tamis does not know the part {key!r} of {sql_of(node)}")


def refuse_ambiguous(node: Any) -> None:
    """Refuse NOT LIKE ANY and NOT LIKE ALL."""
    if isinstance(node, exp.Like | exp.ILike) and isinstance(node.expression, exp.Any | exp.All):
        raise ParseError("databases read NOT LIKE ANY and NOT LIKE ALL in two ways; write NOT (… LIKE ANY …)")


def is_all(node: Any) -> bool:
    """Return whether a node is ALL (…), which sqlglot reads as a function."""
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ALL" and len(node.expressions) == 1
