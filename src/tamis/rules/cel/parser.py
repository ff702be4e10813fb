"""Read the syntax of CEL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from tamis.rules.infix.parser import Call, Constant, Name, Node, Parser, number

_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})|(.))", re.DOTALL
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_PLAIN = "\\'\"`?"


class CELParser(Parser):
    """A parser of CEL."""

    PATTERN: ClassVar[re.Pattern[str]] = re.compile(
        r"(?P<space>\s+|//[^\n]*)"
        r"|(?P<number>0x[0-9A-Fa-f]+[uU]?|[0-9]+[uU]|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
        r"|(?P<string>[rR]?(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"))"
        r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>&&|\|\||==|!=|<=|>=|[-!<>+*/%?:.,()\[\]{}])",
        re.DOTALL,
    )
    BINARY: ClassVar[Mapping[str, int]] = {
        "||": 2, "&&": 3, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4,
        "+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
    }  # fmt: skip
    UNARY: ClassVar[Mapping[str, int]] = {"!": 7, "-": 7}
    WORDS: ClassVar[bool] = False

    def sign(self) -> str:
        """Return the current token as an operator; ``in`` is the only word among them."""
        token = self.token
        return "in" if token.kind == "name" and token.text == "in" else token.kind

    def special(self, left: Node, sign: str, least: int) -> Node | None:
        """Read a choice: ``condition ? one : two``."""
        if sign != "?" or least > 1:
            return None
        self.advance()
        one = self.expression(2)
        self.expect(":")
        return Call("?", (left, one, self.expression()))

    def operand(self) -> Node:
        """Read a literal, list, name, call or expression in parentheses, with all that follows it."""
        found = self._first()
        while True:
            if self.accept("."):
                name = self.token.text
                if self.token.kind != "name":
                    self.fail("a name behind the dot")
                self.advance()
                if self.accept("("):
                    found = Call(f".{name}", (found, *self.arguments()))
                else:
                    found = (
                        Name(f"{found.name}.{name}") if isinstance(found, Name) else Call("select", (found,))
                    )
            elif self.accept("["):
                inside = self.arguments("]")
                key = inside[0].value if len(inside) == 1 and isinstance(inside[0], Constant) else None
                if isinstance(found, Name) and isinstance(key, str):
                    found = Name(f"{found.name}.{key}")
                else:
                    found = Call("index", (found, *inside))
            else:
                return found

    def _first(self) -> Node:
        token = self.token
        if token.kind not in ("number", "string", "name", "(", "[") or token.text == "in":
            self.fail("a value, a name or a function")
        self.advance()
        if token.kind == "number":
            digits = token.text.rstrip("uU")
            return Constant(int(digits, 16) if digits.startswith("0x") else number(digits))
        if token.kind == "string":
            return Constant(self._string(token.text))
        if token.kind == "(":
            found = self.expression()
            self.expect(")")
            return found
        if token.kind == "[":
            return Call("list", self.arguments("]"))
        if token.text in ("true", "false", "null"):
            return Constant({"true": True, "false": False, "null": None}[token.text])
        return Call(token.text, self.arguments()) if self.accept("(") else Name(token.text)

    def _string(self, text: str) -> str:
        is_raw = text[0] in "rR"
        body = text[1:] if is_raw else text
        quotes = 3 if body[:3] in ("'''", '"""') and len(body) >= 6 else 1
        inside = body[quotes:-quotes]
        return inside if is_raw else _ESCAPE.sub(self._unescaped, inside)

    def _unescaped(self, found: re.Match[str]) -> str:
        *codes, octal, letter = found.groups()
        for code in codes:
            if code:
                return chr(min(int(code, 16), 0x10FFFF))
        if octal:
            return chr(int(octal, 8))
        if letter in _LETTERS:
            return _LETTERS[letter]
        if letter not in _PLAIN:
            self.fail(f"no escape such as \\{letter}")
        return str(letter)


def constant_of(node: Node) -> Any:
    """Return the constant that a node is, lists included; ``None`` if it is none."""
    if isinstance(node, Constant):
        return node
    if isinstance(node, Call) and node.name == "list":
        parts = [constant_of(one) for one in node.arguments]
        if all(part is not None for part in parts):
            return Constant([part.value for part in parts])
    return None
