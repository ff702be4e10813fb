"""Give hints for the JSON form: operators and objects of other query languages in JSON."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

_OPERATORS = {
    **dict.fromkeys(("==", "===", "eq", "$eq", "equals", "is", "term"), "="),
    **dict.fromkeys(("!==", "<>", "ne", "$ne", "neq", "not equals"), "!="),
    **dict.fromkeys(("gt", "$gt"), ">"),
    **dict.fromkeys(("gte", "ge", "$gte", "=>"), ">="),
    **dict.fromkeys(("lt", "$lt"), "<"),
    **dict.fromkeys(("lte", "le", "$lte", "=<"), "<="),
    **dict.fromkeys(("$in", "one of", "any of", "terms"), "in"),
    **dict.fromkeys(("$nin", "nin", "none of"), "not in"),
    **dict.fromkeys(("regex", "regexp", "$regex", "matches", "match", "=~"), "rlike"),
    **dict.fromkeys(("includes", "containing"), "contains"),
    **dict.fromkeys(("startswith", "prefix", "begins with"), "starts with"),
    **dict.fromkeys(("endswith", "suffix"), "ends with"),
    **dict.fromkeys(("is null", "missing", "null"), "not exists"),
    **dict.fromkeys(("is not null", "present", "$exists"), "exists"),
    **dict.fromkeys(("has", "search"), "has any"),
    **dict.fromkeys(("range", "$between"), "between"),
    **dict.fromkeys(("cidr", "in cidr"), "in network"),
}
_EXAMPLE = '{"attribute": "price", "op": "<=", "value": 580}'


def operator_hint(op: str, known: Collection[str]) -> str:
    """Return the correction for an unknown operator."""
    word = op.lower().strip().replace("_", " ").replace("-", " ")
    near = [_OPERATORS[word]] if word in _OPERATORS else get_close_matches(word, known, 1)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"The operators are {', '.join(known)}"


def object_hint(data: Mapping[str, Any]) -> str:
    """Return the correction for an object that is neither a node nor a predicate."""
    folded = {str(key).lower().lstrip("$") for key in data}
    if folded & {"and", "or", "not"}:
        return 'Write the keys "and", "or" and "not" in lower case, one in an object, without a sign'
    if "op" in data or "operator" in data:
        return f"A predicate has the keys attribute and op: {_EXAMPLE}"
    return f'Write each condition as {_EXAMPLE} and join several in {{"and": […]}}'
