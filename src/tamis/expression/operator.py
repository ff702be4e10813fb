"""Operators: the names of a predicate in text, in JSON, in tables and in stored columns, and its operands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

OperandKind = Literal["nothing", "value", "values", "ends", "string", "strings", "string or strings", "shape"]


class Operand(NamedTuple):
    """What stands behind an operator, and the noun that messages use for it."""

    kind: OperandKind
    noun: str = ""


NOTHING = Operand("nothing")
VALUE = Operand("value")
VALUES = Operand("values")
ENDS = Operand("ends")  # low AND high
SHAPE = Operand("shape")

TEXTUAL = frozenset(("string", "strings", "string or strings"))
LISTS = frozenset(("values", "strings", "string or strings"))


class Spelling(NamedTuple):
    """The words of an operator in the text form, and the operand that follows them."""

    words: str
    operand: Operand


class Operator(NamedTuple):
    """One question that a predicate can ask.

    ``code`` is even and stored in segments, so it never changes; ``code + 1`` is the negative form. ``name``
    is the operator in JSON and in tables; tables accept the ``aliases``, too. The first of ``spellings`` is
    printed. ``fields`` are the fields of the predicate that the operator determines. ``negative`` holds the
    words of the negative form. If it is empty, they are ``NOT`` and the words themselves. If it is ``None``,
    there is no negative form.
    """

    code: int
    name: str
    spellings: tuple[Spelling, ...]
    fields: Mapping[str, Any] = {}
    negative: tuple[str, ...] | None = ()
    aliases: tuple[str, ...] = ()

    @property
    def operand(self) -> Operand:
        """The operand of the operator in JSON, in tables and in stored columns."""
        return self.spellings[0].operand

    @property
    def words(self) -> str:
        """The words that are printed."""
        return self.spellings[0].words

    @property
    def negative_words(self) -> tuple[str, ...]:
        """The words of the negative form, the printed ones first."""
        if self.negative is None:
            return ()
        return self.negative or tuple(f"NOT {spelling.words}" for spelling in self.spellings)


def operator(
    code: int,
    name: str,
    operand: Operand,
    *further: str,
    fields: Mapping[str, Any] | None = None,
    negative: tuple[str, ...] | None = (),
    aliases: tuple[str, ...] = (),
) -> Operator:
    """Return an operator whose words are its name in capitals, with ``further`` spellings."""
    spellings = tuple(Spelling(words, operand) for words in (name.upper(), *further))
    return Operator(code, name, spellings, fields or {}, negative, aliases)
