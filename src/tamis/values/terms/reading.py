"""Split the text of a search into terms."""

from __future__ import annotations

import re

from tamis.errors import PatternError
from tamis.values.analysis import GAP, Analyser
from tamis.values.terms.kinds import Gap, Literal, Term, Word, one_word, read_term
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


def read_terms(text: str, analyser: Analyser | None = None) -> list[Term]:
    """Return the terms of a text in order; an analyser cuts and changes the words between patterns.

    A question mark behind a word is punctuation ("what is this?"), inside and before a word it is a wildcard.
    A slash begins a regular expression only where a word could begin, so ``and/or`` has two words.
    """
    if not any(sign in text for sign in "*?~/[{") or not (analyser is None or analyser.takes_patterns):
        return _words_in(text, analyser)
    letters = one_word if analyser is None or analyser.is_plain else analyser.letters
    found: list[Term] = []
    at = 0
    for piece in _PIECE.finditer(text):
        pattern = _pattern(text, piece)
        if pattern is not None:
            found += _words_in(text[at : piece.start()], analyser)
            found.append(read_term(pattern, letters))
            at = piece.end()
    return found + _words_in(text[at:], analyser)


def _words_in(text: str, analyser: Analyser | None) -> list[Term]:
    """Return the terms of a text without patterns."""
    if analyser is None or analyser.is_plain:
        return [Word(word) for word in terms_of(text)]
    return [Gap() if term == GAP else Literal(term) for term in analyser.terms(text)]


def _pattern(text: str, piece: re.Match[str]) -> str | None:
    """Return the written form of a pattern; ``None`` for plain words and punctuation."""
    written = piece[0]
    if piece.lastgroup in ("regex", "range"):
        return written
    if piece.lastgroup != "term":
        return None
    if "~" in written and _SIMILARITY.match(text, piece.end()):
        raise PatternError(f"{text[:80]!r}: the number behind ~ is one of edits: 0, 1 or 2")
    bare = written.rstrip("?")
    if "*" in bare or "?" in bare:
        bare = written
    has_sign = any(sign in bare for sign in "*?~")
    return bare if has_sign and any(map(str.isalnum, bare)) else None
