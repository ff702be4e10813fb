"""Number the words of texts: each distinct word once, however many texts hold it."""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.columns.literals import StringColumn
from tamis.space.terms.characters import PAGES, Characters, Tables
from tamis.space.terms.vocabulary._kernels import add_words, enter_words, find_words, read_texts

__all__ = ["Ints", "Tokens", "Words", "find_words", "no_words", "words_of"]

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


class Tokens(NamedTuple):
    """The words of texts in order: text ``i`` has ``word[start[i]:start[i + 1]]``, -1 for unknown words.

    ``unknown`` has the places of the unknown words in ``word``, and ``others`` the words themselves.
    """

    start: Ints
    word: npt.NDArray[np.int32]
    unknown: Ints
    others: StringColumn


class Words(NamedTuple):
    """The words of a vocabulary at one moment: word ``n`` is ``data[start[n]:start[n + 1]]``.

    The arrays have room for more words. One writer at a time adds words beyond the ``used`` ones. A reader of
    these never looks there.
    """

    used: int
    start: Ints
    data: Bytes
    table: npt.NDArray[np.uint64]
    shift: np.uint64
    secret: np.uint64

    @property
    def bytes(self) -> int:
        """The bytes of all words."""
        return int(self.start[self.used])

    def read(self, start: Ints, text: Bytes, characters: Characters, *, keep: bool) -> Tokens:
        """Return the words of texts; with ``keep`` also those that are unknown."""
        while True:
            missing = np.zeros(PAGES, np.uint8)
            tokens = self._read(start, text, characters.tables, missing, keep)
            if not missing.any():
                return tokens
            characters.load(missing)

    def _read(self, start: Ints, text: Bytes, tables: Tables, missing: Bytes, keep: bool) -> Tokens:
        longest = int(np.diff(start).max(initial=0)) * tables.growth
        whole = int(start[-1] - start[0]) * tables.growth
        most = longest // 2 + 1  # a word takes at least a letter and a separator
        room = whole // 2 + len(start)
        token = np.empty(room, np.int32)
        token_start, sizes = np.zeros(len(start), np.int64), np.zeros(3, np.int64)
        unknown, unknown_end = np.empty((2, room if keep else 0), np.int64)
        letters = np.empty(whole if keep else 0, np.uint8)
        count = read_texts(
            start, text, *tables[:4], missing, self.used, self.table, self.shift, self.secret, self.start,
            self.data, np.empty(longest, np.uint8), np.empty(most, np.uint64), np.empty(most, np.int64),
            token_start, token, unknown, unknown_end, letters, sizes,
        )  # fmt: skip
        others, used, _ = sizes.tolist()
        end = np.zeros(others + 1, np.int64)
        end[1:] = unknown_end[:others]
        return Tokens(token_start, token[:count], unknown[:others], StringColumn(end, letters[:used]))

    def add(self, words: StringColumn) -> tuple[Words, npt.NDArray[np.int32]]:
        """Return these words and others that are new, and the number of each of ``words``."""
        out, read, now = np.empty(words.count, np.int32), 0, self
        ends = np.ascontiguousarray(words.start[1:])
        while True:
            read, count = add_words(
                ends, words.data, read, now.used, now.table, now.shift, now.secret, now.start, now.data, out
            )
            now = now._replace(used=count)
            if read == words.count:
                return now, out
            now = now._grown(int(words.start[read + 1] - words.start[read]))

    def column(self, first: int = 0) -> StringColumn:
        """Return the words from ``first``."""
        own = self.start[first : self.used + 1]
        return StringColumn(own - own[0], self.data[int(own[0]) : int(own[-1])])

    def _grown(self, more: int) -> Words:
        """Return the same words in arrays of twice the size, and with room for ``more`` bytes."""
        start = np.zeros(2 * len(self.start), np.int64)
        start[: self.used + 1] = self.start[: self.used + 1]
        data = np.empty(2 * (len(self.data) + more), np.uint8)
        data[: self.bytes] = self.data[: self.bytes]
        return _entered(self.used, start, data, self.secret)


def words_of(column: StringColumn) -> Words:
    """Return the vocabulary of some distinct words."""
    start = column.start.astype(np.int64) - column.start[0]
    data = column.data[int(column.start[0]) : int(column.start[-1])]
    return _entered(column.count, start, data, np.uint64(secrets.randbits(64) | 1))


def no_words(room: int = 1 << 10) -> Words:
    """Return an empty vocabulary with room for some words."""
    start, data = np.zeros(room + 1, np.int64), np.empty(16 * room, np.uint8)
    return _entered(0, start, data, np.uint64(secrets.randbits(64) | 1))


def _entered(count: int, start: Ints, data: Bytes, secret: np.uint64) -> Words:
    bits = max(2 * (len(start) - 1), 2).bit_length()
    table, shift = np.zeros(2 << bits, np.uint64), np.uint64(64 - bits)
    enter_words(start, data, 0, count, table, shift, secret)
    return Words(count, start, data, table, shift, secret)
