"""Import the targeting conditions of GrowthBook, which resemble queries of MongoDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from tamis.errors import ExpressionError, InputError, PatternError, TypeMismatch
from tamis.expression.operands import clean_name, depth_limit, kind_of
from tamis.expression.predicates import Compare, Exists, In, Like, Regex, Version
from tamis.expression.tree import FALSE, TRUE, Expr, Not
from tamis.language.eventbridge.place import Place
from tamis.limits import Limits
from tamis.rules.expressions import Expressions
from tamis.rules.trees import all_of, either
from tamis.values.pattern import compiled
from tamis.values.version import version_key

_ORDER: dict[str, Any] = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_VERSIONS: dict[str, Any] = {"$veq": "=", "$vne": "=", "$vgt": ">", "$vgte": ">=", "$vlt": "<", "$vlte": "<="}


class GrowthBook(Expressions):
    """The importer; ``groups`` has the values of saved groups by id."""

    JSON: ClassVar[bool] = True

    def __init__(self, limits: Limits, *, groups: Mapping[str, list[Any]] | None = None) -> None:
        super().__init__(limits)
        if groups is not None and not isinstance(groups, Mapping):
            raise InputError("groups is an object; on the command line: --option groups=@groups.json")
        self._groups = dict(groups or {})

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the tree of a condition."""
        return self._condition(rule, Place("", "$", self.limits), 1, differences)

    def _condition(self, condition: Any, place: Place, depth: int, differences: list[str]) -> Expr:
        if depth > depth_limit(self.limits):
            place.refuse(f"the condition is deeper than {depth_limit(self.limits)} levels")
        if not isinstance(condition, Mapping):
            place.refuse(f"a condition is an object, not {kind_of(condition)}")
        parts = list(self._parts(condition, place, depth, differences))
        return all_of(parts) if parts else TRUE

    def _parts(
        self, condition: Mapping[str, Any], place: Place, depth: int, differences: list[str]
    ) -> Iterator[Expr]:
        for key, body in condition.items():
            here = place.inside(str(key))
            if key in ("$and", "$or", "$nor"):
                if not isinstance(body, list):
                    here.refuse("expected a list of conditions")
                each = [
                    self._condition(one, here.inside(at), depth + 1, differences)
                    for at, one in enumerate(body)
                ]
                if key == "$and" or not each:
                    yield all_of(each) if each else TRUE
                else:
                    yield either(each) if key == "$or" else Not(either(each))
            elif key == "$not":
                yield Not(self._condition(body, here, depth + 1, differences))
            elif str(key).startswith("$"):
                here.refuse(f"Tamis has no operator {str(key)[:40]!r}")
            else:
                yield self._field(place.field(key), body, differences)

    def _field(self, place: Place, body: Any, differences: list[str]) -> Expr:
        with place.blamed():
            clean_name(place.name, self.limits)
        field = Field(place, self._groups, differences)
        if isinstance(body, Mapping) and any(str(key).startswith("$") for key in body):
            return field.all_of(body, place)
        return field.equal(body, place)


class Field(NamedTuple):
    """One attribute of a condition."""

    place: Place
    groups: Mapping[str, list[Any]]
    differences: list[str]

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.place.name

    def all_of(self, operators: Mapping[str, Any], place: Place) -> Expr:
        """Return the condition that all operators hold."""
        parts = []
        for key, operand in operators.items():
            here = place.inside(str(key))
            if key in _VERSIONS:
                parts.append(self.version(key, operand, here))
                continue
            if key not in _OPERATORS:
                here.refuse(f"Tamis has no operator {str(key)[:40]!r}")
            parts.append(_OPERATORS[key](self, operand, here))
        return all_of(parts)

    def version(self, operator: str, value: Any, place: Place) -> Expr:
        """Return the test of a version."""
        if type(value) is not str or version_key("semver", value) is None:
            place.refuse(f"{str(value)[:40]!r} is not a semantic version such as '2.10.0'", PatternError)
        self.differences.append(
            f"{self.name}: GrowthBook also orders texts that are no versions, and absent ones"
        )
        found = Version(self.name, "semver", _VERSIONS[operator], value)
        return Not(found) if operator == "$vne" else found

    def equal(self, value: Any, place: Place) -> Expr:
        """Return the test of an equality; null stands for an absent attribute."""
        if value is None:
            return Exists(self.name, negated=True)
        if isinstance(value, Mapping | list):
            place.refuse(f"Tamis has no test for {kind_of(value)} as a whole", TypeMismatch)
        self.differences.append(f"{self.name}: an array with an equal element passes, too")
        return Compare(self.name, "=", value)

    def order(self, sign: str, value: Any, place: Place) -> Expr:
        """Return an order test; an absent attribute counts as 0 in GrowthBook."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            place.refuse(f"expected a number or a text, found {kind_of(value)}", TypeMismatch)
        self.differences.append(f"{self.name}: {sign} needs a value of the same type; GrowthBook converts")
        return Compare(self.name, _ORDER[sign], value)

    def among(self, values: Any, place: Place) -> Expr:
        """Return the test that a value, or an element, is one of these."""
        if not isinstance(values, list):
            place.refuse(f"expected a list, found {kind_of(values)}", TypeMismatch)
        if any(isinstance(one, Mapping | list) for one in values):
            place.refuse("the values of a list are texts, numbers and booleans", TypeMismatch)
        plain = tuple(one for one in values if one is not None)
        parts: list[Expr] = [In(self.name, plain)] if plain else []
        parts += [Exists(self.name, negated=True)] if None in values else []
        return either(parts) if parts else FALSE

    def group(self, group: Any, place: Place) -> Expr:
        """Return the test that a value is in a saved group."""
        if not isinstance(group, str) or group not in self.groups:
            place.refuse(f"the group {str(group)[:40]!r} has no values; give them in the option groups")
        return self.among(self.groups[group], place)

    def every(self, values: Any, place: Place) -> Expr:
        """Return the test that an array has all of these."""
        if not isinstance(values, list):
            place.refuse(f"expected a list, found {kind_of(values)}", TypeMismatch)
        parts = [self.equal(one, place.inside(at)) for at, one in enumerate(values)]
        return all_of(parts) if parts else Exists(self.name)

    def denied(self, operand: Any, place: Place) -> Expr:
        """Return the denial of other operators, or of an equality."""
        if isinstance(operand, Mapping) and any(str(key).startswith("$") for key in operand):
            return Not(self.all_of(operand, place))
        return Not(self.equal(operand, place))

    def regex(self, operand: Any, place: Place) -> Expr:
        """Return the test of a regular expression."""
        if not isinstance(operand, str):
            place.refuse(f"expected a text, found {kind_of(operand)}", TypeMismatch)
        try:
            compiled(operand)
        except ExpressionError as bad:
            place.refuse(bad.message, type(bad))
        return Regex(self.name, operand)

    def type(self, operand: Any, place: Place) -> Expr:
        """Return the test of a type."""
        tests: dict[Any, Expr] = {
            "string": Like(self.name, "%"),
            "number": Compare(self.name, ">=", -1.7976931348623157e308),
            "boolean": In(self.name, (False, True)),
            "null": Exists(self.name, negated=True),
        }
        if not isinstance(operand, str) or operand not in tests:
            place.refuse(
                f"Tamis cannot distinguish the type {str(operand)[:40]!r}; it knows {', '.join(tests)}"
            )
        return tests[operand]

    def element(self, operand: Any, place: Place) -> Expr:
        """Return the test that one element satisfies one positive operator."""
        if (
            isinstance(operand, Mapping)
            and len(operand) == 1
            and next(iter(operand)) in ("$eq", "$in", "$regex", *_ORDER)
        ):
            self.differences.append(f"{self.name}: $elemMatch also accepts a single value, which is no array")
            return self.all_of(operand, place)
        place.refuse("conditions on one element of an array are one positive operator; Tamis flattens arrays")


def _order(sign: str) -> Callable[[Field, Any, Place], Expr]:
    return lambda field, operand, place: field.order(sign, operand, place)


_OPERATORS: dict[str, Callable[[Field, Any, Place], Expr]] = {
    "$eq": lambda field, operand, place: field.equal(operand, place),
    "$ne": lambda field, operand, place: Not(field.equal(operand, place)),
    **{sign: _order(sign) for sign in _ORDER},
    "$in": lambda field, operand, place: field.among(operand, place),
    "$nin": lambda field, operand, place: Not(field.among(operand, place)),
    "$inGroup": lambda field, operand, place: field.group(operand, place),
    "$notInGroup": lambda field, operand, place: Not(field.group(operand, place)),
    "$all": Field.every,
    "$not": Field.denied,
    "$exists": lambda field, operand, place: Exists(field.name, negated=not operand),
    "$regex": Field.regex,
    "$type": Field.type,
    "$elemMatch": Field.element,
}
