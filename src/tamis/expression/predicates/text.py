"""Define ``attribute [NOT] HAS …``: terms in text."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import msgspec

from tamis.errors import ParseError, TypeMismatch
from tamis.expression.operands import clean_list, clean_text, one_term, over, print_list, quoted
from tamis.expression.predicate import ONE_VALUE, PRESENT, Operand, Operator, Predicate, Spelling, operator
from tamis.expression.views import Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.terms import has_phrase, read_term, read_terms
from tamis.values.text import terms_of
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


class Text(Predicate, frozen=True):
    """The test ``attribute [NOT] HAS …``: any of the terms, all of them, or all in a row."""

    mode: TextMode
    terms: tuple[str, ...]
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (_ANY, _ALL, _PHRASE)
    OPERANDS: ClassVar[tuple[str, ...]] = ("terms",)
    LISTED: ClassVar[bool] = True

    @property
    def operands(self) -> tuple[str, ...]:
        """The terms."""
        return self.terms

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string that holds the terms."""
        if type(value) is not str:
            return False
        words = terms_of(value)
        if self.mode == "phrase":
            return has_phrase(words, [read_term(term) for term in self.terms])
        distinct = set(words)
        held = (
            term in distinct or (not term.isalnum() and any(map(read_term(term).matches, distinct)))
            for term in self.terms
        )
        return all(held) if self.mode == "all" else any(held)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with its terms tokenised."""
        mode: Any = self.mode
        if not isinstance(mode, str) or mode not in ("any", "all", "phrase"):
            raise ParseError(f"{mode!r} is not a way to look for terms; the ways are any, all and phrase")
        mode, terms = clean_terms(self.mode, clean_list(self.terms, "HAS", limits), limits)
        if not all(map(str.isascii, terms)):
            # Outside ASCII, tokenising a term again may give other terms. So the terms are tokenised twice,
            # and checking a checked predicate changes nothing.
            mode, terms = clean_terms(mode, terms, limits)
        kept = self.terms if terms == self.terms else terms
        return self.changed(mode=mode, terms=kept, negated=bool(self.negated))

    def text(self) -> str:
        """Return the text after the attribute: a phrase in one string, a single term without ANY."""
        negation = "NOT " if self.negated else ""
        if self.mode == "phrase":
            return f"{negation}HAS PHRASE {quoted(' '.join(self.terms))}"
        if len(self.terms) == 1:
            return f"{negation}HAS {quoted(self.terms[0])}"
        return f"{negation}HAS {self.mode.upper()} {print_list(self.terms)}"

    def implies(self, other: Predicate) -> bool:
        """Return whether every text with these terms satisfies ``other``, too."""
        if not isinstance(other, Text):
            return False
        if self.mode == "any":
            return other.mode == "any" and set(self.terms) <= set(other.terms)
        if other.mode == "any":  # all terms, or a phrase, certainly hold each of their terms
            return not set(self.terms).isdisjoint(other.terms)
        if other.mode == "all":
            return set(self.terms) >= set(other.terms)
        return self.mode == "phrase" and self.terms == other.terms

    @classmethod
    def united(cls, predicates: list[Any]) -> list[Any]:
        """Return the predicates with all ``any`` predicates joined into one."""
        loose = [one for one in predicates if one.mode == "any"]
        others = super().united([one for one in predicates if one.mode != "any"])
        terms = tuple(dict.fromkeys(term for one in loose for term in one.terms))
        return [cls(loose[0].attribute, "any", terms), *others] if terms else others

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return the flag of each term, or one flag for all of them together."""
        if len(self.terms) == 1:
            return (OnFlag(Flag.TERM, self.terms[0]),)
        if self.mode == "all" and not denied:
            return tuple(OnFlag(Flag.TERM, term) for term in dict.fromkeys(self.terms))
        return (OnFlag(Flag.TEXT, msgspec.json.encode([self.mode, self.terms]).decode()),)

    def needed_terms(self) -> tuple[tuple[str, ...], ...]:
        """Return each term alone, or all of them if one is enough."""
        distinct = tuple(dict.fromkeys(self.terms))
        return (distinct,) if self.mode == "any" else tuple((term,) for term in distinct)

    @property
    def likelihood(self) -> float:
        """The share of events that are likely to hold the terms."""
        count = len(self.terms)
        return min(ONE_VALUE * count if self.mode == "any" else ONE_VALUE**count, PRESENT)


def clean_terms(mode: TextMode, texts: tuple[Any, ...], limits: Limits) -> tuple[TextMode, tuple[str, ...]]:
    """Return the mode and the terms: one text of several terms is a phrase, one term alone means ``any``."""
    strings = [clean_text(text, limits, "a term") for text in texts]
    if mode == "phrase" or len(strings) == 1:
        terms = [term.text() for text in strings for term in read_terms(text)]
        mode = "phrase"
    else:
        terms = [one_term(text) for text in strings]
    longest = max((len(term) - 2 for term in terms if term.startswith("/")), default=0)
    if longest > limits.regex_characters:
        what = f"the regular expression of a term has {longest} characters"
        raise over("regex_characters", limits.regex_characters, what)
    if not terms:
        raise TypeMismatch(f"HAS needs a term: letters or digits, not {', '.join(map(repr, strings))[:80]}")
    return ("any" if len(terms) == 1 else mode), tuple(terms)
