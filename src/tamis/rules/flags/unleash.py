"""Import the strategies and constraints of Unleash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from tamis.errors import ExpressionError, TamisError, TypeMismatch
from tamis.expression.operands import kind_of
from tamis.expression.predicates import Affix, Compare, In, Like, Network, Regex, Version
from tamis.expression.tree import FALSE, TRUE, Expr, Not
from tamis.language.check import check_tree
from tamis.language.eventbridge.place import Place
from tamis.limits import Limits
from tamis.rules.documents import Document
from tamis.rules.expressions import Expressions
from tamis.rules.imported import Place as Line
from tamis.rules.trees import all_of, either, literal
from tamis.values.pattern import compiled
from tamis.values.value import parse_time
from tamis.values.version import version_key

_CONTEXT = ("userId", "sessionId", "remoteAddress", "environment", "appName", "currentTime")
_ORDER: dict[str, Any] = {
    "NUM_EQ": "=",
    "NUM_GT": ">",
    "NUM_GTE": ">=",
    "NUM_LT": "<",
    "NUM_LTE": "<=",
    "DATE_AFTER": ">",
    "DATE_BEFORE": "<",
    "SEMVER_EQ": "=",
    "SEMVER_GT": ">",
    "SEMVER_GTE": ">=",
    "SEMVER_LTE": "<=",
    "SEMVER_LT": "<",
}
_ROLLOUTS = ("flexibleRollout", "gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom")


class Unleash(Expressions):
    """The importer; ``properties`` is the attribute that holds the properties of a context."""

    JSON: ClassVar[bool] = True

    def __init__(self, limits: Limits, *, properties: str = "properties") -> None:
        super().__init__(limits)
        self._properties = properties

    def _values(self, document: Document) -> Iterator[tuple[Any, str, Line]]:
        """Yield each feature of an export, with the segments of the export; any other value as it is."""
        for value, name, place in super()._values(document):
            if not isinstance(value, Mapping) or not isinstance(value.get("features"), list):
                yield value, name, place
                continue
            for at, feature in enumerate(value["features"], 1):
                if not isinstance(feature, Mapping):
                    yield feature, f"{name}:{at}", place
                    continue
                rule = {"segments": value.get("segments", []), **feature}
                about = {key: feature[key] for key in ("description", "project", "type") if feature.get(key)}
                yield {"id": feature.get("name", f"{name}:{at}"), "rule": rule, **about}, name, place

    def expression(self, rule: Any, differences: list[str]) -> Expr:
        """Return the condition that a feature is enabled."""
        place = Place("", "$", self.limits)
        feature = _object(rule, place)
        if feature.get("dependencies"):
            place.refuse("the feature depends on another; Tamis decides about each subscription alone")
        if feature.get("variants"):
            differences.append("the feature chooses a variant; the subscription only says that it is enabled")
        if not feature.get("enabled", True):
            return FALSE
        reader = _Feature(self._properties, _segments(feature.get("segments") or [], place), differences)
        strategies = feature.get("strategies") or []
        here = place.inside("strategies")
        parts = [
            reader.strategy(_object(one, here.inside(at)), here.inside(at))
            for at, one in enumerate(_list(strategies, here))
        ]
        return either(parts) if parts else TRUE


def _object(value: Any, place: Place) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        place.refuse(f"expected an object, found {kind_of(value)}", TypeMismatch)
    return value


def _segments(listed: Any, place: Place) -> dict[Any, list[Any]]:
    found = {}
    for at, one in enumerate(_list(listed, place.inside("segments"))):
        here = place.inside("segments").inside(at)
        segment = _object(one, here)
        found[_number(segment.get("id"), here)] = _list(segment.get("constraints") or [], here)
    return found


def _list(value: Any, place: Place) -> list[Any]:
    if not isinstance(value, list):
        place.refuse(f"expected a list, found {kind_of(value)}", TypeMismatch)
    return value


def _number(value: Any, place: Place) -> int:
    if not isinstance(value, int):
        place.refuse(f"the id of a segment is a number, not {kind_of(value)}", TypeMismatch)
    return value


class _Feature:
    """A reader of the strategies of one feature."""

    def __init__(self, properties: str, segments: dict[Any, list[Any]], differences: list[str]) -> None:
        self._properties, self._segments, self._differences = properties, segments, differences

    def strategy(self, strategy: Mapping[str, Any], place: Place) -> Expr:
        """Return the condition that a strategy is active: all its constraints and segments hold."""
        parts = [self._kind(strategy, place)]
        for one in _list(strategy.get("segments") or [], place.inside("segments")):
            number = _number(one, place.inside("segments"))
            if number not in self._segments:
                self._differences.append(f"there is no segment {number!r}, so its strategy is never active")
                return FALSE
            parts += self._constraints(self._segments[number], place.inside("segments"))
        parts += self._constraints(strategy.get("constraints") or [], place.inside("constraints"))
        kept = [part for part in parts if part != TRUE]
        return all_of(kept) if kept else TRUE

    def _kind(self, strategy: Mapping[str, Any], place: Place) -> Expr:
        name = strategy.get("name", "default")
        parameters = _object(strategy.get("parameters") or {}, place.inside("parameters"))
        if name == "default":
            return TRUE
        if name == "userWithId":
            users = _listed(parameters.get("userIds", ""))
            return In("userId", tuple(_with_twins(users))) if users else FALSE
        if name == "remoteAddress":
            blocks = _listed(parameters.get("IPs", ""))
            return Network("remoteAddress", tuple(blocks)) if blocks else FALSE
        if name in _ROLLOUTS:
            share = str(parameters.get("rollout", parameters.get("percentage", "")))
            if share in ("0", "100"):
                return TRUE if share == "100" else FALSE
            place.refuse(f"a rollout to {share[:10]} % needs a hash of the user, which Tamis does not have")
        place.refuse(f"Tamis has no strategy {str(name)[:40]!r}")

    def _constraints(self, constraints: Any, place: Place) -> list[Expr]:
        if not isinstance(constraints, list):
            place.refuse("the constraints are a list")
        return [
            self._constraint(_object(one, place.inside(at)), place.inside(at))
            for at, one in enumerate(constraints)
        ]

    def _constraint(self, constraint: Mapping[str, Any], place: Place) -> Expr:
        field, operator = constraint.get("contextName"), str(constraint.get("operator", ""))
        if not isinstance(field, str) or not field:
            place.refuse("'contextName' is missing")
        if operator not in _OPERATORS:
            self._differences.append(f"Unleash has no operator {operator[:40]!r}; its constraint never holds")
            return FALSE
        name = field if field in _CONTEXT else f"{self._properties}.{field}"
        try:
            found = check_tree(_OPERATORS[operator](self, name, constraint), place.limits)
        except (TamisError, ValueError) as bad:
            place.refuse(str(bad), type(bad) if isinstance(bad, ExpressionError) else TypeMismatch)
        return Not(found) if bool(constraint.get("inverted")) != (operator == "NOT_IN") else found

    def in_(self, name: str, constraint: Mapping[str, Any]) -> Expr:
        """Return the test that a value is one of these; Unleash compares texts."""
        values = _with_twins(_texts(constraint))
        return In(name, tuple(values)) if values else FALSE

    def affix(self, name: str, constraint: Mapping[str, Any]) -> Expr:
        """Return the test that a text begins with, ends with or holds one of these."""
        place: Any = {"STR_STARTS_WITH": "prefix", "STR_ENDS_WITH": "suffix"}.get(
            constraint["operator"], "contains"
        )
        if not constraint.get("caseInsensitive"):
            parts: list[Expr] = [Affix(name, place, text) for text in _texts(constraint)]
            return either(parts) if parts else FALSE
        before, after = ("" if place == "prefix" else "%", "" if place == "suffix" else "%")
        folded: list[Expr] = [
            Like(name, f"{before}{literal(text)}{after}", True) for text in _texts(constraint)
        ]
        return either(folded) if folded else FALSE

    def number(self, name: str, constraint: Mapping[str, Any]) -> Expr:
        """Return the test of a number."""
        self._differences.append(f"{name}: events must carry a number; Unleash also reads numbers in texts")
        value = float(str(constraint.get("value", "")))
        return Compare(name, _ORDER[constraint["operator"]], int(value) if value.is_integer() else value)

    def date(self, name: str, constraint: Mapping[str, Any]) -> Expr:
        """Return the test of a time."""
        self._differences.append(
            f"{name}: events must carry a time ({{'$time': …}}); Unleash also reads texts"
        )
        return Compare(name, _ORDER[constraint["operator"]], parse_time(str(constraint.get("value", ""))))

    def version(self, name: str, constraint: Mapping[str, Any]) -> Expr:
        """Return the test of a version."""
        value = str(constraint.get("value", ""))
        if not _is_strict(value):
            self._differences.append(f"{value[:40]!r} is no version for Unleash; its constraint never holds")
            return FALSE
        self._differences.append(f"{name}: v2.1 is read as 2.1.0; for Unleash it is no version")
        return Version(name, "semver", _ORDER[constraint["operator"]], value)

    def regex(self, name: str, constraint: Mapping[str, Any]) -> Expr:
        """Return the test of a regular expression."""
        pattern = str(constraint.get("value", ""))
        pattern = f"(?i){pattern}" if constraint.get("caseInsensitive") else pattern
        compiled(pattern)
        return Regex(name, pattern)

    def network(self, name: str, constraint: Mapping[str, Any]) -> Expr:
        """Return the test of an address."""
        blocks = _texts(constraint)
        return Network(name, tuple(blocks)) if blocks else FALSE


def _is_strict(version: str) -> bool:
    """Return whether a version has no leading ``v`` and all three numbers."""
    numbers = version.partition("+")[0].partition("-")[0]
    return numbers.count(".") == 2 and version[0].isdigit() and version_key("semver", version) is not None


def _texts(constraint: Mapping[str, Any]) -> list[str]:
    values = constraint.get("values")
    if values is None:
        values = [constraint["value"]] if constraint.get("value") is not None else []
    if not isinstance(values, list):
        raise TypeMismatch("'values' is a list")
    return [str(value) for value in values]


def _listed(text: Any) -> list[str]:
    return [part.strip() for part in str(text).split(",") if part.strip()]


def _with_twins(texts: list[str]) -> list[Any]:
    """Return texts, and the numbers and booleans that they say."""
    return [value for text in texts for value in (text, *_twins(text))]


def _twins(text: str) -> list[Any]:
    """Return the number or boolean whose text this is."""
    if text in ("true", "false"):
        return [text == "true"]
    try:
        number = int(text)
    except ValueError:
        return []
    return [number] if str(number) == text and abs(number) < 2**63 else []


_OPERATORS: dict[str, Callable[[_Feature, str, Mapping[str, Any]], Expr]] = {
    "IN": _Feature.in_,
    "NOT_IN": _Feature.in_,
    **dict.fromkeys(("STR_STARTS_WITH", "STR_ENDS_WITH", "STR_CONTAINS"), _Feature.affix),
    **dict.fromkeys(("NUM_EQ", "NUM_GT", "NUM_GTE", "NUM_LT", "NUM_LTE"), _Feature.number),
    **dict.fromkeys(("DATE_AFTER", "DATE_BEFORE"), _Feature.date),
    **dict.fromkeys(("SEMVER_EQ", "SEMVER_GT", "SEMVER_GTE", "SEMVER_LT", "SEMVER_LTE"), _Feature.version),
    "REGEX": _Feature.regex,
    "IN_CIDR": _Feature.network,
}
