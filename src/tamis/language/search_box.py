"""Read the search-box form: ``+plus-size +wool +coat -leather "new york" optional``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tamis.errors import ParseError, PatternError
from tamis.expression.operands import over
from tamis.expression.predicates import Near, Predicate, Text
from tamis.expression.tree import TRUE, And, Expr, Or
from tamis.language.check import check_tree
from tamis.language.parse import utf8_size
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.analysis import DEFAULT, NO_ANALYSERS, Analyser, Analysers, analyser_of
from tamis.values.terms import read_terms

_PIECE = re.compile(r"""\s*+([+-]?+)(?:"([^"]*+)"(?:~([0-9]{0,9}+)(?![^\s]))?+|([^\s"]++))""")


class _Word(NamedTuple):
    sign: str
    text: str
    slop: int


def from_search_box(
    text: str,
    attribute: str = "text",
    limits: Limits = DEFAULT_LIMITS,
    analysers: Analysers = NO_ANALYSERS,
) -> Expr:
    """Return the tree of a search-box text over ``attribute``.

    ``+`` marks required words, ``-`` excluded words, quotes a phrase, ``~2`` its slop. Without any ``+``, all
    unmarked words are required; with one, they are optional: they add to the score and exclude nothing.
    """
    if not isinstance(text, str):
        raise ParseError(f"the text of a search box is a string, not a {type(text).__name__}")
    if (size := utf8_size(text)) > limits.expression_bytes:
        raise over("expression_bytes", limits.expression_bytes, f"the search has {size} bytes")
    words = list(_words(text, analyser_of(analysers.get(attribute, DEFAULT))))
    if not words:
        raise ParseError("there is nothing to search for", text=text, position=0)
    strict = not any(word.sign == "+" for word in words)
    tree = And(tuple(_condition(word, attribute, strict, analysers) for word in words))
    return check_tree(tree, limits, analysers)


def _words(text: str, analyser: Analyser) -> Iterator[_Word]:
    at, end = 0, len(text.rstrip())
    while at < end:
        piece = _PIECE.match(text, at)
        start = piece.start(1) if piece else at + len(text[at:]) - len(text[at:].lstrip())
        if piece is None:
            what = "a word after the sign" if text[start] in "+-" else "the closing quote of a phrase"
            raise ParseError(f"expected {what}", text=text, position=start)
        written = 2 if piece[2] is not None else 4
        if _has_term(text, piece, written, analyser):
            yield _Word(piece[1], piece[written], int(piece[3] or 0))
        elif piece[1]:
            raise ParseError("expected letters or digits after the sign", text=text, position=start)
        at = piece.end()  # a lone '&' or '!' between words is no word


def _has_term(text: str, piece: re.Match[str], written: int, analyser: Analyser) -> bool:
    """Return whether a word or phrase holds a term; raise an error if its slop is no number (``"a b"~x``)."""
    if written == 2 and text.startswith("~", piece.end()):
        expected = "expected the slop of the phrase, a whole number, behind ~"
        raise ParseError(expected, text=text, position=piece.end())
    try:
        return any(term.text() for term in read_terms(piece[written], analyser))
    except PatternError as bad:
        raise PatternError(bad.message, text=text, position=piece.start(written)) from None


def _condition(word: _Word, attribute: str, strict: bool, analysers: Analysers) -> Expr:
    negated = word.sign == "-"
    has: Predicate = Text(attribute, "phrase", (word.text,), negated)
    if word.slop and has.bound(analysers).size > 1:
        has = Near(attribute, "slop", (word.text,), word.slop, negated)
    return has if strict or word.sign else Or((has, TRUE))
