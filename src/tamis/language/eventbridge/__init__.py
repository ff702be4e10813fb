"""Read EventBridge patterns: objects shaped like the event, in which each field lists its values.

::

    {
        "source": ["aws.ec2"],
        "detail": {"state": [{"anything-but": "pending"}], "count": [{"numeric": [">", 0, "<=", 5]}]},
    }

All fields must hold; of a list one entry is enough. These patterns distinguish an explicit null from a
missing attribute. All other expressions treat the two alike, so a pattern tests the attribute ``$null``
wherever the difference matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tamis.expression.operands import clean_name, depth_limit, kind_of, over
from tamis.expression.tree import And, Expr, Or
from tamis.language.check import check_tree
from tamis.language.eventbridge.operators import OPERATORS, equal, is_null, read_operator
from tamis.language.eventbridge.place import Place
from tamis.language.json_form import decode_json
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers

_OR = "$or"


def from_eventbridge(
    pattern: Mapping[str, Any] | str | bytes,
    limits: Limits = DEFAULT_LIMITS,
    analysers: Analysers = NO_ANALYSERS,
) -> Expr:
    """Return the tree of an EventBridge event pattern, passed as decoded data or as JSON text."""
    decoded = decode_json(pattern, limits) if isinstance(pattern, str | bytes) else pattern
    return check_tree(_all_of(decoded, Place("", "$", limits), 1), limits, analysers)


def _all_of(fields: Any, place: Place, depth: int) -> Expr:
    return And(tuple(_conditions(fields, place, depth)))


def _conditions(fields: Any, place: Place, depth: int) -> Iterator[Expr]:
    """Yield a condition for each field, those of nested objects in the same row."""
    if (deepest := depth_limit(place.limits)) < depth:
        with place.blamed():
            raise over("expression_depth", deepest, f"the pattern is at least {depth} levels deep")
    if not isinstance(fields, Mapping):
        place.refuse(f"a pattern is a JSON object, not {kind_of(fields)}")
    if not fields:
        place.refuse("an empty object says nothing; name at least one field")
    for key, body in fields.items():
        here = place.field(key)
        if isinstance(body, Mapping):
            yield from _conditions(body, here, depth + 1)
        elif not isinstance(body, list | tuple):
            here.refuse(f"a field holds a list of values or an object, not {kind_of(body)}; write it in [ ]")
        elif key == _OR and _is_choice(body, here):
            branches = [here.inside(at)._replace(name=place.name) for at in range(len(body))]
            yield Or(tuple([_all_of(*branch, depth + 1) for branch in zip(body, branches, strict=True)]))
        else:
            condition = _one_of(body, here)
            yield from condition.children if isinstance(condition, And) else (condition,)


def _is_choice(body: list[Any] | tuple[Any, ...], place: Place) -> bool:
    """Return whether ``$or`` is a choice of patterns; else it is a field of that name, as in older rules."""
    objects = [item for item in body if isinstance(item, Mapping)]
    if not objects or any(key in OPERATORS for item in objects for key in item):
        return False
    if len(objects) < max(len(body), 2):
        place.refuse("a choice is a list of two or more objects")
    return True


def _one_of(entries: list[Any] | tuple[Any, ...], place: Place) -> Expr:
    if not entries:
        place.refuse("an empty list says nothing; give at least one value")
    with place.blamed():
        clean_name(place.name, place.limits)
    plain: list[Any] = []
    parts: list[Expr] = []
    for at, entry in enumerate(entries):
        here = place.inside(at)
        if isinstance(entry, Mapping):
            part = read_operator(entry, here)
            parts.extend(part.children if isinstance(part, Or) else (part,))
        elif entry is None:
            parts.append(is_null(place))
        elif isinstance(entry, bool | int | float | str):
            plain.append(entry)
        else:
            here.refuse(f"a value is a string, a number, true, false or null, not {kind_of(entry)}")
    if plain:
        with place.blamed():
            parts.insert(0, check_tree(equal(place, plain), place.limits))
    return parts[0] if len(parts) == 1 else Or(tuple(parts))
