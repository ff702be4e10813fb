"""Define the tree of an expression, its predicates, and which events it matches."""

from tamis.expression.predicates import (
    Affix,
    Between,
    Compare,
    Exists,
    In,
    Like,
    Network,
    Predicate,
    Regex,
    Text,
    Within,
)
from tamis.expression.tree import FALSE, TRUE, And, Expr, Node, Not, Or, Subscription

__all__ = [
    "FALSE",
    "TRUE",
    "Affix",
    "And",
    "Between",
    "Compare",
    "Exists",
    "Expr",
    "In",
    "Like",
    "Network",
    "Node",
    "Not",
    "Or",
    "Predicate",
    "Regex",
    "Subscription",
    "Text",
    "Within",
]
