"""Find all terms with wildcards, edits, expressions or ranges that a word satisfies."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tamis.space.automata import Patterns
from tamis.space.terms.fuzzy import FuzzyWords
from tamis.space.terms.joined import Lines, line_pattern
from tamis.space.terms.pieces import PieceTable
from tamis.values.terms import Fuzzy, Range, Regex, Wildcard, read_term

MEMO_WORDS = 65_536
LONG = 32  # letters; a longer fuzzy word is tried on each word, because it becomes too many shorter ones


Expressions = tuple[Patterns, list[str]]  # of terms, and their written forms


class _Many(NamedTuple):
    """Tables of a finished set of terms, for many words at once."""

    fuzzy: FuzzyWords | None
    lines: Lines | None  # finds the words for ``easy``
    easy: Expressions
    hard: Expressions
    ranges: list[tuple[str, Range]]
    others: list[tuple[str, Any]]


class TermTable:
    """The terms that are not plain words, by what a word needs to satisfy them.

    A prefix or suffix is found by hashing the beginnings and ends of the word. A fuzzy term is found if both
    words become equal when each loses some letters. Fuzzy terms with another distance are found by pieces.
    All wildcards and expressions are tried at once by RE2. Words repeat, so the terms of a word are
    remembered. One writer may add terms while others look words up.
    """

    def __init__(self) -> None:
        self._added: set[str] = set()
        self._prefixes: dict[str, str] = {}
        self._suffixes: dict[str, str] = {}
        self._fuzzy: dict[str, list[tuple[str, Fuzzy]]] = {}
        self._pieces = PieceTable()
        self._regexes: list[tuple[str, str]] = []
        self._others: list[tuple[str, Any]] = []
        self._lengths: tuple[tuple[int, ...], ...] = ((), ())  # of the prefixes, of the suffixes
        self._longest = self._edits = 0
        self._tried: tuple[int, Patterns] | None = None  # how many expressions, and all of them as one
        self._known: dict[str, tuple[str, ...]] = {}
        self._many: _Many | None = None

    def __bool__(self) -> bool:
        return bool(self._added)

    def __contains__(self, text: object) -> bool:
        return text in self._added

    @property
    def tried(self) -> int:
        """The number of terms that are tried on each new word, because no look-up finds them."""
        return len(self._regexes) + len(self._others)

    def add(self, text: str) -> None:
        """Add a term by its written form, once; a plain word is left to the caller's own table."""
        if text.isalnum() or text in self._added:
            return
        term = read_term(text)
        if isinstance(term, Wildcard) and term.is_prefix:
            self._prefixes[term.pattern[:-1]] = text
            self._add_length(0, len(term.pattern) - 1)
        elif isinstance(term, Wildcard) and term.is_suffix:
            self._suffixes[term.pattern[1:]] = text
            self._add_length(1, len(term.pattern) - 1)
        elif isinstance(term, Fuzzy) and term.distance:
            self._pieces.add(text, term)
        elif isinstance(term, Fuzzy) and len(term.word) <= LONG:
            self._longest = max(self._longest, len(term.word) + term.edits)
            self._edits = max(self._edits, term.edits)
            for shorter in _shorter(term.word, term.edits):
                self._fuzzy.setdefault(shorter, []).append((text, term))
        elif isinstance(term, Wildcard | Regex):
            self._regexes.append((term.regex, text))
        else:
            self._others.append((text, term))
        self._added.add(text)
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
        if self._fuzzy and len(word) <= self._longest:
            for shorter in _shorter(word, self._edits):
                yield from (text for text, term in self._fuzzy.get(shorter, ()) if term.matches(word))
        if self._pieces:
            yield from self._pieces.find(word)
        if self._regexes:
            yield from (self._regexes[at][1] for at in self._patterns().find(word))
        yield from (text for text, term in self._others if term.matches(word))

    def _affixes(self, word: str) -> Iterator[str]:
        """Yield the terms that ask for a beginning or an end of the word."""
        for length in self._lengths[0]:
            if (prefix := self._prefixes.get(word[:length])) is not None:
                yield prefix
        for length in self._lengths[1]:
            if length <= len(word) and (suffix := self._suffixes.get(word[len(word) - length :])) is not None:
                yield suffix

    def of_many(self, words: list[str]) -> dict[int, set[str]]:
        """Return the places of the words that satisfy terms, with the written forms of these terms.

        The words are distinct. All terms must have been added before the first call.
        """
        if self._many is None:
            self._many = self._prepared()
        found: dict[int, set[str]] = {}
        for at, term in self._found(words, self._many):
            found.setdefault(at, set()).add(term)
        return found

    def _prepared(self) -> _Many:
        terms = [(text, read_term(text)) for _, text in self._regexes]
        lines = [(text, term, line_pattern(term)) for text, term in terms]  # type: ignore[arg-type]
        easy = [(term, text) for text, term, line in lines if line is not None]
        hard = [(term, text) for text, term, line in lines if line is None]
        return _Many(
            FuzzyWords(self._fuzzy, self._longest) if self._fuzzy else None,
            Lines([line for _, _, line in lines if line is not None]) if easy else None,
            _expressions(easy),
            _expressions(hard),
            [(text, term) for text, term in self._others if isinstance(term, Range)],
            [(text, term) for text, term in self._others if not isinstance(term, Range)],
        )

    def _found(self, words: list[str], many: _Many) -> Iterator[tuple[int, str]]:
        if self._prefixes or self._suffixes:
            for at, word in enumerate(words):
                yield from ((at, term) for term in self._affixes(word))
        if many.fuzzy is not None:
            plain = [at for at, word in enumerate(words) if word.isascii()]
            yield from ((plain[at], term) for at, term in many.fuzzy.of([words[at] for at in plain]))
            for at in set(range(len(words))).difference(plain):
                for shorter in _shorter(words[at], self._edits) if len(words[at]) <= self._longest else ():
                    yield from (
                        (at, t) for t, term in self._fuzzy.get(shorter, ()) if term.matches(words[at])
                    )
        for at, word in enumerate(words) if self._pieces else ():
            yield from ((at, term) for term in self._pieces.find(word))
        if many.lines is not None:
            yield from _matched(many.easy, words, many.lines.candidates(words))
        if many.hard[1]:
            yield from _matched(many.hard, words, range(len(words)))
        if many.ranges:
            order = sorted(range(len(words)), key=words.__getitem__)
            ordered = [words[at] for at in order]
            for text, term in many.ranges:
                yield from ((at, text) for at in order[_slice(ordered, term)])
        for text, term in many.others:
            yield from ((at, text) for at, word in enumerate(words) if term.matches(word))

    def _patterns(self) -> Patterns:
        """Return the set of all expressions, made anew if there are more than before."""
        count, tried = len(self._regexes), self._tried
        if tried is None or tried[0] != count:
            patterns = [regex for regex, _ in self._regexes[:count]]
            tried = self._tried = (count, Patterns(patterns, list(range(count)), folded=False))
        return tried[1]


def _expressions(terms: list[tuple[Any, str]]) -> Expressions:
    return Patterns([term.regex for term, _ in terms], list(range(len(terms))), False), [t for _, t in terms]


def _matched(expressions: Expressions, words: list[str], places: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield the expressions that the words in some places match."""
    patterns, texts = expressions
    for at in places:
        yield from ((at, texts[number]) for number in patterns.find(words[at]))


def _slice(words: list[str], term: Range) -> slice:
    """Return the sorted words that lie in a range."""
    low = 0 if term.low is None else (bisect_right if term.low_open else bisect_left)(words, term.low)
    if term.high is None:
        return slice(low, None)
    return slice(low, (bisect_left if term.high_open else bisect_right)(words, term.high))


def _shorter(word: str, most: int) -> set[str]:
    """Return the word without any ``most`` of its letters, or fewer."""
    found = last = {word}
    for _ in range(most):
        last = {one[:at] + one[at + 1 :] for one in last for at in range(len(one))}
        found = found | last
    return found
