"""Define the tree of an expression, its predicates, and which events it matches."""

from tamis.expression.predicates import (
    Affix,
    AtLeast,
    Between,
    Compare,
    Exists,
    In,
    Like,
    Likes,
    Near,
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
    "AtLeast",
    "Between",
    "Compare",
    "Exists",
    "Expr",
    "In",
    "Like",
    "Likes",
    "Near",
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
