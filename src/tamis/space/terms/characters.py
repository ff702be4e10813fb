"""Tables of the letters of characters, by which kernels split UTF-8 into words."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

PAGE = 256  # code points
PAGES = 0x110000 // PAGE
SURROGATES = range(0xD800 // PAGE, 0xE000 // PAGE)  # pages without characters
PAGED = 1  # in ``ascii``: the letters stand in the pages


class Tables(NamedTuple):
    """The letters of characters: ``letters[start[i]:start[i + 1]]`` for place ``i``, 0 between words.

    The place of a code point is its last byte within its page. ``page`` is the number of each page of 256
    code points, -1 if it is not loaded. ``ascii`` has the one letter of each ASCII character, 0 if it
    separates. ``growth`` is the most bytes of letters for a byte of text.
    """

    ascii: npt.NDArray[np.uint8]
    page: npt.NDArray[np.int32]
    start: npt.NDArray[np.int32]
    letters: npt.NDArray[np.uint8]
    growth: int


class Characters:
    """The letters of all characters, loaded by pages when a text first holds one of the page.

    Readers use the current tables. A load makes new ones and swaps the reference.
    """

    def __init__(self, letters_of: Callable[[str], str]) -> None:
        self._letters_of = letters_of
        self.tables = self._first()

    def load(self, missing: npt.NDArray[np.uint8]) -> None:
        """Load the pages that are marked."""
        tables = self.tables
        page, start, letters = tables.page.copy(), [tables.start], [tables.letters]
        growth, end = tables.growth, int(tables.start[-1])
        pages = [number for number in np.flatnonzero(missing).tolist() if page[number] < 0]
        for at, number in enumerate(pages, (len(tables.start) - 1) // PAGE):
            raw = self._page(number)
            page[number] = at
            growth = max(growth, *(-(-len(one) // n) for one, n in zip(raw, _least(number), strict=True)))
            start.append((end + np.cumsum([len(one) for one in raw])).astype(np.int32))
            letters.append(np.frombuffer(b"".join(raw), np.uint8))
            end = int(start[-1][-1])
        self.tables = Tables(tables.ascii, page, np.concatenate(start), np.concatenate(letters), growth)

    def _page(self, number: int) -> list[bytes]:
        if number in SURROGATES:
            return [b""] * PAGE
        return [self._letters_of(chr(code)).encode() for code in range(number * PAGE, (number + 1) * PAGE)]

    def _first(self) -> Tables:
        """Return the tables without any page but for ASCII characters."""
        raw = [self._letters_of(chr(code)).encode() for code in range(128)]
        ascii_ = np.array([one[0] if len(one) == 1 else PAGED for one in raw], np.uint8)
        growth = max(1, *map(len, raw))
        page, start = np.full(PAGES, -1, np.int32), np.zeros(1, np.int32)
        return Tables(ascii_, page, start, np.zeros(0, np.uint8), growth)


def _least(number: int) -> list[int]:
    """Return the bytes of each character of a page in UTF-8."""
    codes = range(number * PAGE, (number + 1) * PAGE)
    return [1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4 for code in codes]


@lru_cache(maxsize=64)
def characters_of(letters_of: Callable[[str], str]) -> Characters:
    """Return the one table of an analyser's letters."""
    return Characters(letters_of)
