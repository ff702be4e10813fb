"""Export subscriptions, and check each round trip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tamis.errors import ParseError, TamisError
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import Affix, Exists, Like, Text
from tamis.expression.tree import And, Expr, Not, Or
from tamis.language import check_tree, expression_from, from_eventbridge, to_text
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.rules.elasticsearch.queries import Elasticsearch
from tamis.rules.export.elasticsearch import query_of
from tamis.rules.export.eventbridge import pattern_of
from tamis.rules.trees import literal


class Exported(NamedTuple):
    """The rules as (id, rule), and the refused subscriptions as (id, error)."""

    rules: list[tuple[str, dict[str, Any]]]
    refused: list[tuple[str, TamisError]]


def _read_query(query: Any, limits: Limits) -> Expr:
    return check_tree(Elasticsearch(limits).expression(query, []), limits)


# The writer of each format, and the reader that checks it.
EXPORTS: dict[str, tuple[Callable[[Expr], dict[str, Any]], Callable[[Any, Limits], Expr]]] = {
    "eventbridge": (pattern_of, from_eventbridge),
    "elasticsearch": (query_of, _read_query),
}


def export(
    form: str, subscriptions: Iterable[Mapping[str, Any]], limits: Limits = DEFAULT_LIMITS
) -> Exported:
    """Return the rules of subscriptions, which are objects with ``id`` and ``expression``."""
    if form not in EXPORTS:
        raise ParseError(f"there is no export to {form!r:.40}; there are {', '.join(EXPORTS)}")
    found = Exported([], [])
    for one in subscriptions:
        name = str(one.get("id", ""))
        try:
            found.rules.append(
                (name, _exported(form, expression_from(one.get("expression", ""), limits), limits))
            )
        except TamisError as bad:
            found.refused.append((name, bad))
    return found


def _exported(form: str, tree: Expr, limits: Limits) -> dict[str, Any]:
    write, read = EXPORTS[form]
    rule = write(tree)
    again = read(rule, limits)
    if _canonical(again) != _canonical(tree):
        raise ParseError(f"imported again, the rule would say {to_text(again)[:200]}")
    return rule


def _canonical(node: Expr) -> Any:
    """Return a form that is equal for trees with the same parts in another order or another writing."""
    if isinstance(node, And | Or):
        parts: list[Any] = []
        for child in map(_canonical, node.children):
            parts.extend(child[1] if child[0] == type(node).__name__ else [child])
        return parts[0] if len(parts) == 1 else (type(node).__name__, sorted(parts, key=repr))
    if isinstance(node, Not):
        return ("Not", _canonical(node.child))
    assert isinstance(node, Predicate)
    if node.is_negative and not isinstance(node, Exists):
        return _canonical(And((Exists(node.attribute, weight=node.weight), Not(node.positive()))))
    if isinstance(node, Exists) and node.negated:
        return ("Not", _canonical(Exists(node.attribute)))
    if isinstance(node, Affix):
        before, after = ("" if node.place == "prefix" else "%", "" if node.place == "suffix" else "%")
        like = Like(node.attribute, f"{before}{literal(node.value)}{after}", weight=node.weight)
        return ("Predicate", to_text(like))
    if isinstance(node, Text):
        return ("Text", node.attribute, node.reading, node.weight)
    return ("Predicate", to_text(node))
