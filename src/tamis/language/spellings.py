"""Collect the operators of the text form by their words and signs, from the registry of predicates."""

from __future__ import annotations

from typing import NamedTuple

from tamis.expression.predicate import Operand, Operator
from tamis.expression.predicates import OPERATORS, Compare, Predicate


class Meaning(NamedTuple):
    """An operator in the text: its kind of predicate, its operand, and whether it is the negative form."""

    kind: type[Predicate]
    operator: Operator
    operand: Operand
    negated: bool
    numbered: Meaning | None = None  # the operator that is meant if a number follows the operand


class Words:
    """A step through the words of operators: their meaning so far, and the words that may follow."""

    def __init__(self) -> None:
        self.meaning: Meaning | None = None
        self.following: dict[str, Words] = {}

    def at(self, words: list[str]) -> Words:
        """Return the step behind ``words``; make it if it is missing."""
        step = self
        for word in words:
            step = step.following.setdefault(word, Words())
        return step

    def endings(self) -> list[str]:
        """Return all words that may follow, shortest first."""
        found = [
            " ".join([word, *rest.split()])
            for word, step in self.following.items()
            for rest in ([""] if step.meaning else []) + step.endings()
        ]
        return sorted(found, key=lambda words: len(words.split()))


SIGNS: dict[str, Meaning] = {}
"""Comparisons by their signs."""

MEANINGS: dict[str, Meaning] = {}
"""Operators by all their words, with one space between two."""

WORDS = Words()
"""Operators by their words; ``NOT`` before them is read apart, except in ``IS NOT NULL``."""


def _collect() -> None:
    for kind, operator in OPERATORS:
        spelled = [(one.words, one.operand, False) for one in operator.spellings]
        spelled += [(words, operator.operand, True) for words in operator.negative or ()]
        for words, operand, negated in spelled:
            meaning = Meaning(kind, operator, operand, negated)
            if kind is Compare:
                SIGNS[words] = meaning
            else:
                step = WORDS.at(words.split())
                if step.meaning is not None:  # HAS PHRASE 'a b', and HAS PHRASE 'a b' SLOP 2
                    meaning = step.meaning._replace(numbered=meaning)
                step.meaning = MEANINGS[words] = meaning


_collect()


def _verb(words: str) -> str:
    """Return the first word of an operator, or all of its words if only one operator begins with it."""
    first = words.split()[0]
    step = WORDS.following[first]
    return first if step.meaning or len(step.endings()) > 1 else words


VERBS = tuple(dict.fromkeys(_verb(operator.words) for kind, operator in OPERATORS if kind is not Compare))
"""The words that may stand after an attribute, as messages list them."""


def listed(words: list[str]) -> str:
    """Return words as a list in a sentence."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
