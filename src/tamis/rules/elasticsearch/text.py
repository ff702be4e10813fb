"""Read the full text queries: match, phrases, several fields, and query strings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tamis.errors import TypeMismatch
from tamis.expression.operands import kind_of
from tamis.expression.predicates import AtLeast, Near, Text
from tamis.expression.tree import FALSE, TRUE, Expr
from tamis.language.eventbridge.place import Place
from tamis.language.lucene import from_lucene, weighted
from tamis.rules.trees import either
from tamis.values.text import terms_of

_SHARE = re.compile(r"(-?)([0-9]{1,3})(%?)")
_BOOST = re.compile(r"(.+)\^([0-9]{1,6}(?:\.[0-9]{1,6})?)")
MATCH: tuple[str, ...] = (
    *("query", "operator", "fuzziness", "prefix_length", "minimum_should_match", "zero_terms_query", "boost"),
    *("_name", "lenient", "auto_generate_synonyms_phrase_query", "fuzzy_transpositions", "max_expansions"),
)
PHRASE = ("query", "slop", "zero_terms_query", "boost", "_name", "max_expansions")
SEVERAL = (*MATCH, "fields", "type", "slop", "tie_breaker")
QUERY_STRING = ("query", "default_field", "fields", "default_operator", "boost", "_name", "lenient")


def words_of(body: Mapping[str, Any], place: Place) -> list[str]:
    """Return the words of a query."""
    query = body.get("query")
    if isinstance(query, bool) or not isinstance(query, str | int | float):
        place.refuse(f"expected a text as 'query', found {kind_of(query)}", TypeMismatch)
    return terms_of(str(query))


def _no_words(body: Mapping[str, Any]) -> Expr:
    return TRUE if str(body.get("zero_terms_query", "none")).lower() == "all" else FALSE


def match(name: str, body: Mapping[str, Any], place: Place, last_is_prefix: bool = False) -> Expr:
    """Return the test that a text has any or all of the words."""
    words = words_of(body, place)
    if not words:
        return _no_words(body)
    terms = [term + _edits(term, body, place) for term in words]
    if last_is_prefix:
        terms[-1] = f"{words[-1]}*"
    terms = list(dict.fromkeys(terms))
    if str(body.get("operator", "or")).lower() == "and":
        return Text(name, "all", tuple(terms))
    needed = minimum(body.get("minimum_should_match"), len(terms), place)
    if needed <= 1:
        return Text(name, "any", tuple(terms))
    if needed > len(terms):
        return FALSE
    return AtLeast(name, tuple(terms), needed) if needed < len(terms) else Text(name, "all", tuple(terms))


def _edits(term: str, body: Mapping[str, Any], place: Place) -> str:
    """Return the number of edits behind a word, as ``fuzziness`` says."""
    fuzziness = body.get("fuzziness", 0)
    if isinstance(fuzziness, str) and fuzziness.upper() == "AUTO":
        edits = 0 if len(term) < 3 else 1 if len(term) < 6 else 2
    elif str(fuzziness) in ("0", "1", "2"):
        edits = int(fuzziness)
    else:
        place.refuse(f"the fuzziness {str(fuzziness)[:40]!r} is not 0, 1, 2 or AUTO")
    prefix = body.get("prefix_length", 0)
    if not edits:
        return ""
    return f"~{edits},{prefix}" if prefix else f"~{edits}"


def minimum(given: Any, count: int, place: Place) -> int:
    """Return how many of ``count`` conditions must hold."""
    if given is None:
        return 1
    found = _SHARE.fullmatch(str(given).strip())
    if found is None:
        place.refuse(f"minimum_should_match {str(given)[:40]!r} is no number and no percentage")
    number = int(found[2]) * count // 100 if found[3] else int(found[2])
    return max(count - number if found[1] else number, 0)


def phrase(name: str, body: Mapping[str, Any], place: Place, last_is_prefix: bool = False) -> Expr:
    """Return the test that a text has the words in a row, or so many moves away."""
    words = words_of(body, place)
    if not words:
        return _no_words(body)
    if last_is_prefix:
        words[-1] += "*"
    slop = body.get("slop", 0)
    if isinstance(slop, bool) or not isinstance(slop, int) or slop < 0:
        place.refuse(f"slop is a whole number, not {str(slop)[:40]}")
    if slop and len(words) > 1:
        return Near(name, "slop", (" ".join(words),), slop)
    return Text(name, "phrase", (" ".join(words),))


def multi_match(body: Mapping[str, Any], place: Place) -> Expr:
    """Return the test that one of several fields matches."""
    fields = body.get("fields")
    fields = [fields] if isinstance(fields, str) else fields
    if not isinstance(fields, list) or not fields or not all(isinstance(name, str) for name in fields):
        place.refuse("multi_match needs 'fields', a list of names")
    kind = body.get("type", "best_fields")
    parts = []
    for written in fields:
        found = _BOOST.fullmatch(written)
        name, boost = (found[1], float(found[2])) if found else (written, 1.0)
        if "*" in name:
            place.refuse(f"{name[:40]!r} is a pattern of names; list the fields")
        if kind in ("best_fields", "most_fields", "bool_prefix"):
            one = match(name, body, place, last_is_prefix=kind == "bool_prefix")
        elif kind in ("phrase", "phrase_prefix"):
            one = phrase(name, body, place, last_is_prefix=kind == "phrase_prefix")
        else:
            place.refuse(f"Tamis has no multi_match of the type {str(kind)[:40]!r}")
        parts.append(weighted(one, boost))
    return either(parts)


def query_string(body: Mapping[str, Any], place: Place) -> Expr:
    """Return the tree of a query in Lucene's syntax."""
    fields = body.get("fields") or body.get("default_field")
    names = [fields] if isinstance(fields, str) else fields
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        place.refuse("query_string needs 'default_field' or 'fields'; Tamis does not search all fields")
    if any("*" in name or "^" in name for name in names):
        place.refuse("a pattern of names, or a boost behind a name, is not read in query_string")
    query, operator = body.get("query"), str(body.get("default_operator", "OR")).upper()
    if not isinstance(query, str):
        place.refuse(f"expected a text as 'query', found {kind_of(query)}", TypeMismatch)
    with place.blamed():
        return from_lucene(query, tuple(names), operator, limits=place.limits)
