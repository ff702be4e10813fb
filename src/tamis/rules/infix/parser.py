"""Read operators by their precedence."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, NoReturn

from tamis.errors import ParseError
from tamis.expression.operands import depth_limit, over
from tamis.limits import Limits
from tamis.rules.infix.tokens import Token, tokens_of


class Constant(NamedTuple):
    """A value that is written in the text."""

    value: Any


class Name(NamedTuple):
    """The name of an attribute."""

    name: str


class Call(NamedTuple):
    """An operator or a function with its arguments."""

    name: str
    arguments: tuple[Node, ...]


Node = Constant | Name | Call


class Parser(ABC):
    """A parser of one text; a language derives from it.

    ``BINARY`` has the precedence of each operator between two operands, ``UNARY`` that of each operator in
    front of one. Words are in lower case there.
    """

    PATTERN: ClassVar[re.Pattern[str]]
    BINARY: ClassVar[Mapping[str, int]]
    UNARY: ClassVar[Mapping[str, int]]
    WORDS: ClassVar[bool] = True  # whether words are operators without regard to case

    def __init__(self, text: str, limits: Limits) -> None:
        self.text, self._tokens, self._at = text, tokens_of(text, self.PATTERN), 0
        self._deepest = depth_limit(limits)
        self._depth = 0

    @property
    def token(self) -> Token:
        """The current token."""
        return self._tokens[self._at]

    @property
    def following(self) -> Token:
        """The token behind the current one."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def whole(self) -> Node:
        """Return the tree of the whole text."""
        found = self.expression()
        if self.token.kind != "end":
            self.fail("an operator or the end")
        return found

    def expression(self, least: int = 0) -> Node:
        """Read an expression whose operators bind at least so strongly."""
        self._depth += 1
        if self._depth > 4 * self._deepest:
            bad = over("expression_depth", self._deepest, "the rule nests too deeply")
            raise bad
        sign = self.sign()
        if sign in self.UNARY:
            self.advance()
            found = self.unary(sign, self.expression(self.UNARY[sign]))
        else:
            found = self.operand()
        while True:
            sign = self.sign()
            special = self.special(found, sign, least)
            if special is not None:
                found = special
                continue
            if sign not in self.BINARY or self.BINARY[sign] < least:
                break
            self.advance()
            found = Call(sign, (found, self.expression(self.BINARY[sign] + 1)))
        self._depth -= 1
        return found

    def unary(self, sign: str, operand: Node) -> Node:
        """Return an operator in front of its operand; a minus before a number belongs to the number."""
        if sign == "-" and isinstance(operand, Constant) and type(operand.value) in (int, float):
            return Constant(-operand.value)
        return Call(sign, (operand,))

    def special(self, left: Node, sign: str, least: int) -> Node | None:
        """Read what follows ``left`` in a form of the language's own; ``None`` if there is none."""
        return None

    @abstractmethod
    def operand(self) -> Node:
        """Read a literal, a name, a call or an expression in parentheses."""

    def sign(self) -> str:
        """Return the current token as an operator: words in lower case."""
        token = self.token
        return token.text.lower() if token.kind == "name" and self.WORDS else token.kind

    def advance(self) -> Token:
        """Return the current token and go to the next one."""
        token = self.token
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def accept(self, sign: str) -> bool:
        """Consume the current token if it is this one."""
        if self.sign() != sign:
            return False
        self.advance()
        return True

    def expect(self, sign: str) -> None:
        """Consume a token that must be there."""
        if not self.accept(sign):
            self.fail(sign)

    def arguments(self, closing: str = ")") -> tuple[Node, ...]:
        """Read expressions between commas, up to the closing sign."""
        found: list[Node] = []
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(self.expression())
        return tuple(found)

    def go_to(self, position: int) -> None:
        """Go to the first token at or behind a position of the text."""
        while self.token.kind != "end" and self.token.start < position:
            self.advance()

    def fail(self, expected: str) -> NoReturn:
        """Raise the error that something else is expected here."""
        token = self.token
        found = f"found {token.text[:40]!r}" if token.kind != "end" else "found the end"
        raise ParseError(f"expected {expected}, {found}", text=self.text, position=token.start)


def chain(name: str, node: Node) -> list[Node]:
    """Return the operands of a chain of one operator, without recursion."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Call) and one.name == name:
            waiting.extend(reversed(one.arguments))
        else:
            found.append(one)
    return found


def number(text: str) -> int | float:
    """Return the number that a literal says."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise ParseError(f"{text[:40]!r} is no number") from None
