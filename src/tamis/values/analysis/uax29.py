"""Cut text into words by the rules of Unicode (UAX 29), for scripts that separate words.

The rules look at one character on each side, so a run of *word characters* can be cut without its
surroundings. A word character is a letter, digit, mark, underscore, or one of the signs that may join letters
or digits (``can't``, ``3.14``). Ideographs and Hiragana are words of one character each.
"""

from __future__ import annotations

import functools
import unicodedata

_JOINS_LETTERS = frozenset(":·․‧︓﹕：")
_JOINS_BOTH = frozenset("'.’‘․﹒＇．")
_JOINS_DIGITS = frozenset(",;;֊︐︔﹐﹔，；")
_BARE = frozenset(("under", "mark"))  # underscores alone are no word
JOINERS = _JOINS_LETTERS | _JOINS_BOTH | _JOINS_DIGITS


@functools.lru_cache(maxsize=65_536)
def kind_of(char: str) -> str:
    """Return the kind of a character: letter, digit, mark, join, katakana, single, or other."""
    category = unicodedata.category(char)
    if category in ("Mn", "Mc", "Me", "Cf"):
        return "mark"
    if category == "Pc":
        return "under"
    if category == "Nd":
        return "digit"
    if char in JOINERS:
        return "join"
    if category[0] not in "LN":
        return "other"
    name = unicodedata.name(char, "")
    if "KATAKANA" in name:
        return "katakana"
    if name.startswith(("CJK ", "HIRAGANA")) or (category == "Lo" and "IDEOGRAPH" in name):
        return "single"
    return "letter"


def is_word_character(char: str) -> bool:
    """Return whether a character may stand inside a word, or join two parts of one."""
    return kind_of(char) != "other"


def cut_run(run: str) -> list[tuple[int, int]]:
    """Return the beginning and end of each word in a run of word characters."""
    words: list[tuple[int, int]] = []
    begin = -1
    before = ""  # the kind of the last character of the word so far, marks left out
    at, size = 0, len(run)
    while at < size:
        kind = kind_of(run[at])
        if kind == "mark":  # belongs to the character before it; none can begin a word
            at += 1
            continue
        following = _skip_marks(run, at + 1)
        behind = kind_of(run[following]) if following < size else ""
        if begin >= 0 and not _goes_on(before, kind, run[at], behind):
            words.append((begin, at))
            begin = -1
        if begin < 0 and kind in ("letter", "digit", "katakana", "single", "under"):
            begin = at
        before = kind if kind != "join" else before
        at += 1
    if begin >= 0:
        words.append((begin, size))
    return [(low, high) for low, high in words if not _BARE.issuperset(map(kind_of, run[low:high]))]


def _skip_marks(run: str, at: int) -> int:
    while at < len(run) and kind_of(run[at]) == "mark":
        at += 1
    return at


def _goes_on(before: str, kind: str, char: str, behind: str) -> bool:
    """Return whether a character continues the word whose last character is of the kind ``before``."""
    if kind == "join":
        if before == behind == "letter":
            return char in _JOINS_LETTERS or char in _JOINS_BOTH
        return before == behind == "digit" and (char in _JOINS_DIGITS or char in _JOINS_BOTH)
    if kind == "single" or before == "single":
        return False
    if kind == "under" or before == "under":
        return True
    if kind == "katakana" or before == "katakana":
        return kind == before
    return True
