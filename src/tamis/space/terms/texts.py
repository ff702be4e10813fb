"""Find the flags of many texts at once, from their UTF-8 bytes.

A text becomes the numbers of its words. Each word has a *code*, which stands for the flags that it sets and
for the slots of phrases that it fills. If all terms are plain words, these are the vocabulary. Otherwise each
word that a text holds is numbered, and Python finds the other terms of a new word once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.literals import StringColumn, string_column
from tamis.space.terms.characters import characters_of
from tamis.space.terms.checks import EMPTY, Check, Lists, lay_out
from tamis.space.terms.checks._kernels import flag_texts, merge_lists, merged_room
from tamis.space.terms.many import ManyWords
from tamis.space.terms.table import TermTable
from tamis.space.terms.vocabulary import Ints, Tokens, Words, find_words, no_words, words_of
from tamis.values.text import letters_of

MOST_WORDS = 1 << 20  # that are remembered; then the vocabulary starts anew
MOST_BYTES = 1 << 26  # of these words
MOST_LISTED = 1 << 24  # flags and slots of these words
PIECE = 1 << 20  # bytes of text that are read at a time, at least one text

Small = npt.NDArray[np.int32]


class Known(NamedTuple):
    """A vocabulary with the codes of its words, and the lists that the codes refer to, up to ``used``."""

    words: Words
    code: Small
    lists: Small
    used: int


class Marks(NamedTuple):
    """Scratch memory of one thread: the last text in which each word, flag and slot was seen."""

    word: Small
    flag: Small
    slot: Small
    met: Small
    last: Small  # the last mark, alone


class TextTable:
    """The terms and checks of an attribute, for many texts at once; many threads may use it."""

    def __init__(
        self,
        terms: dict[str, int],
        checks: list[Check],
        patterns: TermTable,
        letters: Callable[[str], str] = letters_of,
    ) -> None:
        self._characters = characters_of(letters)
        self._patterns = patterns
        several = [check for check in checks if check[1] != "any"]
        self._slots = {t: n for n, t in enumerate(dict.fromkeys(t for _, _, own in several for t in own))}
        self._flags: dict[str, list[int]] = {}  # of the terms that need a list
        for flag, mode, own in checks:
            for term in own if mode == "any" else ():
                self._flags.setdefault(term, []).append(flag)
        self._checks = lay_out(several, self._slots)
        lists = Lists()
        special, code = self._listed(terms, lists)
        self._many = ManyWords(patterns) if patterns else None
        self._place = np.array(
            [~lists.code(*self._of(term)) for term in (self._many.terms if self._many else ())], np.int64
        )
        plain = {term: flag for term, flag in terms.items() if term not in patterns}
        self._plain = _plain_words(plain, special, code, lists.array())
        flags = [*terms.values(), *(flag for flag, _, _ in checks)]
        self._base, self._width = min(flags), max(flags) - min(flags) + 1
        self._known = self._empty() if patterns else self._plain
        self._lock = threading.Lock()
        self._marks: deque[Marks] = deque()

    def _listed(self, terms: dict[str, int], lists: Lists) -> tuple[list[str], list[int]]:
        """Return the plain words with lists, and their codes; keep the flags of all terms with lists."""
        for term, flag in terms.items() if self._patterns else ():
            if term in self._patterns:
                self._flags.setdefault(term, []).append(flag)
        special = [term for term in {**self._flags, **self._slots} if term not in self._patterns]
        for term in special:
            if term in terms:
                self._flags.setdefault(term, []).append(terms[term])
        return special, [lists.code(*self._of(term)) for term in special]

    def _of(self, term: str) -> tuple[list[int], list[int]]:
        """Return the flags and slots of a term."""
        return self._flags.get(term, []), [self._slots[term]] if term in self._slots else []

    def find(self, start: Ints, text: npt.NDArray[np.uint8]) -> tuple[Ints, Small]:
        """Return how many flags each text sets, and the flags of all texts in turn."""
        count = np.zeros(len(start) - 1, np.int64)
        found: list[Small] = [np.empty(0, np.int32)]
        marks = self._marks.pop() if self._marks else self._new_marks()
        for first, last in _pieces(start):
            tokens, known = self._read(start[first : last + 1], text)
            marks = self._ready(marks, known, last - first)
            found += self._flagged(tokens, known, marks, count[first:last])
        self._marks.append(marks)
        return count, np.concatenate(found)

    def _read(self, start: Ints, text: npt.NDArray[np.uint8]) -> tuple[Tokens, Known]:
        """Return the words of texts, and the vocabulary that numbers them."""
        while True:
            known = self._known
            tokens = known.words.read(start, text, self._characters, keep=bool(self._patterns))
            if not len(tokens.unknown):
                return tokens, known
            with self._lock:
                if self._known.words.secret != known.words.secret:
                    continue  # the vocabulary has started anew
                tokens.word[tokens.unknown], known = self._learn(tokens.others)
                return tokens, known

    def _learn(self, others: StringColumn) -> tuple[Small, Known]:
        """Add words to the vocabulary; return their numbers, and the vocabulary.

        Readers of the vocabulary before see nothing of it: all arrays only change beyond the words they know.
        """
        before = self._known
        words, numbers = before.words.add(others)
        code, first, last = before.code, before.words.used, words.used
        if last > len(code):
            code = np.concatenate([code[:first], np.empty(2 * last - first, np.int32)])
        own = words.column(first)
        code[first:last] = self._plain_codes(own)
        known = self._with_lists(Known(words, code, before.lists, before.used), own, first)
        full = words.used > MOST_WORDS or words.bytes > MOST_BYTES or known.used > MOST_LISTED
        self._known = self._empty() if full else known
        return numbers, known

    def _empty(self) -> Known:
        return Known(no_words(), np.empty(0, np.int32), self._plain.lists, self._plain.used)

    def _plain_codes(self, words: StringColumn) -> Small:
        """Return the codes that words have as plain terms."""
        plain = self._plain
        number = np.empty(words.count, np.int64)
        find_words(words.start, words.data, *plain.words, number)
        code = np.full(words.count, EMPTY, np.int32)
        code[number >= 0] = plain.code[number[number >= 0]]
        return code

    def _with_lists(self, known: Known, words: StringColumn, first: int) -> Known:
        """Return the vocabulary with the lists of its words from ``first`` that satisfy other terms."""
        if self._many is None:
            return known
        word, term = self._many.of(words)
        word, place, lists = word + first, self._place[term], known.lists
        room = known.used + merged_room(word, place, known.code, lists)
        if room > len(lists):
            lists = np.concatenate([lists[: known.used], np.empty(2 * room - known.used, np.int32)])
        return known._replace(lists=lists, used=merge_lists(word, place, known.code, lists, known.used))

    def _flagged(self, tokens: Tokens, known: Known, marks: Marks, count: Ints) -> Iterator[Small]:
        texts, done = len(tokens.start) - 1, 0
        while done < texts:
            out = np.empty(len(tokens.word) + 2 * self._width, np.int32)
            done, written = flag_texts(
                done, tokens.start, tokens.word, marks.last[0] + 1, known.code, known.lists, self._base,
                marks.flag, marks.word, marks.slot, marks.met, *self._checks, out, count,
            )  # fmt: skip
            yield out[:written]
        marks.last[0] += texts

    def _ready(self, marks: Marks, known: Known, texts: int) -> Marks:
        """Return scratch memory for all words, and for as many texts."""
        if int(marks.last[0]) + texts > np.iinfo(np.int32).max - 1:
            for array in marks:
                array[:] = 0
        if len(known.code) > len(marks.word):
            more = np.zeros(len(known.code) - len(marks.word), np.int32)
            return marks._replace(word=np.concatenate([marks.word, more]))
        return marks

    def _new_marks(self) -> Marks:
        sizes = 0, self._width, len(self._slots), len(self._slots), 1
        return Marks(*(np.zeros(size, np.int32) for size in sizes))


def _plain_words(terms: dict[str, int], special: list[str], code: list[int], lists: Small) -> Known:
    """Return all plain words: those of one flag, and the special ones, whose codes are given."""
    listed = set(special)
    single = [term for term in terms if term not in listed]
    codes = [terms[term] for term in single] + code
    words = words_of(string_column(single + special))
    return Known(words, np.array(codes, np.int32), lists, len(lists))


def _pieces(start: Ints) -> Iterator[tuple[int, int]]:
    """Yield the texts in pieces of about the same number of bytes."""
    first, texts = 0, len(start) - 1
    while first < texts:
        last = int(np.searchsorted(start, start[first] + PIECE))
        last = min(max(last, first + 1), texts)
        yield first, last
        first = last
