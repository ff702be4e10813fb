"""Read and write expressions in every form; each form becomes the same kind of tree.

Text, JSON, query strings, search boxes, EventBridge patterns, Lucene queries and Python objects all end in
:func:`check_tree`, so a tree that leaves this package is valid and canonical: ``parse(to_text(tree)) ==
tree`` and ``from_json(to_json(tree)) == tree``.
"""

from __future__ import annotations

from tamis.language.build import Attribute, attr
from tamis.language.check import check_tree
from tamis.language.eventbridge import from_eventbridge
from tamis.language.forms import FORMS, expression_from, read
from tamis.language.json_form import from_json, to_json
from tamis.language.lucene import from_lucene
from tamis.language.parse import parse
from tamis.language.printer import Span, span_of, to_text
from tamis.language.query_string import from_query_string
from tamis.language.search_box import from_search_box

__all__ = [
    "FORMS",
    "Attribute",
    "Span",
    "attr",
    "check_tree",
    "expression_from",
    "from_eventbridge",
    "from_json",
    "from_lucene",
    "from_query_string",
    "from_search_box",
    "parse",
    "read",
    "span_of",
    "to_json",
    "to_text",
]
