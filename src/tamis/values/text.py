"""Split a string into terms, and fold strings for comparisons that ignore case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# A term is a run of letters and digits of any script; everything else separates. The pattern is fixed and
# linear; user-written patterns never reach Python's ``re``.
_ASCII_TERM = re.compile(r"[a-z0-9]+")
_TERM = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """Return ``text`` with case differences removed (Unicode case folding, then NFC)."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text.casefold())


def terms_of(text: str) -> list[str]:
    """Return the terms of ``text`` in order: case-folded, accents removed, punctuation dropped."""
    if text.isascii():
        return _ASCII_TERM.findall(text.lower())
    # Decomposing first shows capitals that folding alone would miss ('㏇' is 'Co.'); again after folding.
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return _TERM.findall("".join(c for c in folded if not unicodedata.combining(c)))


def folded_words(text: str) -> list[tuple[str, int, int]]:
    """Return the terms of ``text`` with the beginning and end of their characters.

    The terms are those of :func:`terms_of`: folding looks at one character at a time.
    """
    if text.isascii():
        return [(found[0], *found.span()) for found in _ASCII_TERM.finditer(text.lower())]
    words: list[tuple[str, int, int]] = []
    letters, begin, end = "", 0, 0
    for at, char in enumerate(text):
        folded = letters_of(char)
        for sign in folded:
            if sign != SEPARATOR:
                begin = begin if letters else at
                letters, end = letters + sign, at + 1
            elif letters:
                words.append((letters, begin, end))
                letters = ""
        if letters and not folded:
            end = at + 1  # an accent belongs to its letter
    return [*words, (letters, begin, end)] if letters else words


SEPARATOR = "\0"


@lru_cache(maxsize=65_536)
def letters_of(character: str) -> str:
    """Return what a character adds to the words of a text; each :data:`SEPARATOR` in it ends a word.

    The words of a text are the letters of its characters, one after the other: no step of :func:`terms_of`
    looks at neighbours, but for the order of marks, which are dropped.
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    kept = (c for c in folded if not unicodedata.combining(c))
    return "".join(c if c.isalnum() else SEPARATOR for c in kept)
