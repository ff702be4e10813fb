"""Define ``attribute [NOT] HAS NEAR 'terms' WITHIN n`` and ``HAS PHRASE 'terms' SLOP n``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import msgspec

from tamis.errors import ParseError, TypeMismatch
from tamis.expression.analysed import Analysed, check_patterns, phrase_terms
from tamis.expression.operands import clean_whole, over, quoted
from tamis.expression.predicate import ONE_VALUE, Operand, Operator, Predicate, Spelling
from tamis.expression.predicates.text import Text
from tamis.expression.views import Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.terms import Proximity, first_choice, is_close, read_term
from tamis.values.value import Value


def _operator(code: int, name: str, words: str, behind: str, mode: Proximity) -> Operator:
    operand = Operand("string and number", "a phrase", behind)
    return Operator(code, name, (Spelling(words, operand),), {"mode": mode})


class Near(Analysed, frozen=True):
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

    @property
    def reading(self) -> tuple[str, ...]:
        """The terms; those of a sloppy phrase have gaps, because their places count."""
        terms = phrase_terms(self.analyser, " ".join(self.terms))
        return terms if self.mode == "slop" else tuple(filter(None, terms))

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string that holds the terms close together."""
        words = self.words_of(value)
        if words is None:
            return False
        return is_close(self.mode, words, [read_term(term) for term in self.reading], self.distance)

    def found_in(self, words: list[str]) -> Iterator[tuple[int, str]]:
        """Yield (place, term) for each word of the first choice."""
        terms = self.reading
        chosen = first_choice(self.mode, words, [read_term(term) for term in terms], self.distance)
        yield from ((place, terms[at]) for at, place in (chosen or {}).items())

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with one clean text of two terms or more, and a distance that can be kept."""
        mode: Any = self.mode
        if not isinstance(mode, str) or mode not in ("slop", "near", "near ordered"):
            raise ParseError(f"{mode!r} is no way to stand close; the ways are slop, near and near ordered")
        words, texts = self.operator.words, self._clean_texts(self.operator.words, limits)
        joined = self.terms if texts == self.terms and len(texts) == 1 else (" ".join(texts),)
        clean = self.changed(terms=joined)
        terms = tuple(filter(None, clean.reading))
        check_patterns(terms, limits)
        if len(terms) < 2:
            raise TypeMismatch(f"{words} needs two terms or more; write HAS {quoted(clean.terms[0][:80])}")
        if len(terms) > limits.near_terms:
            raise over("near_terms", limits.near_terms, f"{words} has {len(terms)} terms")
        distance = clean_whole(self.distance, self.operator.operand.word, 0)
        if mode != "slop" and distance < len(terms):
            what = f"WITHIN {distance} words there is no room for {len(terms)} terms"
            raise TypeMismatch(f"{what}; write WITHIN {len(terms)} or more")
        return clean.changed(distance=distance, negated=bool(self.negated))

    def implies(self, other: Predicate) -> bool:
        """Return whether every text with these terms so close satisfies ``other``, too."""
        if not isinstance(other, Text | Near) or self.analyser != other.analyser:
            return False
        terms = self.reading
        if isinstance(other, Text):
            mode, others = other.reading
            if mode == "any":
                return not set(terms).isdisjoint(others)
            return mode == "all" and set(terms) >= set(others)
        if terms != other.reading or self.distance > other.distance:
            return False
        return self.mode == other.mode or (self.mode, other.mode) == ("near ordered", "near")

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return one flag; the index sets it if all terms are there and stand close enough."""
        pattern = msgspec.json.encode([self.mode, self.reading, self.distance]).decode()
        return (OnFlag(Flag.TEXT, self._flagged(pattern)),)

    def needed_terms(self) -> tuple[tuple[str, ...], ...]:
        """Return each term alone."""
        return tuple((term,) for term in dict.fromkeys(self.reading) if term)

    @property
    def size(self) -> int:
        """The number of terms."""
        return len(self.reading)

    @property
    def likelihood(self) -> float:
        """The share of events that are likely to hold the terms."""
        return float(ONE_VALUE ** len(self.needed_terms()))
