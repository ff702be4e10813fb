"""Define ``attribute [NOT] HAS AT LEAST n OF (terms)``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

import msgspec

from tamis.errors import TypeMismatch
from tamis.expression.analysed import Analysed, check_patterns, listed_terms
from tamis.expression.operands import clean_whole
from tamis.expression.predicate import ONE_VALUE, PRESENT, Operand, Operator, Predicate, operator
from tamis.expression.predicates.text import Text
from tamis.expression.views import Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.terms import holds_at_least, read_term, term_places
from tamis.values.value import Value

MOST_NEEDED = 1_024  # terms in all needed groups, if there is more than one group


class AtLeast(Analysed, frozen=True):
    """The test ``attribute [NOT] HAS AT LEAST n OF (terms)``: one text holds so many of the terms."""

    terms: tuple[str, ...]
    count: int
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (
        operator(44, "has at least", Operand("number of strings", "term", "OF")),
    )
    OPERANDS: ClassVar[tuple[str, ...]] = ("terms", "count")
    LISTED: ClassVar[bool] = True

    @property
    def reading(self) -> tuple[str, ...]:
        """The distinct terms."""
        return tuple(dict.fromkeys(listed_terms(self.analyser, self.terms)))

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string that holds so many of the terms."""
        words = self.words_of(value)
        if words is None:
            return False
        return holds_at_least(words, [read_term(term) for term in self.reading], self.count)

    def found_in(self, words: list[str]) -> Iterator[tuple[int, str]]:
        """Yield (place, term) for each word that satisfies a term."""
        return term_places(words, self.reading)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with clean texts, which hold at least as many terms as it asks for."""
        texts = self._clean_texts("HAS AT LEAST", limits)
        kept = self.terms if texts == self.terms else texts
        clean = self.changed(terms=kept, negated=bool(self.negated))
        terms = clean.reading
        check_patterns(terms, limits)
        count = clean_whole(self.count, "AT LEAST", 1)
        if count > len(terms):
            what = f"no text holds AT LEAST {count} OF {len(terms)} different terms"
            raise TypeMismatch(f"{what}; write {len(terms)} or fewer")
        return clean.changed(count=count)

    def implies(self, other: Predicate) -> bool:
        """Return whether every text with so many of these terms satisfies ``other``, too."""
        if not isinstance(other, Text | AtLeast) or self.analyser != other.analyser:
            return False
        terms = set(self.reading)
        if isinstance(other, AtLeast):
            return self.count - len(terms - set(other.reading)) >= other.count
        mode, others = other.reading
        if mode == "any":
            return len(terms - set(others)) < self.count
        return mode == "all" and self.count == len(terms) and terms >= set(others)

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return one flag; the index counts the terms that are there."""
        pattern = msgspec.json.encode(["at least", self.reading, self.count]).decode()
        return (OnFlag(Flag.TEXT, self._flagged(pattern)),)

    def needed_terms(self) -> tuple[tuple[str, ...], ...]:
        """Return groups: if all terms of one were missing, too few others would be left."""
        terms = self.reading
        width = len(terms) - self.count + 1
        groups = min(self.count, max(1, MOST_NEEDED // width))
        return tuple(terms[at : at + width] for at in range(groups))

    @property
    def likelihood(self) -> float:
        """The share of events that are likely to hold so many of the terms."""
        return float(min(ONE_VALUE**self.count * len(self.terms), PRESENT))
