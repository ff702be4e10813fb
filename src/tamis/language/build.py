"""Build expressions as Python objects: ``(attr("price") <= 580) & attr("model").isin("a", "b")``."""

from __future__ import annotations

from collections.abc import Callable
from keyword import iskeyword
from typing import Any

from tamis.expression.predicates import (
    OPERATORS,
    AtLeast,
    Between,
    Compare,
    CompareOp,
    Exists,
    In,
    Like,
    Near,
    Network,
    Predicate,
    Regex,
    Text,
    TextMode,
    Version,
    Within,
)
from tamis.expression.predicates.version import Order
from tamis.values.analysis import analyser_of
from tamis.values.shape import Shape
from tamis.values.terms import Proximity
from tamis.values.version import Scheme

_METHODS = {
    name: (kind, operator)
    for kind, operator in OPERATORS
    if (name := operator.words.lower().replace(" ", "_")).isidentifier() and not iskeyword(name)
}


class Attribute:
    """The name of an attribute, from which predicates are built; operands are checked at first use."""

    __slots__ = ("_analyser", "_name", "_weight")
    __hash__ = None  # type: ignore[assignment]  # == builds a predicate and compares nothing

    def __init__(self, name: str, weight: float = 1.0, analyser: str = "") -> None:
        self._name = name
        self._weight = weight
        self._analyser = analyser

    def __repr__(self) -> str:
        return f"attr({self._name!r})"

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} is neither true nor false; compare it, or call exists()")

    def weight(self, weight: float) -> Attribute:
        """Return the same attribute; predicates built from it carry ``weight`` in the score."""
        return Attribute(self._name, weight, self._analyser)

    def using(self, analyser: str) -> Attribute:
        """Return the same attribute; its texts are read by this analyser in predicates built from it."""
        return Attribute(self._name, self._weight, analyser_of(analyser).name)

    def __eq__(self, value: object) -> Compare:  # type: ignore[override]
        return self._compare("=", value)

    def __ne__(self, value: object) -> Compare:  # type: ignore[override]
        return self._compare("!=", value)

    def __lt__(self, value: Any) -> Compare:
        return self._compare("<", value)

    def __le__(self, value: Any) -> Compare:
        return self._compare("<=", value)

    def __gt__(self, value: Any) -> Compare:
        return self._compare(">", value)

    def __ge__(self, value: Any) -> Compare:
        return self._compare(">=", value)

    def __getattr__(self, method: str) -> Callable[..., Predicate]:
        """Return the method of an operator that has no method below: its words, with underscores."""
        found = _METHODS.get(method)
        if found is None:
            raise AttributeError(f"an attribute has no method {method!r}; dir(attr('a')) lists them")
        kind, operator = found
        return lambda *operands: self._built(
            kind.build(operator, self._name, _spread(operands), False, self._weight)
        )

    def _built(self, predicate: Predicate) -> Predicate:
        return predicate.changed(analyser=self._analyser) if predicate.TAKES_ANALYSER else predicate

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *_METHODS})

    def _compare(self, op: CompareOp, value: Any) -> Compare:
        return Compare(self._name, op, value, self._weight)

    def isin(self, *values: Any) -> In:
        """Return the predicate: some value is one of ``values`` (passed one by one, or as one list)."""
        return In(self._name, _spread(values), weight=self._weight)

    def not_in(self, *values: Any) -> In:
        """Return the predicate: the attribute is present, and no value is one of ``values``."""
        return In(self._name, _spread(values), True, self._weight)

    def between(self, low: Any, high: Any) -> Between:
        """Return the predicate: some value lies from ``low`` to ``high``, ends included."""
        return Between(self._name, low, high, weight=self._weight)

    def like(self, pattern: str) -> Like:
        """Return the predicate: some value is like ``pattern`` (``%`` any run, ``_`` one character)."""
        return Like(self._name, pattern, weight=self._weight)

    def ilike(self, pattern: str) -> Like:
        """Return the predicate of :meth:`like` without regard to case."""
        return Like(self._name, pattern, True, weight=self._weight)

    def rlike(self, pattern: str) -> Regex:
        """Return the predicate: some value holds a match of the RE2 ``pattern``."""
        return Regex(self._name, pattern, weight=self._weight)

    def has(self, term: str) -> Text:
        """Return the predicate: some value holds ``term``; several terms in one string are a phrase."""
        return self._text("phrase", (term,))

    def has_all(self, *terms: str) -> Text:
        """Return the predicate: some value holds every one of ``terms``."""
        return self._text("all", terms)

    def has_any(self, *terms: str) -> Text:
        """Return the predicate: some value holds one of ``terms``."""
        return self._text("any", terms)

    def has_phrase(self, phrase: str, slop: int = 0) -> Text | Near:
        """Return the predicate: some value holds the terms of ``phrase`` in a row, or ``slop`` moves away."""
        if slop == 0 and type(slop) is int:
            return self._text("phrase", (phrase,))
        return Near(self._name, "slop", (phrase,), slop, weight=self._weight, analyser=self._analyser)

    def has_near(self, terms: str, within: int, ordered: bool = False) -> Near:
        """Return the predicate: some value holds all ``terms`` within so many words in a row."""
        how: Proximity = "near ordered" if ordered else "near"
        return Near(self._name, how, (terms,), within, weight=self._weight, analyser=self._analyser)

    def has_at_least(self, count: int, *terms: str) -> AtLeast:
        """Return the predicate: some value holds at least ``count`` of ``terms``."""
        return AtLeast(self._name, _spread(terms), count, weight=self._weight, analyser=self._analyser)

    def _text(self, mode: TextMode, terms: tuple[str, ...]) -> Text:
        return Text(self._name, mode, _spread(terms), weight=self._weight, analyser=self._analyser)

    def within(self, shape: Shape) -> Within:
        """Return the predicate: some value is a point in ``shape`` or on its border."""
        return Within(self._name, shape, weight=self._weight)

    def in_network(self, *blocks: str) -> Network:
        """Return the predicate: some value is an address in one of the CIDR ``blocks``."""
        return Network(self._name, _spread(blocks), weight=self._weight)

    def version(self, op: Order, version: str, scheme: Scheme = "semver") -> Version:
        """Return the predicate: some value is a version of ``scheme`` that stands so to ``version``.

        ``op`` is one of ``= < <= > >=``.
        """
        return Version(self._name, scheme, op, version, weight=self._weight)

    def exists(self) -> Exists:
        """Return the predicate: the attribute is present."""
        return Exists(self._name, weight=self._weight)

    def is_null(self) -> Exists:
        """Return the predicate: the attribute is absent."""
        return Exists(self._name, True, self._weight)


def attr(name: str, weight: float = 1.0) -> Attribute:
    """Return an attribute to build predicates from."""
    return Attribute(name, weight)


def _spread(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return ``values``, or the content of a single list, tuple or set among them."""
    if len(values) == 1 and isinstance(values[0], list | tuple):
        return tuple(values[0])
    if len(values) == 1 and isinstance(values[0], set | frozenset):
        return tuple(sorted(values[0], key=lambda value: (str(type(value)), str(value))))
    return values
