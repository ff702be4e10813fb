"""Read the operators on one field of a MongoDB query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tamis.errors import ExpressionError, PatternError, TypeMismatch
from tamis.expression.operands import kind_of
from tamis.expression.predicates import Compare, CompareOp, Exists, In, Like, Regex
from tamis.expression.tree import FALSE, And, Expr, Not
from tamis.language.eventbridge.place import Place
from tamis.rules.mongodb import geo
from tamis.rules.mongodb.values import Pattern, scalar, value_of
from tamis.rules.trees import all_of, either, in_range
from tamis.values.event import NULLS
from tamis.values.pattern import compiled

_ORDER: dict[str, CompareOp] = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_PASSED_OVER = ("$options", "$maxDistance", "$minDistance")  # read by the operator beside them


class Field(NamedTuple):
    """One field of a query: its place, the operators on it, and the differences found so far."""

    place: Place
    operators: Mapping[str, Any]
    differences: list[str]

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.place.name

    def condition(self) -> Expr:
        """Return the condition that all operators hold."""
        parts = []
        for key, operand in self.operators.items():
            if key in _PASSED_OVER:
                continue
            here = self.place.inside(str(key))
            if key not in OPERATORS:
                here.refuse(f"Tamis has no operator {str(key)[:40]!r}{_WHY.get(str(key), '')}")
            parts.append(OPERATORS[key](self, operand, here))
        if not parts:
            self.place.refuse("the object has no operator")
        return all_of(parts)


def equal(name: str, value: Any, place: Place) -> Expr:
    """Return the test that some value equals this one; null also stands for an absent field."""
    found = value_of(value, place)
    if found is None:
        return either((Exists(name, negated=True), Compare(NULLS, "=", name)))
    if isinstance(found, Pattern):
        return pattern(name, found, place)
    return Compare(name, "=", found)


def pattern(name: str, found: Pattern, place: Place) -> Expr:
    """Return the test of a regular expression."""
    if wrong := set(found.options) - set("imsu"):
        place.refuse(f"Tamis has no option {''.join(sorted(wrong))!r} of regular expressions", PatternError)
    flags = "".join(sorted(set(found.options) - {"u"}))
    text = f"(?{flags}){found.pattern}" if flags else found.pattern
    try:
        compiled(text)
    except ExpressionError as bad:
        place.refuse(bad.message, type(bad))
    return Regex(name, text)


def _eq(field: Field, operand: Any, place: Place) -> Expr:
    return equal(field.name, operand, place)


def _ne(field: Field, operand: Any, place: Place) -> Expr:
    return Not(equal(field.name, operand, place))


def _order(op: CompareOp) -> Callable[[Field, Any, Place], Expr]:
    return lambda field, operand, place: Compare(field.name, op, scalar(operand, place))


def _in(field: Field, operand: Any, place: Place) -> Expr:
    if not isinstance(operand, list):
        place.refuse(f"expected a list, found {kind_of(operand)}", TypeMismatch)
    found = [(value_of(one, place.inside(at)), place.inside(at)) for at, one in enumerate(operand)]
    plain = tuple(one for one, _ in found if one is not None and not isinstance(one, Pattern))
    parts: list[Expr] = [In(field.name, plain)] if plain else []
    parts += [pattern(field.name, one, here) for one, here in found if isinstance(one, Pattern)]
    parts += [equal(field.name, None, place)] if any(one is None for one, _ in found) else []
    return either(parts) if parts else FALSE


def _all(field: Field, operand: Any, place: Place) -> Expr:
    if not isinstance(operand, list):
        place.refuse(f"expected a list, found {kind_of(operand)}", TypeMismatch)
    parts = []
    for at, one in enumerate(operand):
        here = place.inside(at)
        if isinstance(one, Mapping) and list(one) == ["$elemMatch"]:
            parts.append(_elem_match(field, one["$elemMatch"], here.inside("$elemMatch")))
        else:
            parts.append(equal(field.name, one, here))
    return all_of(parts) if parts else FALSE


def _exists(field: Field, operand: Any, place: Place) -> Expr:
    is_null = Compare(NULLS, "=", field.name)
    if operand:
        return either((Exists(field.name), is_null))
    return And((Exists(field.name, negated=True), Not(is_null)))


def _not(field: Field, operand: Any, place: Place) -> Expr:
    if isinstance(operand, Mapping) and operand and all(str(key) in OPERATORS for key in operand):
        return Not(field._replace(place=place, operators=operand).condition())
    found = value_of(operand, place)
    if not isinstance(found, Pattern):
        place.refuse("$not takes operators or a regular expression")
    return Not(pattern(field.name, found, place))


def _regex(field: Field, operand: Any, place: Place) -> Expr:
    options = field.operators.get("$options", "")
    if isinstance(operand, Mapping):
        found = value_of(operand, place)
        if isinstance(found, Pattern):
            return pattern(field.name, found, place)
    if not isinstance(operand, str) or not isinstance(options, str):
        place.refuse(f"a regular expression and its options are texts, not {kind_of(operand)}", TypeMismatch)
    return pattern(field.name, Pattern(operand, options), place)


def _elem_match(field: Field, operand: Any, place: Place) -> Expr:
    """Return the test that one element meets all conditions, if one predicate can say that."""
    if not isinstance(operand, Mapping) or not operand:
        place.refuse("$elemMatch takes an object with conditions")
    field.differences.append(f"{field.name}: $elemMatch also accepts a single value, which is no array")
    ends = {key: scalar(value, place.inside(key)) for key, value in operand.items() if key in _ORDER}
    if len(ends) == len(operand):
        low = [key for key in ("$gt", "$gte") if key in ends]
        high = [key for key in ("$lt", "$lte") if key in ends]
        if len(low) <= 1 and len(high) <= 1:
            first, last = (ends[keys[0]] if keys else None for keys in (low, high))
            if not (isinstance(last, str) and high == ["$lt"] and low):
                with place.blamed():
                    return in_range(field.name, first, last, low == ["$gt"], high == ["$lt"])
    if len(operand) == 1:
        ((key, value),) = operand.items()
        if key in _ONE_ELEMENT:
            return OPERATORS[key](field._replace(operators=operand), value, place.inside(key))
        if not key.startswith("$"):
            return _field_of_element(field, key, value, place.field(key))
    place.refuse(
        "the conditions must hold in one element of an array; Tamis flattens arrays, so only one condition"
        " or a range can be tested"
    )


def _field_of_element(field: Field, key: str, value: Any, place: Place) -> Expr:
    is_operators = isinstance(value, Mapping) and any(str(name).startswith("$") for name in value)
    if is_operators and len(value) == 1 and next(iter(value)) in _ONE_ELEMENT:
        return Field(place, value, field.differences).condition()
    if not isinstance(value, Mapping) and value is not None:
        return equal(place.name, value, place)
    place.refuse("only one positive condition on the elements of an array can be tested")


_LEAST = datetime(1, 1, 1, tzinfo=UTC)
# A test that all values of a type satisfy, and no other value.
_TYPES: dict[str, Callable[[str], Expr]] = {
    "string": lambda name: Like(name, "%"),
    "number": lambda name: Compare(name, ">=", -1.7976931348623157e308),
    "bool": lambda name: In(name, (False, True)),
    "date": lambda name: Compare(name, ">=", _LEAST),
    "null": lambda name: Compare(NULLS, "=", name),
}
_NUMBERED = {2: "string", 8: "bool", 9: "date", 10: "null"}


def _type(field: Field, operand: Any, place: Place) -> Expr:
    parts = []
    for kind in operand if isinstance(operand, list) else [operand]:
        named = _NUMBERED.get(kind, kind) if isinstance(kind, int) else kind
        if not isinstance(named, str) or named not in _TYPES:
            place.refuse(
                f"Tamis cannot distinguish the type {str(kind)[:40]!r}; it knows {', '.join(_TYPES)}"
            )
        parts.append(_TYPES[named](field.name))
    return either(parts) if parts else FALSE


def _geo_within(field: Field, operand: Any, place: Place) -> Expr:
    return geo.within(field.name, operand, place)


def _near(spherical: bool) -> Callable[[Field, Any, Place], Expr]:
    def read(field: Field, operand: Any, place: Place) -> Expr:
        field.differences.append(
            f"{field.name}: {'$nearSphere' if spherical else '$near'} puts nothing in order"
        )
        return geo.near(field.name, operand, field.operators, spherical, place)

    return read


OPERATORS: dict[str, Callable[[Field, Any, Place], Expr]] = {
    "$eq": _eq,
    "$ne": _ne,
    **{key: _order(op) for key, op in _ORDER.items()},
    "$in": _in,
    "$nin": lambda field, operand, place: Not(_in(field, operand, place)),
    "$all": _all,
    "$exists": _exists,
    "$not": _not,
    "$regex": _regex,
    "$elemMatch": _elem_match,
    "$type": _type,
    "$geoWithin": _geo_within,
    "$geoIntersects": _geo_within,
    "$near": _near(spherical=False),
    "$nearSphere": _near(spherical=True),
}
_ONE_ELEMENT = ("$eq", "$in", "$regex", *_ORDER)  # operators that one element satisfies alone
_ARITHMETIC = ": Tamis has no arithmetic"
_WHY = {
    "$mod": _ARITHMETIC,
    "$size": ": Tamis does not count the elements of an array",
    **dict.fromkeys(("$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear"), _ARITHMETIC),
}
