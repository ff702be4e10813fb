"""Define ``attribute [NOT] HAS …``: terms in text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NamedTuple, Self

import msgspec

from tamis.errors import ParseError
from tamis.expression.analysed import Analysed, check_patterns, listed_terms, phrase_terms
from tamis.expression.operands import print_list, quoted
from tamis.expression.predicate import ONE_VALUE, PRESENT, Operand, Operator, Predicate, Spelling, operator
from tamis.expression.views import Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.analysis import GAP
from tamis.values.terms import has_phrase, phrase_places, read_term, term_places
from tamis.values.value import Value

TextMode = Literal["any", "all", "phrase"]

_TERMS = Operand("strings", "term")
_ANY = Operator(
    20,
    "has any",
    (Spelling("HAS ANY", _TERMS), Spelling("HAS", Operand("string", "a term"))),
    {"mode": "any"},
)
_ALL = operator(22, "has all", _TERMS, fields={"mode": "all"}, aliases=("has",))
_PHRASE = Operator(
    24, "has phrase", (Spelling("HAS PHRASE", Operand("string", "a phrase")),), {"mode": "phrase"}
)


class Reading(NamedTuple):
    """The terms of a predicate as its analyser reads them; a gap of a phrase is an empty string."""

    mode: TextMode
    terms: tuple[str, ...]


class Text(Analysed, frozen=True):
    """The test ``attribute [NOT] HAS …``: any of the terms, all of them, or all in a row."""

    mode: TextMode
    terms: tuple[str, ...]
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (_ANY, _ALL, _PHRASE)
    OPERANDS: ClassVar[tuple[str, ...]] = ("terms",)
    LISTED: ClassVar[bool] = True

    @property
    def reading(self) -> Reading:
        """The terms: those of one text are a phrase, one term alone means ``any``."""
        mode, terms = self.mode, self.terms
        if mode == "phrase" or len(terms) == 1:
            found = phrase_terms(self.analyser, terms[0] if len(terms) == 1 else " ".join(terms))
            return Reading("any" if len(found) == 1 else "phrase", found)
        found = listed_terms(self.analyser, terms)
        return Reading("any" if len(found) == 1 else mode, found)

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string that holds the terms."""
        words = self.words_of(value)
        if words is None:
            return False
        mode, terms = self.reading
        if mode == "phrase":
            return has_phrase(words, [read_term(term) for term in terms])
        distinct = set(words) - {GAP}
        held = (_is_held(term, distinct) for term in terms)
        return all(held) if mode == "all" else any(held)

    def found_in(self, words: list[str]) -> Iterator[tuple[int, str]]:
        """Yield (place, term) for each word that satisfies a term; for each word of each phrase."""
        mode, terms = self.reading
        if mode != "phrase":
            yield from term_places(words, terms)
            return
        for first in phrase_places(words, [read_term(term) for term in terms]):
            yield from ((first + at, term) for at, term in enumerate(terms) if term)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with clean texts that hold a term."""
        mode: Any = self.mode
        if not isinstance(mode, str) or mode not in ("any", "all", "phrase"):
            raise ParseError(f"{mode!r} is not a way to look for terms; the ways are any, all and phrase")
        terms = self._clean_texts("HAS", limits)
        if mode == "phrase" and len(terms) != 1:
            terms = (" ".join(terms),)
        kept = self.terms if terms == self.terms else terms
        clean = self.changed(terms=kept, negated=bool(self.negated))
        reading = clean.reading
        check_patterns(reading.terms, limits)
        return clean.changed(mode=reading.mode) if len(terms) == 1 else clean

    def text(self) -> str:
        """Return the text after the attribute: a phrase in one string, a single term without ANY."""
        negation, using = "NOT " if self.negated else "", self._using_text()
        if self.mode == "phrase":
            return f"{negation}HAS PHRASE {quoted(' '.join(self.terms))}{using}"
        if len(self.terms) == 1:
            return f"{negation}HAS {quoted(self.terms[0])}{using}"
        return f"{negation}HAS {self.mode.upper()} {print_list(self.terms)}{using}"

    def implies(self, other: Predicate) -> bool:
        """Return whether every text with these terms satisfies ``other``, too."""
        if not isinstance(other, Text) or self.analyser != other.analyser:
            return False
        one, two = self.reading, other.reading
        if one.mode == "any":
            return two.mode == "any" and set(one.terms) <= set(two.terms)
        if two.mode == "any":  # all terms, or a phrase, certainly hold each of their terms
            return not set(one.terms).isdisjoint(two.terms)
        if two.mode == "all":
            return set(one.terms) >= set(two.terms)
        return one.mode == "phrase" and one.terms == two.terms

    @classmethod
    def united(cls, predicates: list[Any]) -> list[Any]:
        """Return the predicates with all ``any`` predicates of one analyser joined into one."""
        loose: dict[str, list[Any]] = {}
        others: list[Any] = []
        for one in predicates:
            is_loose = one.mode == "any" and one.reading.mode == "any"
            (loose.setdefault(one.analyser, []) if is_loose else others).append(one)
        joined = [
            cls(some[0].attribute, "any", _distinct(some), analyser=analyser)
            for analyser, some in loose.items()
        ]
        return [*joined, *super().united(others)]

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return the flag of each term, or one flag for all of them together."""
        mode, terms = self.reading
        if len(terms) == 1:
            return (OnFlag(Flag.TERM, self._flagged(terms[0])),)
        if mode == "all" and not denied:
            return tuple(OnFlag(Flag.TERM, self._flagged(term)) for term in dict.fromkeys(terms))
        return (OnFlag(Flag.TEXT, self._flagged(msgspec.json.encode([mode, terms]).decode())),)

    def needed_terms(self) -> tuple[tuple[str, ...], ...]:
        """Return the terms in one group if any of them is enough, else each term alone."""
        mode, terms = self.reading
        return (terms,) if mode == "any" else tuple((term,) for term in dict.fromkeys(terms) if term)

    @property
    def size(self) -> int:
        """The number of terms."""
        return len(self.reading.terms)

    @property
    def likelihood(self) -> float:
        """The share of events that are likely to hold the terms."""
        mode, terms = self.reading
        count = len(terms)
        return min(ONE_VALUE * count if mode == "any" else ONE_VALUE**count, PRESENT)


def _is_held(term: str, words: set[str]) -> bool:
    """Return whether one of the words satisfies a term."""
    if term.startswith("="):
        return term[1:] in words
    return term in words or (not term.isalnum() and any(map(read_term(term).matches, words)))


def _distinct(predicates: list[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for one in predicates for term in one.terms))
