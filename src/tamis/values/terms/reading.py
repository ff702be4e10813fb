"""Split the text of a search into terms."""

from __future__ import annotations

import re

from tamis.errors import PatternError
from tamis.values.terms.kinds import Term, Word, read_term
from tamis.values.text import terms_of

# Linear: possessive quantifiers never give characters back.
_PIECE = re.compile(
    r"""(?<![^\s,(])(?P<regex>/(?:[^/\\\s]|\\\S)++/)(?![^\s,)])
    |(?P<range>[\[{]\s*+[^\s\]}]++\s++TO\s++[^\s\]}]++\s*+[\]}])
    |(?P<term>(?:[^\W_]|[*?])++(?:~[0-9]*+(?:,[0-9]++)?+(?::[A-Za-z]++)?+(?![^\W_]))?+)
    |(?P<between>.)""",
    re.VERBOSE | re.DOTALL,
)
_SIMILARITY = re.compile(r"\.[0-9]")


def read_terms(text: str) -> list[Term]:
    """Return the terms of a text in order; punctuation separates them.

    A question mark behind a word is punctuation ("what is this?"), inside and before a word it is a wildcard.
    A slash begins a regular expression only where a word could begin, so ``and/or`` has two words.
    """
    if not any(sign in text for sign in "*?~/[{"):
        return [Word(word) for word in terms_of(text)]
    found: list[Term] = []
    for piece in _PIECE.finditer(text):
        kind, written = piece.lastgroup, piece[0]
        if kind in ("regex", "range"):
            found.append(read_term(written))
        elif kind == "term":
            if "~" in written and _SIMILARITY.match(text, piece.end()):
                raise PatternError(f"{text[:80]!r}: the number behind ~ is one of edits: 0, 1 or 2")
            found += _terms_in(written)
    return found


def _terms_in(written: str) -> list[Term]:
    """Return the terms of a run of letters, digits and wildcards; wildcards alone are punctuation."""
    bare = written.rstrip("?")
    if "*" in bare or "?" in bare:
        bare = written
    if not any(map(str.isalnum, bare)):
        return []
    if any(sign in bare for sign in "*?~"):
        return [read_term(bare)]
    return [Word(word) for word in terms_of(bare)]
