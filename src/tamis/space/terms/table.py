"""Find all terms with wildcards, edits, expressions or ranges that a word satisfies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tamis.space.automata import Expressions
from tamis.space.terms.pieces import PieceTable
from tamis.values.terms import Fuzzy, Regex, Wildcard, read_term

MEMO_WORDS = 65_536
LONG = 32  # letters; a longer fuzzy word is tried on each word, because it becomes too many shorter ones


class TermTable:
    """The terms that are not plain words, by what a word needs to satisfy them.

    A prefix or suffix is found by hashing the beginnings and ends of the word. A fuzzy term is found if both
    words become equal when each loses some letters. Fuzzy terms with another distance are found by pieces.
    Other wildcards are tried on words that hold their rarest piece, expressions at once by RE2. Words repeat,
    so the terms of a word are remembered. One writer may add terms while others look words up.
    """

    def __init__(self) -> None:
        self.added: set[str] = set()
        self.prefixes: dict[str, str] = {}
        self.suffixes: dict[str, str] = {}
        self.fuzzy: dict[str, list[tuple[str, Fuzzy]]] = {}
        self.pieces = PieceTable()
        self.regexes: list[tuple[str, str]] = []
        self.others: list[tuple[str, Any]] = []
        self._lengths: tuple[tuple[int, ...], ...] = ((), ())  # of the prefixes, of the suffixes
        self.longest = self._edits = 0
        self._tried: tuple[int, Expressions] | None = None  # how many expressions, and all of them as one
        self._known: dict[str, tuple[str, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self.added)

    def __contains__(self, text: object) -> bool:
        return text in self.added

    @property
    def tried(self) -> int:
        """The number of terms that are tried on each new word, because no look-up finds them."""
        return len(self.regexes) + len(self.others)

    def add(self, text: str) -> None:
        """Add a term by its written form, once; a plain word is left to the caller's own table."""
        if text.isalnum() or text in self.added:
            return
        term = read_term(text)
        if isinstance(term, Wildcard) and term.is_prefix:
            self.prefixes[term.pattern[:-1]] = text
            self._add_length(0, len(term.pattern) - 1)
        elif isinstance(term, Wildcard) and term.is_suffix:
            self.suffixes[term.pattern[1:]] = text
            self._add_length(1, len(term.pattern) - 1)
        elif isinstance(term, Fuzzy) and term.distance:
            self.pieces.add(text, term)
        elif isinstance(term, Fuzzy) and len(term.word) <= LONG:
            self.longest = max(self.longest, len(term.word) + term.edits)
            self._edits = max(self._edits, term.edits)
            for shorter in _shorter(term.word, term.edits):
                self.fuzzy.setdefault(shorter, []).append((text, term))
        elif isinstance(term, Wildcard | Regex):
            self.regexes.append((term.regex, text))
        else:
            self.others.append((text, term))
        self.added.add(text)
        self._known = {}  # last: what a reader remembers from now on has the new term

    def _add_length(self, at: int, length: int) -> None:
        if length not in self._lengths[at]:
            lengths = list(self._lengths)
            lengths[at] = (*lengths[at], length)
            self._lengths = tuple(lengths)

    def of(self, word: str) -> tuple[str, ...]:
        """Return the written forms of all terms that a folded word satisfies."""
        known = self._known  # a writer may put another in its place meanwhile
        found = known.get(word)
        if found is None:
            found = tuple(dict.fromkeys(self._find(word)))
            if len(known) >= MEMO_WORDS:
                known.clear()
            known[word] = found
        return found

    def _find(self, word: str) -> Iterator[str]:
        yield from self._affixes(word)
        yield from self.fuzzy_terms(word)
        if self.pieces:
            yield from self.pieces.find(word)
        if self.regexes:
            yield from (self.regexes[at][1] for at in self._patterns().find(word))
        yield from (text for text, term in self.others if term.matches(word))

    def fuzzy_terms(self, word: str) -> Iterator[str]:
        """Yield the fuzzy terms that a folded word satisfies, some of them several times."""
        if self.fuzzy and len(word) <= self.longest:
            for shorter in _shorter(word, self._edits):
                yield from (text for text, term in self.fuzzy.get(shorter, ()) if term.matches(word))

    def _affixes(self, word: str) -> Iterator[str]:
        """Yield the terms that ask for a beginning or an end of the word."""
        for length in self._lengths[0]:
            if (prefix := self.prefixes.get(word[:length])) is not None:
                yield prefix
        for length in self._lengths[1]:
            if length <= len(word) and (suffix := self.suffixes.get(word[len(word) - length :])) is not None:
                yield suffix

    def _patterns(self) -> Expressions:
        """Return the table of all expressions, made anew if there are more than before."""
        count, tried = len(self.regexes), self._tried
        if tried is None or tried[0] != count:
            patterns = [regex for regex, _ in self.regexes[:count]]
            tried = self._tried = (count, Expressions(patterns, list(range(count)), folded=False))
        return tried[1]


def _shorter(word: str, most: int) -> set[str]:
    """Return the word without any ``most`` of its letters, or fewer."""
    found = last = {word}
    for _ in range(most):
        last = {one[:at] + one[at + 1 :] for one in last for at in range(len(one))}
        found = found | last
    return found
