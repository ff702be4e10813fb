"""Define the kinds of predicates, one file each, and collect them in a registry.

To add a kind, write its class in a file of its own and add it to :data:`PREDICATES`.
"""

from __future__ import annotations

from tamis.expression.predicate import Operator, Predicate
from tamis.expression.predicates.affix import Affix
from tamis.expression.predicates.at_least import AtLeast
from tamis.expression.predicates.between import Between
from tamis.expression.predicates.compare import Compare, CompareOp
from tamis.expression.predicates.exists import Exists
from tamis.expression.predicates.like import Like
from tamis.expression.predicates.likes import Likes
from tamis.expression.predicates.membership import In
from tamis.expression.predicates.near import Near
from tamis.expression.predicates.network import Network
from tamis.expression.predicates.regex import Regex
from tamis.expression.predicates.text import Text, TextMode
from tamis.expression.predicates.version import Version
from tamis.expression.predicates.within import Within

PREDICATES: tuple[type[Predicate], ...] = (
    Compare, In, Between, Like, Likes, Affix, Regex, Text, Near, AtLeast, Within, Network, Version, Exists,
)  # fmt: skip
OPERATORS: tuple[tuple[type[Predicate], Operator], ...] = tuple(
    (kind, operator) for kind in PREDICATES for operator in kind.OPERATORS
)
"""Every operator with its kind of predicate."""

BY_CODE: dict[int, tuple[type[Predicate], Operator]] = {
    operator.code: (kind, operator) for kind, operator in OPERATORS
}
"""The operators by the code of their positive form."""

__all__ = [
    "BY_CODE",
    "OPERATORS",
    "PREDICATES",
    "Affix",
    "AtLeast",
    "Between",
    "Compare",
    "CompareOp",
    "Exists",
    "In",
    "Like",
    "Likes",
    "Near",
    "Network",
    "Predicate",
    "Regex",
    "Text",
    "TextMode",
    "Version",
    "Within",
]
