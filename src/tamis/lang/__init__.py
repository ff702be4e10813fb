"""Every way to write an expression, and the tree that each becomes.

Text, JSON, query strings, search boxes and Python objects all end in :func:`check_tree`, so a tree
that leaves this package is valid and canonical; ``parse(to_text(tree)) == tree`` and
``from_json(to_json(tree)) == tree``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tamis.errors import ParseError
from tamis.lang.build import Attribute, attr
from tamis.lang.check import check_tree
from tamis.lang.json_form import from_json, to_json
from tamis.lang.parse import parse
from tamis.lang.printer import to_text
from tamis.lang.query_string import from_query_string
from tamis.lang.search_box import from_search_box
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.model.expr import Expr, Node

__all__ = [
    "Attribute",
    "attr",
    "check_tree",
    "expression_from",
    "from_json",
    "from_query_string",
    "from_search_box",
    "parse",
    "to_json",
    "to_text",
]


def expression_from(source: Expr | str | Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Expr:
    """The checked tree of a tree, a text or a JSON object."""
    if isinstance(source, str):
        return parse(source, limits)
    if isinstance(source, Node):
        return check_tree(source, limits)
    if isinstance(source, Mapping):
        return from_json(source, limits)
    raise ParseError(f"an expression is a tree, a text or a JSON object, not a {type(source).__name__}")
