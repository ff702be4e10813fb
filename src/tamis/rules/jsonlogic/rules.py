"""Import rules of JsonLogic: conditions on data, combined by logic."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb
from typing import Any, ClassVar, NamedTuple

from tamis.errors import InputError
from tamis.expression.operands import depth_limit, kind_of
from tamis.expression.predicate import Predicate
from tamis.expression.predicates import Affix, Compare, Exists, In
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.language.eventbridge.place import Place
from tamis.limits import Limits
from tamis.rules.expressions import Expressions
from tamis.rules.jsonlogic.constants import OPERATIONS, below, equal, number, text, truthy, worked_out
from tamis.rules.jsonlogic.elements import FLIPPED, Element
from tamis.rules.trees import all_of, either, in_range

COERCE = ("none", "js")
_INVERSE: dict[str, Any] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MOST_COMBINATIONS = 64
_NO_DATA = (
    "var",
    "missing",
    "missing_some",
    "some",
    "all",
    "none",
    "map",
    "filter",
    "reduce",
    "log",
    "method",
)


class Constant(NamedTuple):
    """A part of a rule that needs no data."""

    value: Any


class Variable(NamedTuple):
    """A reference to data, with the value that stands for absent data."""

    name: str
    default: Any


class JsonLogic(Expressions):
    """The importer; with ``coerce="js"`` absent data, booleans and strings compare as in JavaScript."""

    JSON: ClassVar[bool] = True

    def __init__(self, limits: Limits, *, coerce: str = "none") -> None:
        super().__init__(limits)
        if coerce not in COERCE:
            raise InputError(f"coerce is one of {', '.join(COERCE)}, not {coerce!r:.40}")
        self._coerce = coerce == "js"

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the condition that the result of a rule is truthy."""
        return _Rule(self.limits, self._coerce, differences).read(rule, Place("", "$", self.limits), 1)


class _Rule:
    """A reader of one rule."""

    def __init__(self, limits: Limits, coerce: bool, differences: list[str]) -> None:
        self._deepest, self._coerce, self._differences = depth_limit(limits), coerce, differences

    # ------------------------------------------------------------------------------------------ truth values

    def read(self, rule: Any, place: Place, depth: int) -> Expr:
        """Return the condition that a rule is truthy."""
        if depth > self._deepest:
            place.refuse(f"the rule is deeper than {self._deepest} levels")
        found = self._operand(rule, place, depth)
        if isinstance(found, Constant):
            return TRUE if truthy(found.value) else FALSE
        if isinstance(found, Variable):
            return self._truth_of(found)
        name, arguments, here = found
        logic = {"and": all_of, "or": either}
        if name in logic:
            parts = [self.read(one, here.inside(at), depth + 1) for at, one in enumerate(arguments)]
            return logic[name](parts) if parts else FALSE
        if name in ("!", "!!"):
            part = self.read(arguments[0] if arguments else None, here, depth + 1)
            return Not(part) if name == "!" else part
        if name in ("if", "?:"):
            return self._if(arguments, here, depth)
        if name in ("missing", "missing_some"):
            return self._missing(name, arguments, here, depth)
        if name in ("some", "none", "all"):
            return self._elements(name, arguments, here, depth)
        if name == "in":
            return self._in(arguments, here, depth)
        if name in ("==", "===", "!=", "!=="):
            return self._equality(name, arguments, here, depth)
        if name in FLIPPED:
            return self._order(name, arguments, here, depth)
        here.refuse(f"Tamis computes no {name!r} of data")

    def _operand(
        self, rule: Any, place: Place, depth: int
    ) -> Constant | Variable | tuple[str, list[Any], Place]:
        """Return a constant, a variable, or an operation on data with its arguments."""
        if not isinstance(rule, Mapping) or len(rule) != 1:
            if isinstance(rule, Mapping):
                return Constant(rule)
            if not isinstance(rule, list):
                return Constant(rule)
            parts = [self._operand(one, place.inside(at), depth + 1) for at, one in enumerate(rule)]
            if all(isinstance(part, Constant) for part in parts):
                return Constant([part.value for part in parts if isinstance(part, Constant)])
            place.refuse("Tamis makes no lists of data")
        if depth > self._deepest:
            place.refuse(f"the rule is deeper than {self._deepest} levels")
        ((name, given),) = rule.items()
        here = place.inside(name)
        arguments = given if isinstance(given, list) else [given]
        if name == "var":
            return self._variable(arguments, here, depth)
        if name in OPERATIONS or name in ("and", "or", "if", "?:"):
            parts = [self._operand(one, here.inside(at), depth + 1) for at, one in enumerate(arguments)]
            if all(isinstance(part, Constant) for part in parts):
                values = [part.value for part in parts if isinstance(part, Constant)]
                return Constant(_chosen(name, values))
            return name, arguments, here
        if name in _NO_DATA:
            return name, arguments, here
        here.refuse(f"JsonLogic has no operation {name[:40]!r}")

    def _variable(self, arguments: list[Any], place: Place, depth: int) -> Variable:
        named = self._operand(arguments[0] if arguments else None, place, depth + 1)
        if not isinstance(named, Constant):
            place.refuse("Tamis computes no names of data")
        if named.value is None or named.value == "" or isinstance(named.value, list | dict):
            place.refuse("Tamis has no test of all data at once")
        name = text(named.value)
        if any(part.isdigit() for part in name.split(".")):
            place.refuse(f"{name[:60]!r} may mean an element at its place in an array, which Tamis flattens")
        default = self._operand(arguments[1], place, depth + 1) if len(arguments) > 1 else Constant(None)
        if not isinstance(default, Constant):
            place.refuse("the value for absent data is a constant here")
        return Variable(name, default.value)

    def _truth_of(self, variable: Variable) -> Expr:
        found: Expr = In(variable.name, (False, 0, ""), True)
        return Or((found, Exists(variable.name, True))) if truthy(variable.default) else found

    def _if(self, arguments: list[Any], place: Place, depth: int) -> Expr:
        if not arguments:
            return FALSE
        parts = [self.read(one, place.inside(at), depth + at // 2 + 1) for at, one in enumerate(arguments)]
        found = parts.pop() if len(parts) % 2 else FALSE
        while parts:
            then = parts.pop()
            condition = parts.pop()
            found = _branch(condition, then, found)
        return found

    # ------------------------------------------------------------------------------------------- comparisons

    def _pair(
        self, arguments: list[Any], place: Place, depth: int, name: str
    ) -> tuple[Variable, Constant, bool]:
        """Return the variable and the constant of a comparison, and whether the constant stands first."""
        if len(arguments) != 2:
            place.refuse(f"{name!r} of data takes two arguments here, not {len(arguments)}")
        one, two = (self._operand(part, place.inside(at), depth + 1) for at, part in enumerate(arguments))
        if isinstance(one, Variable) and isinstance(two, Constant):
            return one, two, False
        if isinstance(one, Constant) and isinstance(two, Variable):
            return two, one, True
        if isinstance(one, Variable) and isinstance(two, Variable):
            place.refuse("Tamis does not compare an attribute with another attribute")
        place.refuse("Tamis compares data with constants, and computes nothing of data")

    def _equality(self, name: str, arguments: list[Any], place: Place, depth: int) -> Expr:
        variable, constant, _ = self._pair(arguments, place, depth, name)
        strict = len(name) == 3
        value = constant.value
        if value is None:
            found: Expr = Exists(variable.name, True)
            if variable.default is not None:
                found = FALSE
        else:
            self._no_list(value, place)
            found = self._equal(variable.name, value, strict)
            if (worked_out("===" if strict else "==", [variable.default, value])) is True:
                found = Or((found, Exists(variable.name, True)))
        return Not(found) if name.startswith("!") else found

    def _equal(self, name: str, value: Any, strict: bool) -> Expr:
        """Return the test of an equality; JavaScript also takes 1, '1' and true for equal."""
        if strict:
            return Compare(name, "=", value)
        if not self._coerce:
            self._differences.append(
                f"{name}: == compares type and value; JavaScript also takes 1, '1' and true for equal"
            )
            return Compare(name, "=", value)
        alike = [one for one in (False, True, _plain_number(value), text(value), "") if one is not None]
        equals = [one for one in alike if equal(one, value)] + (
            [value] if not isinstance(value, bool) else []
        )
        distinct = list({(type(one), one): one for one in equals}.values())
        self._differences.append(
            f"{name}: of the strings that JavaScript reads as a number, == knows the shortest"
        )
        return In(name, tuple(distinct))

    def _order(self, name: str, arguments: list[Any], place: Place, depth: int) -> Expr:
        if len(arguments) == 3:
            return self._between(name, arguments, place, depth)
        variable, constant, flipped = self._pair(arguments, place, depth, name)
        sign: Any = FLIPPED[name] if flipped else name
        value = constant.value
        if value is None or isinstance(value, bool):
            place.refuse(f"an order with {kind_of(value)} is not read")
        self._no_list(value, place)
        return self._compared(variable, Compare(variable.name, sign, value), value, place)

    def _compared(self, variable: Variable, found: Predicate, value: Any, place: Place) -> Expr:
        """Return an order test, with what JavaScript does for absent data and booleans."""
        sign = found.op if isinstance(found, Compare) else ""
        if self._holds(variable.default, sign, value):
            if self._coerce or variable.default is not None:
                return self._with_booleans(
                    variable.name, Or((found, Exists(variable.name, True))), sign, value
                )
            what = "absent data counts as 0 in JavaScript, and is false here"
            self._differences.append(f"{variable.name} {sign} {value}: {what}; coerce='js' keeps it")
        return self._with_booleans(variable.name, found, sign, value)

    def _with_booleans(self, name: str, found: Expr, sign: str, value: Any) -> Expr:
        if not self._coerce:
            return found
        self._differences.append(
            f"{name}: strings that JavaScript reads as a number are not put in order with numbers"
        )
        also = tuple(one for one in (False, True) if self._holds(one, sign, value))
        return Or((found, In(name, also))) if also else found

    def _holds(self, one: Any, sign: str, two: Any) -> bool:
        first, second = (one, two) if sign in ("<", "<=") else (two, one)
        return below(first, second, sign.endswith("="))

    def _between(self, name: str, arguments: list[Any], place: Place, depth: int) -> Expr:
        low, middle, high = (
            self._operand(part, place.inside(at), depth + 1) for at, part in enumerate(arguments)
        )
        if name not in ("<", "<=") or not isinstance(middle, Variable):
            place.refuse("of three arguments, the middle one is data")
        if not isinstance(low, Constant) or not isinstance(high, Constant):
            place.refuse("Tamis does not compare an attribute with another attribute")
        for end in (low.value, high.value):
            self._no_list(end, place)
            if end is None or isinstance(end, bool):
                place.refuse(f"an order with {kind_of(end)} is not read")
        if middle.default is not None or self._coerce:
            parts = [[low.value, arguments[1]], [arguments[1], high.value]]
            return And(tuple(self._order(name, part, place, depth) for part in parts))
        if self._holds(low.value, name, None) and self._holds(None, name, high.value):
            self._differences.append(
                f"{middle.name}: absent data counts as 0 in JavaScript, and is false here"
            )
        with place.blamed():
            return in_range(middle.name, low.value, high.value, name == "<", name == "<")

    def _no_list(self, value: Any, place: Place) -> None:
        if isinstance(value, list | dict):
            place.refuse(f"Tamis has no test for {kind_of(value)} as a whole")

    # ------------------------------------------------------------------------------- lists, absence, elements

    def _in(self, arguments: list[Any], place: Place, depth: int) -> Expr:
        variable, constant, flipped = self._pair(arguments, place, depth, "in")
        if variable.default is not None:
            place.refuse("'in' with a value for absent data is not read")
        value = constant.value
        if not flipped:
            if isinstance(value, list):
                values = tuple(one for one in value if one is not None)
                for one in values:
                    self._no_list(one, place)
                found: Expr = In(variable.name, values) if values else FALSE
                return Or((found, Exists(variable.name, True))) if None in value else found
            place.refuse("Tamis does not search data in a constant text")
        if isinstance(value, str):
            what = "of an array, an element that holds the text is enough"
            self._differences.append(f"{variable.name}: {what}; JsonLogic needs an equal element")
            return Affix(variable.name, "contains", value)
        self._no_list(value, place)
        return (
            Compare(variable.name, "=", value)
            if value is not None
            else place.refuse("'in' with null is not read")
        )

    def _missing(self, name: str, arguments: list[Any], place: Place, depth: int) -> Expr:
        """Return the condition that some attributes are absent; null and '' count as absent in JsonLogic."""
        needed = 0
        if name == "missing_some":
            first = self._operand(arguments[0], place, depth + 1) if len(arguments) == 2 else None
            if not isinstance(first, Constant) or not isinstance(first.value, int):
                place.refuse("missing_some takes a number and a list of names")
            needed, arguments = first.value, arguments[1]
        listed = self._operand(arguments, place, depth + 1)
        if not isinstance(listed, Constant):
            place.refuse("Tamis computes no names of data")
        value = listed.value
        names = (
            value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) else value
        )
        if not isinstance(names, list):
            place.refuse(f"expected a list of names, found {kind_of(names)}")
        absent = [Or((Exists(text(one), True), Compare(text(one), "=", ""))) for one in names]
        if name == "missing":
            return either(absent) if absent else FALSE
        # Fewer than n are present if, of any m - n + 1 of the m names, all are absent in one group.
        width = len(absent) - needed + 1
        if width <= 0:
            return TRUE if needed > len(absent) else FALSE
        if needed <= 0:
            return FALSE
        if comb(len(absent), width) > _MOST_COMBINATIONS:
            place.refuse(f"{needed} of {len(absent)} names are too many combinations")
        return either([all_of(group) for group in combinations(absent, width)])

    def _elements(self, name: str, arguments: list[Any], place: Place, depth: int) -> Expr:
        """Return the condition that some, no or all elements satisfy a test of one comparison."""
        if len(arguments) != 2:
            place.refuse(f"{name!r} takes data and a test")
        data = self._operand(arguments[0], place.inside(0), depth + 1)
        if not isinstance(data, Variable) or data.default is not None:
            place.refuse(f"Tamis has {name!r} of data only")
        test = Element(data.name).predicate(arguments[1], place.inside(1))
        if name == "some":
            return test
        if name == "none":
            return Not(test)
        if test.op not in _INVERSE:
            place.refuse("Tamis has 'all' with <, <=, > and >= only")
        self._differences.append(
            f"{test.attribute}: elements that are no numbers, or lack the field, pass 'all'"
        )
        return And((Exists(test.attribute), Not(Compare(test.attribute, _INVERSE[test.op], test.value))))


def _chosen(name: str, values: list[Any]) -> Any:
    """Return the result of an operation on constants; ``and``, ``or`` and ``if`` choose one of them."""
    if name in ("and", "or"):
        wanted = name == "or"
        return next((one for one in values if truthy(one) == wanted), values[-1] if values else None)
    if name in ("if", "?:"):
        while len(values) > 1:
            if truthy(values[0]):
                return values[1]
            values = values[2:]
        return values[0] if values else None
    return worked_out(name, values)


def _branch(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    if condition in (TRUE, FALSE):
        return then if condition == TRUE else otherwise
    return Or((And((condition, then)), And((Not(condition), otherwise))))


def _plain_number(value: Any) -> int | float | None:
    """Return the number that equals a value in JavaScript."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    found = number(value)
    if found != found or found in (float("inf"), float("-inf")):
        return None
    return int(found) if found == int(found) else found
