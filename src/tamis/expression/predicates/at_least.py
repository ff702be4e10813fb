"""Define ``attribute [NOT] HAS AT LEAST n OF (terms)``."""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from tamis.errors import TypeMismatch
from tamis.expression.operands import clean_list, clean_whole
from tamis.expression.predicate import ONE_VALUE, PRESENT, Operand, Operator, Predicate, operator
from tamis.expression.predicates.text import Text, clean_terms
from tamis.expression.views import Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.terms import holds_at_least, read_term
from tamis.values.text import terms_of
from tamis.values.value import Value

MOST_NEEDED = 1_024  # terms in all needed groups, if there is more than one group


class AtLeast(Predicate, frozen=True):
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

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string that holds so many of the terms."""
        if type(value) is not str:
            return False
        return holds_at_least(terms_of(value), [read_term(term) for term in self.terms], self.count)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with distinct terms, at least as many as it asks for."""
        terms = clean_list(self.terms, "HAS AT LEAST", limits)
        for _ in range(2):  # outside ASCII, tokenising a term again may give other terms
            mode, terms = clean_terms("all", terms, limits)
            if mode == "phrase":
                what = f"{' '.join(terms)[:80]!r} holds {len(terms)} terms where one is expected"
                raise TypeMismatch(f"{what}; give each term a string of its own")
        terms = tuple(dict.fromkeys(terms))
        count = clean_whole(self.count, "AT LEAST", 1)
        if count > len(terms):
            what = f"no text holds AT LEAST {count} OF {len(terms)} different terms"
            raise TypeMismatch(f"{what}; write {len(terms)} or fewer")
        kept = self.terms if terms == self.terms else terms
        return self.changed(terms=kept, count=count, negated=bool(self.negated))

    def implies(self, other: Predicate) -> bool:
        """Return whether every text with so many of these terms satisfies ``other``, too."""
        if isinstance(other, Text):
            others = set(other.terms)
            if other.mode == "any":
                return len(set(self.terms) - others) < self.count
            return other.mode == "all" and self.count == len(self.terms) and set(self.terms) >= others
        if not isinstance(other, AtLeast):
            return False
        return self.count - len(set(self.terms) - set(other.terms)) >= other.count

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return one flag; the index counts the terms that are there."""
        return (OnFlag(Flag.TEXT, msgspec.json.encode(["at least", self.terms, self.count]).decode()),)

    def needed_terms(self) -> tuple[tuple[str, ...], ...]:
        """Return groups: if all terms of one were missing, too few others would be left."""
        width = len(self.terms) - self.count + 1
        groups = min(self.count, max(1, MOST_NEEDED // width))
        return tuple(self.terms[at : at + width] for at in range(groups))

    @property
    def likelihood(self) -> float:
        """The share of events that are likely to hold so many of the terms."""
        return float(min(ONE_VALUE**self.count * len(self.terms), PRESENT))
