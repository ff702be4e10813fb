"""Split text into tokens, and give the grammar a cursor to read them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn, TypeVar

from tamis.errors import ExpressionError, ParseError
from tamis.expression.operands import DEEPEST, over
from tamis.limits import Limits
from tamis.values.analysis import NO_ANALYSERS, Analysers

# Possessive quantifiers throughout: no input makes these patterns backtrack.
_TOKEN = re.compile(
    r"""\s*+(?:
      (?P<word>[A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z_][A-Za-z0-9_]*+)*+)
    | (?P<string>'[^']*+(?:''[^']*+)*+')
    | (?P<number>[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+)(?![A-Za-z0-9_.])
    | (?P<op><=|>=|<>|!=|==|[=<>(),^])
    | (?P<name>"[^"]*+(?:""[^"]*+)*+"|`[^`]*+(?:``[^`]*+)*+`)
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*+")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z_][A-Za-z0-9_]*+)*+")

# An attribute with one of these names stands in double quotes. The list is closed: the words of later
# operators are not reserved, so that no stored text changes its meaning.
RESERVED = frozenset(
    {
        *("AND", "OR", "NOT", "TRUE", "FALSE", "NULL", "IS", "IN"),
        *("BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "HAS", "WITHIN"),
    }
)

_T = TypeVar("_T")


class Token(NamedTuple):
    """A piece of the text: ``kind`` is word, string, number, op, name, end or bad."""

    kind: str
    text: str
    start: int

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end"
        return self.text if len(self.text) <= 40 else f"{self.text[:40]}…"


def token_at(text: str, at: int) -> tuple[Token, int]:
    """Return the token that follows ``at``, and where it ends; ``bad`` if no token begins there."""
    piece = _TOKEN.match(text, at)
    if piece is None:
        start = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        return Token("bad", text[start : start + 20], start), start
    kind = piece.lastgroup or "end"
    return Token(kind, piece[kind], piece.start(kind)), piece.end()


def is_bare(name: str) -> bool:
    """Return whether an attribute's name can be written without quotes."""
    return _IDENTIFIER.fullmatch(name) is not None and name.upper() not in RESERVED


class Cursor:
    """A place in the tokens of one text, with the methods that move on or raise an error.

    ``plain`` means that parts of the text need no cleaning, so the fast reader may read them.
    """

    def __init__(
        self, text: str, limits: Limits, plain: bool = False, analysers: Analysers = NO_ANALYSERS
    ) -> None:
        self.text = text
        self.limits, self.analysers = limits, analysers
        self.plain = plain
        self.deepest = min(limits.expression_depth, DEEPEST)
        self.leaves = 0
        self.token, self.end = token_at(text, 0)

    def jump(self, end: int) -> None:
        """Move to the token that follows ``end``."""
        self.token, self.end = token_at(self.text, end)

    def advance(self) -> Token:
        """Return the current token and move to the next."""
        token = self.token
        if token.kind == "bad":
            self.fail("a word, value or operator")
        self.token, self.end = token_at(self.text, self.end)
        return token

    def keyword(self, word: str) -> bool:
        """Return whether the current token is this keyword, in any case; consume it if so."""
        token = self.token
        if token.kind == "word" and token.text.upper() == word:
            self.advance()
            return True
        return False

    def op(self, sign: str) -> bool:
        """Return whether the current token is this sign; consume it if so."""
        if self.token.text == sign and self.token.kind == "op":
            self.advance()
            return True
        return False

    def expect(self, sign: str, where: str) -> None:
        """Consume ``sign``, or raise :class:`ParseError`."""
        if not self.op(sign):
            self.fail(f"{sign!r} {where}")

    def fail(self, expected: str, token: Token | None = None) -> NoReturn:
        """Raise a :class:`ParseError` at ``token`` or the current token: expected, and found instead."""
        token = token or self.token
        found = _why_bad(token) if token.kind == "bad" else str(token)
        raise ParseError(f"expected {expected}, found {found}", text=self.text, position=token.start)

    def checked(self, make: Callable[[], _T], start: int) -> _T:
        """Return ``make()``; an error without a place gets ``start`` as its place."""
        try:
            return make()
        except ExpressionError as bad:
            if bad.position is None:
                bad.text, bad.position = self.text, start
                bad.details["position"] = start
            raise

    def count_leaf(self, start: int) -> None:
        """Count one more predicate or constant; raise an error beyond the limit."""
        self.leaves += 1
        bound = self.limits.expression_predicates
        if self.leaves > bound:
            what = f"the expression has at least {self.leaves} predicates"
            self.checked(lambda: _raise(over("expression_predicates", bound, what)), start)

    def check_depth(self, depth: int, start: int) -> None:
        """Raise an error if ``depth`` levels are too many."""
        if depth > self.deepest:
            what = f"the expression is at least {depth} levels deep"
            self.checked(lambda: _raise(over("expression_depth", self.deepest, what)), start)


def _raise(error: ExpressionError) -> NoReturn:
    raise error


def _why_bad(token: Token) -> str:
    first = token.text[0]
    if first == "'":
        return "a string without its closing quote"
    if first in '"`':
        return f"a name without its closing {first}"
    if first.isdigit() or first in "+-.":
        return f"{token.text.split()[0]}, which is not a number"
    return repr(first)
