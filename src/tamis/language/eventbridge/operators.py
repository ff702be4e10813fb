"""Read the entries in the list of a field: values, and objects such as ``{"prefix": "a"}``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tamis.errors import PatternError, TypeMismatch
from tamis.expression.operands import clean_operand, kind_of
from tamis.expression.predicates import Between, Compare, Exists, In, Like, Network, Predicate
from tamis.expression.tree import And, Expr, Not, Or
from tamis.language.check import check_tree
from tamis.language.eventbridge.place import Place
from tamis.language.eventbridge.wildcard import like_of, literal
from tamis.values.event import NULLS
from tamis.values.value import predecessor, successor


def equal(place: Place, values: list[Any], negated: bool = False) -> Predicate:
    """Return the predicate that some value is one of these; ``negated``: present and none is."""
    if len(values) == 1:
        return Compare(place.name, "!=" if negated else "=", values[0])
    return In(place.name, tuple(values), negated)


def is_null(place: Place) -> Predicate:
    """Return the predicate that the attribute is written as null, perhaps among other values."""
    return Compare(NULLS, "=", place.name)


Operator = Callable[[Any, Place], Expr]


def read_operator(entry: Mapping[str, Any], place: Place) -> Expr:
    """Return the checked condition of ``{operator: operand}``."""
    return _read(entry, place, OPERATORS)


def _read(entry: Mapping[str, Any], place: Place, known: Mapping[str, Operator]) -> Expr:
    if len(entry) != 1:
        place.refuse(f"an operator is an object with one key, not {len(entry)}")
    ((name, operand),) = entry.items()
    if name not in known:
        place.refuse(f"{str(name)[:40]!r} is no operator here; there are {', '.join(known)}")
    here = place.inside(name)
    with here.blamed():
        return check_tree(known[name](operand, here), place.limits)


def _string(operand: Any, place: Place) -> str:
    if not isinstance(operand, str):
        place.refuse(f"expected a string, found {kind_of(operand)}", TypeMismatch)
    return operand


def _prefix(operand: Any, place: Place) -> Expr:
    text, fold = _perhaps_folded(operand, place)
    return Like(place.name, literal(text) + "%", fold)


def _suffix(operand: Any, place: Place) -> Expr:
    text, fold = _perhaps_folded(operand, place)
    return Like(place.name, "%" + literal(text), fold)


def _perhaps_folded(operand: Any, place: Place) -> tuple[str, bool]:
    """Return a text, and whether its case is ignored."""
    if isinstance(operand, Mapping) and list(operand) == ["equals-ignore-case"]:
        return _string(operand["equals-ignore-case"], place.inside("equals-ignore-case")), True
    return _string(operand, place), False


def _ignoring_case(operand: Any, place: Place) -> Expr:
    return Like(place.name, literal(_string(operand, place)), True)


def _wildcard(operand: Any, place: Place) -> Expr:
    return Like(place.name, like_of(_string(operand, place), place.limits))


def _cidr(operand: Any, place: Place) -> Expr:
    if "/" not in _string(operand, place):
        place.refuse(f"{operand[:80]!r} is not a CIDR block such as '10.0.0.0/24'", PatternError)
    return Network(place.name, (operand,))


def _exists(operand: Any, place: Place) -> Expr:
    if not isinstance(operand, bool):
        place.refuse(f"expected true or false, found {kind_of(operand)}", TypeMismatch)
    if operand:
        return Or((Exists(place.name), is_null(place)))
    return And((Exists(place.name, negated=True), Not(is_null(place))))


def _numeric(operand: Any, place: Place) -> Expr:
    """Return one comparison, or a range that one and the same value must lie in."""
    match operand:
        case ["=" | "<" | "<=" | ">" | ">=" as op, number]:
            return Compare(place.name, op, _number(number, place.inside(1)))
        case [">" | ">=" as over_op, low, "<" | "<=" as under_op, high]:
            first, last = _number(low, place.inside(1)), _number(high, place.inside(3))
            if first >= last:
                place.refuse(f"the lower end {first} is not below the upper end {last}")
            # One value must lie in the range, whereas two conditions could be met by two values. So open ends
            # are written as the next number, and BETWEEN takes it.
            # open ends are written as the next number, which is BETWEEN's.
            ends = (
                successor(first) if over_op == ">" else first,
                predecessor(last) if under_op == "<" else last,
            )
            return Between(place.name, *ends)
    place.refuse('expected [operator, number] such as ["=", 5], or a range such as [">", 0, "<=", 5]')


def _number(operand: Any, place: Place) -> Any:
    if isinstance(operand, bool) or not isinstance(operand, int | float):
        place.refuse(f"expected a number, found {kind_of(operand)}", TypeMismatch)
    with place.blamed():
        return clean_operand(operand, place.limits)


def _anything_but(operand: Any, place: Place) -> Expr:
    """Return the condition that the attribute is present, perhaps as null, and no value is one of these."""
    if isinstance(operand, Mapping):
        denied = _read(operand, place, _DENIABLE)
    else:
        denied = equal(place, _alike(operand, place), negated=True)
    return Or((denied, is_null(place)))


def _alike(operand: Any, place: Place) -> list[Any]:
    """Return one string or number as a list, or a list of only strings or only numbers."""
    values = list(operand) if isinstance(operand, list | tuple) else [operand]
    for kind in (str, int | float):
        if values and all(isinstance(value, kind) and not isinstance(value, bool) for value in values):
            return values
    place.refuse("expected a string, a number, or a list of only strings or only numbers", TypeMismatch)


def _none_of(pattern: Operator, empty: bool = False) -> Operator:
    """Return the denial of ``pattern`` for one string or each of a list; ``empty`` allows an empty string."""

    def denial(operand: Any, place: Place) -> Expr:
        several = isinstance(operand, list | tuple)
        if several and not operand:
            place.refuse("an empty list says nothing; give at least one string")
        parts: list[Expr] = []
        for at, item in enumerate(operand if several else (operand,)):
            here = place.inside(at) if several else place
            if not _string(item, here) and not empty:
                here.refuse("an empty string stands in every value, so nothing would be left")
            with here.blamed():
                like: Any = pattern(item, here)
            parts.append(Like(like.attribute, like.pattern, like.fold, negated=True))
        return And(tuple(parts))

    return denial


_DENIABLE: dict[str, Operator] = {
    "prefix": _none_of(_prefix),
    "suffix": _none_of(_suffix),
    "equals-ignore-case": _none_of(_ignoring_case, empty=True),
    "wildcard": _none_of(_wildcard, empty=True),
}
OPERATORS: dict[str, Operator] = {
    "prefix": _prefix,
    "suffix": _suffix,
    "equals-ignore-case": _ignoring_case,
    "wildcard": _wildcard,
    "anything-but": _anything_but,
    "numeric": _numeric,
    "exists": _exists,
    "cidr": _cidr,
}
