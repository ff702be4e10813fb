"""Split a string into terms, and fold strings for comparisons that ignore case."""

from __future__ import annotations

import re
import unicodedata

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
