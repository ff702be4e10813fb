"""Define ``attribute [NOT] HAS NEAR 'terms' WITHIN n`` and ``HAS PHRASE 'terms' SLOP n``."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import msgspec

from tamis.errors import ParseError, TypeMismatch
from tamis.expression.operands import clean_list, clean_whole, over
from tamis.expression.predicate import ONE_VALUE, Operand, Operator, Predicate, Spelling
from tamis.expression.predicates.text import Text, clean_terms
from tamis.expression.views import Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.terms import Proximity, is_close, read_term
from tamis.values.text import terms_of
from tamis.values.value import Value


def _operator(code: int, name: str, words: str, behind: str, mode: Proximity) -> Operator:
    operand = Operand("string and number", "a phrase", behind)
    return Operator(code, name, (Spelling(words, operand),), {"mode": mode})


class Near(Predicate, frozen=True):
    """The test ``attribute [NOT] HAS NEAR | NEAR ORDERED … WITHIN n``, or ``HAS PHRASE … SLOP n``.

    :mod:`tamis.values.terms.proximity` defines all three.
    """

    mode: Proximity
    terms: tuple[str, ...]
    distance: int
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (
        _operator(38, "has near", "HAS NEAR", "WITHIN", "near"),
        _operator(40, "has near ordered", "HAS NEAR ORDERED", "WITHIN", "near ordered"),
        _operator(42, "has sloppy phrase", "HAS PHRASE", "SLOP", "slop"),
    )
    OPERANDS: ClassVar[tuple[str, ...]] = ("terms", "distance")
    LISTED: ClassVar[bool] = True

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string that holds the terms close together."""
        if type(value) is not str:
            return False
        return is_close(self.mode, terms_of(value), [read_term(term) for term in self.terms], self.distance)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with its terms tokenised, two or more, and a distance that can be kept."""
        mode: Any = self.mode
        if not isinstance(mode, str) or mode not in ("slop", "near", "near ordered"):
            raise ParseError(f"{mode!r} is no way to stand close; the ways are slop, near and near ordered")
        words = self.operator.words
        terms = clean_list(self.terms, words, limits)
        for _ in range(2):  # outside ASCII, tokenising a term again may give other terms
            _, terms = clean_terms("phrase", terms, limits)
        if len(terms) < 2:
            raise TypeMismatch(f"{words} needs two terms or more; write HAS '{terms[0][:80]}'")
        if len(terms) > limits.near_terms:
            raise over("near_terms", limits.near_terms, f"{words} has {len(terms)} terms")
        distance = clean_whole(self.distance, self.operator.operand.word, 0)
        if mode != "slop" and distance < len(terms):
            what = f"WITHIN {distance} words there is no room for {len(terms)} terms"
            raise TypeMismatch(f"{what}; write WITHIN {len(terms)} or more")
        kept = self.terms if terms == self.terms else terms
        return self.changed(terms=kept, distance=distance, negated=bool(self.negated))

    def implies(self, other: Predicate) -> bool:
        """Return whether every text with these terms so close satisfies ``other``, too."""
        if isinstance(other, Text):
            if other.mode == "any":
                return not set(self.terms).isdisjoint(other.terms)
            return other.mode == "all" and set(self.terms) >= set(other.terms)
        if not isinstance(other, Near) or self.terms != other.terms or self.distance > other.distance:
            return False
        return self.mode == other.mode or (self.mode, other.mode) == ("near ordered", "near")

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return one flag; the index sets it if all terms are there and stand close enough."""
        return (OnFlag(Flag.TEXT, msgspec.json.encode([self.mode, self.terms, self.distance]).decode()),)

    def needed_terms(self) -> tuple[tuple[str, ...], ...]:
        """Return each term alone."""
        return tuple((term,) for term in dict.fromkeys(self.terms))

    @property
    def likelihood(self) -> float:
        """The share of events that are likely to hold the terms."""
        return float(ONE_VALUE ** len(self.terms))
