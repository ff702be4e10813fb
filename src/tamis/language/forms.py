"""List the written forms by name, and read an expression in any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tamis.errors import InputError, ParseError
from tamis.expression.tree import Expr, Node
from tamis.language.check import check_tree
from tamis.language.eventbridge import from_eventbridge
from tamis.language.json_form import from_json
from tamis.language.lucene import from_lucene
from tamis.language.parse import parse
from tamis.language.query_string import from_query_string
from tamis.language.search_box import from_search_box
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers


def _search_box(text: str, limits: Limits, analysers: Analysers) -> Expr:
    return from_search_box(text, limits=limits, analysers=analysers)


def _lucene(text: str, limits: Limits, analysers: Analysers) -> Expr:
    return from_lucene(text, limits=limits, analysers=analysers)


FORMS: dict[str, Callable[[Any, Limits, Analysers], Expr]] = {
    "text": parse,
    "json": from_json,
    "query-string": from_query_string,
    "search-box": _search_box,
    "eventbridge": from_eventbridge,
    "lucene": _lucene,
}


def read(
    source: Any,
    form: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    analysers: Analysers = NO_ANALYSERS,
) -> Expr:
    """Return the checked tree of ``source`` in one of :data:`FORMS`.

    Without a ``form``, ``source`` is any object that :func:`expression_from` takes.
    """
    if form is None:
        return expression_from(source, limits, analysers)
    reader = FORMS.get(form)
    if reader is None:
        raise InputError(f"there is no form {form[:40]!r}; there are {', '.join(FORMS)}", form=form[:40])
    return reader(source, limits, analysers)


def expression_from(
    source: Expr | str | Mapping[str, Any],
    limits: Limits = DEFAULT_LIMITS,
    analysers: Analysers = NO_ANALYSERS,
) -> Expr:
    """Return the checked tree of a tree, a text or the JSON form.

    The JSON form is an object, or a text that begins with ``{``.
    """
    if isinstance(source, str):
        is_json = source[:1] == "{" or (source[:1].isspace() and source.lstrip()[:1] == "{")
        return (from_json if is_json else parse)(source, limits, analysers)
    if isinstance(source, Node):
        return check_tree(source, limits, analysers)
    if isinstance(source, Mapping):
        return from_json(source, limits, analysers)
    raise ParseError(f"an expression is a tree, a text or a JSON object, not a {type(source).__name__}")
