"""Define ``attribute [NOT] HAS …``: terms in text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, Self

import msgspec

from tamis.errors import ParseError, TypeMismatch
from tamis.expression.operands import clean_list, clean_text, over, print_list, quoted
from tamis.expression.predicate import ONE_VALUE, PRESENT, Operand, Operator, Predicate, Spelling, operator
from tamis.expression.views import USING, Atom, Flag, OnFlag
from tamis.limits import Limits
from tamis.values.analysis import DEFAULT, GAP, Analyser, Analysers, analyser_of
from tamis.values.terms import Gap, Term, has_phrase, read_term, read_terms
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
    """The terms of a predicate as an analyser reads them; a gap of a phrase is an empty string."""

    mode: TextMode
    terms: tuple[str, ...]


class Text(Predicate, frozen=True):
    """The test ``attribute [NOT] HAS …``: any of the terms, all of them, or all in a row.

    ``terms`` are the texts of the user. The analyser reads them; an empty name means the default one.
    """

    mode: TextMode
    terms: tuple[str, ...]
    negated: bool = False
    weight: float = 1.0
    analyser: str = ""

    OPERATORS: ClassVar[tuple[Operator, ...]] = (_ANY, _ALL, _PHRASE)
    OPERANDS: ClassVar[tuple[str, ...]] = ("terms",)
    LISTED: ClassVar[bool] = True
    TAKES_ANALYSER: ClassVar[bool] = True

    @property
    def operands(self) -> tuple[str, ...]:
        """The texts, behind the analyser if there is one."""
        return (USING + self.analyser, *self.terms) if self.analyser else self.terms

    @classmethod
    def build(
        cls, operator: Operator, attribute: Any, operands: Sequence[Any], negated: bool, weight: Any
    ) -> Self:
        """Return the predicate with these operands; it is not checked."""
        first = operands[0] if operands else ""
        if not isinstance(first, str) or not first.startswith(USING):
            return super().build(operator, attribute, operands, negated, weight)
        rest = super().build(operator, attribute, operands[1:], negated, weight)
        return msgspec.structs.replace(rest, analyser=first[1:])

    @property
    def reading(self) -> Reading:
        """The terms as the analyser reads them."""
        return read_texts(self.analyser or DEFAULT, self.mode, self.terms)

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string that holds the terms."""
        if type(value) is not str:
            return False
        mode, terms = self.reading
        words = analyser_of(self.analyser or DEFAULT).terms(value)
        if mode == "phrase":
            return has_phrase(words, [read_term(term) for term in terms])
        distinct = set(words) - {GAP}
        held = (_is_held(term, distinct) for term in terms)
        return all(held) if mode == "all" else any(held)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with clean texts that hold a term."""
        mode: Any = self.mode
        if not isinstance(mode, str) or mode not in ("any", "all", "phrase"):
            raise ParseError(f"{mode!r} is not a way to look for terms; the ways are any, all and phrase")
        terms = tuple([clean_text(text, limits, "a term") for text in clean_list(self.terms, "HAS", limits)])
        if mode == "phrase" and len(terms) > 1:
            terms = (" ".join(terms),)
        found = read_texts(analyser_of(self.analyser or DEFAULT).name, mode, terms)
        longest = max((len(term) - 2 for term in found.terms if term.startswith("/")), default=0)
        if longest > limits.regex_characters:
            what = f"the regular expression of a term has {longest} characters"
            raise over("regex_characters", limits.regex_characters, what)
        kept = self.terms if terms == self.terms else terms
        mode = found.mode if len(terms) == 1 else mode
        return self.changed(mode=mode, terms=kept, negated=bool(self.negated))

    def bound(self, analysers: Analysers) -> Self:
        """Return the predicate with the analyser of its attribute, unless it names one itself."""
        name = "" if self.analyser else analysers.get(self.attribute, "")
        return self.changed(analyser=name) if name else self

    def text(self) -> str:
        """Return the text after the attribute: a phrase in one string, a single term without ANY."""
        negation = "NOT " if self.negated else ""
        using = f" USING {quoted(self.analyser)}" if self.analyser else ""
        if self.mode == "phrase":
            return f"{negation}HAS PHRASE {quoted(self.terms[0])}{using}"
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
        using = f"{self.analyser}{USING}" if self.analyser else ""
        if len(terms) == 1:
            return (OnFlag(Flag.TERM, using + terms[0]),)
        if mode == "all" and not denied:
            return tuple(OnFlag(Flag.TERM, using + term) for term in dict.fromkeys(terms))
        return (OnFlag(Flag.TEXT, using + msgspec.json.encode([mode, terms]).decode()),)

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
    if term in words or term[:1] == "=":
        return term in words or term[1:] in words
    return not term.isalnum() and any(map(read_term(term).matches, words))


def _distinct(predicates: list[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for one in predicates for term in one.terms))


@lru_cache(maxsize=65_536)
def read_texts(name: str, mode: TextMode, texts: tuple[str, ...]) -> Reading:
    """Return the terms of texts: one text of several terms is a phrase, one term alone means ``any``.

    Stop words are left out. Raise an error if no term is left.
    """
    analyser = analyser_of(name)
    terms: list[Term]
    if mode == "phrase" or len(texts) == 1:
        mode, terms = "phrase", read_terms(" ".join(texts), analyser)
        while terms and isinstance(terms[-1], Gap):
            terms.pop()
        while terms and isinstance(terms[0], Gap):
            terms.pop(0)
    else:
        terms = [term for text in texts for term in _of_element(text, analyser)]
    if not terms:
        shown = ", ".join(map(repr, texts))[:80]
        if name == DEFAULT:
            raise TypeMismatch(f"HAS needs a term: letters or digits, not {shown}")
        raise TypeMismatch(f"HAS needs a term; the analyser {name!r} leaves out every word of {shown}")
    return Reading("any" if len(terms) == 1 else mode, tuple([term.text() for term in terms]))


def _of_element(text: str, analyser: Analyser) -> list[Term]:
    """Return the single term of an element of a list; nothing if it has stop words only."""
    terms = read_terms(text, analyser)
    kept: list[Term] = [term for term in terms if not isinstance(term, Gap)]
    if not terms or len(kept) > 1:
        found = f"{len(kept)} terms ({', '.join(term.text() for term in kept[:5])})" if terms else "no term"
        raise TypeMismatch(f"{text[:80]!r} holds {found} where one is expected; HAS PHRASE takes several")
    return kept
