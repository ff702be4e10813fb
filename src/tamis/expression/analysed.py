"""Define the base of predicates on text, whose operands an analyser reads."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self

import msgspec

from tamis.errors import TypeMismatch
from tamis.expression.operands import clean_list, clean_text, over, quoted
from tamis.expression.predicate import Operator, Predicate
from tamis.expression.views import USING
from tamis.limits import Limits
from tamis.values.analysis import DEFAULT, Analysers, Words, analyser_of
from tamis.values.occurrences import Occurrence
from tamis.values.terms import Gap, Term, read_terms
from tamis.values.value import Value


class Analysed(Predicate, frozen=True, kw_only=True):
    """A predicate that keeps the texts of the user in ``terms``, and an analyser that reads them.

    An empty name means the default analyser.
    """

    analyser: str = ""

    TAKES_ANALYSER: ClassVar[bool] = True

    @property
    def operands(self) -> tuple[Any, ...]:
        """The operands, behind the analyser if there is one."""
        given = super().operands
        return (USING + self.analyser, *given) if self.analyser else given

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

    def bound(self, analysers: Analysers) -> Self:
        """Return the predicate with the analyser of its attribute, unless it names one itself."""
        name = "" if self.analyser else analysers.get(self.attribute, "")
        return self.changed(analyser=name) if name else self

    def words_of(self, value: Value) -> list[str] | None:
        """Return the terms of a text in order, with gaps; ``None`` if the value is no text."""
        return analyser_of(self.analyser or DEFAULT).terms(value) if type(value) is str else None

    def occurrences(self, value: Value) -> Iterator[Occurrence]:
        """Yield the words of a text that satisfy the terms; the predicate accepts the text."""
        if type(value) is str:
            words = placed_words(self.analyser or DEFAULT, value)
            for place, term in self.found_in(words.terms):
                yield Occurrence(*words.spans[place], term.removeprefix("="))

    @abstractmethod
    def found_in(self, words: list[str]) -> Iterator[tuple[int, str]]:
        """Yield (place, term) for the words that satisfy the terms; the predicate accepts the words."""

    def text(self) -> str:
        """Return the text of operator, operands and analyser, as it stands after the attribute."""
        return super().text() + self._using_text()

    def _using_text(self) -> str:
        return f" USING {quoted(self.analyser)}" if self.analyser else ""

    def _flagged(self, pattern: str) -> str:
        """Return the pattern of a flag, behind the analyser if there is one."""
        return f"{self.analyser}{USING}{pattern}" if self.analyser else pattern

    def _clean_texts(self, what: str, limits: Limits) -> tuple[str, ...]:
        """Return the texts in NFC, no longer than the limits."""
        analyser_of(self.analyser or DEFAULT)  # raises an error if there is none
        given: Any = getattr(self, self.OPERANDS[0])
        return tuple([clean_text(text, limits, "a term") for text in clean_list(given, what, limits)])


@lru_cache(maxsize=8)
def placed_words(name: str, text: str) -> Words:
    """Return the words of a text with their places.

    Many subscriptions look for words in the same few texts of one event, one after the other.
    """
    return analyser_of(name).words(text)


def check_patterns(terms: Sequence[str], limits: Limits) -> None:
    """Raise an error if a regular expression among the terms is too long."""
    longest = max((len(term) - 2 for term in terms if term.startswith("/")), default=0)
    if longest > limits.regex_characters:
        what = f"the regular expression of a term has {longest} characters"
        raise over("regex_characters", limits.regex_characters, what)


@lru_cache(maxsize=65_536)
def phrase_terms(name: str, text: str) -> tuple[str, ...]:
    """Return the terms of a phrase; each word that the analyser leaves out between them is a gap."""
    terms = read_terms(text, analyser_of(name or DEFAULT))
    places = [at for at, term in enumerate(terms) if not isinstance(term, Gap)]
    if not places:
        raise _no_term(name, (text,))
    return tuple([term.text() for term in terms[places[0] : places[-1] + 1]])


@lru_cache(maxsize=65_536)
def listed_terms(name: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the term of each text of a list; a text of words that the analyser leaves out has none."""
    terms = [term.text() for text in texts for term in _of_element(text, name)]
    if not terms:
        raise _no_term(name, texts)
    return tuple(terms)


def _of_element(text: str, name: str) -> list[Term]:
    terms = read_terms(text, analyser_of(name or DEFAULT))
    kept: list[Term] = [term for term in terms if not isinstance(term, Gap)]
    if not terms or len(kept) > 1:
        found = f"{len(kept)} terms ({', '.join(term.text() for term in kept[:5])})" if terms else "no term"
        raise TypeMismatch(f"{text[:80]!r} holds {found} where one is expected; HAS PHRASE takes several")
    return kept


def _no_term(name: str, texts: tuple[str, ...]) -> TypeMismatch:
    shown = ", ".join(map(repr, texts))[:80]
    if not name:
        return TypeMismatch(f"HAS needs a term: letters or digits, not {shown}")
    return TypeMismatch(f"HAS needs a term; the analyser {name!r} leaves out every word of {shown}")
