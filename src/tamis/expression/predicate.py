"""Define the interface of predicates and their operators, which every part of Tamis uses.

A kind of predicate is one class, in one file of :mod:`tamis.expression.predicates`. The class declares its
operators. It defines how operands are checked, which values it accepts, what it implies, and how an index
finds it. The parser, the printer, the JSON form, the columns, the normal forms, the space and the advice use
the class.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import msgspec

from tamis.expression.operands import clean_name, clean_weight, print_list, print_shape, print_value, quoted
from tamis.expression.tree import Node
from tamis.expression.views import Atom
from tamis.limits import Limits
from tamis.values.analysis import Analysers
from tamis.values.occurrences import Occurrence
from tamis.values.ranges import Accepted
from tamis.values.value import Value

OperandKind = Literal[
    "nothing",
    "value",
    "values",
    "ends",
    "string",
    "strings",
    "string or strings",
    "string and number",
    "number of strings",
    "shape",
]


class Operand(NamedTuple):
    """The kind of operand behind an operator, and the noun that messages use for it.

    ``word`` stands between a string and a number.
    """

    kind: OperandKind
    noun: str = ""
    word: str = ""


NOTHING = Operand("nothing")
VALUE = Operand("value")
VALUES = Operand("values")
ENDS = Operand("ends")  # low AND high
SHAPE = Operand("shape")

COUNTED = frozenset(("string and number", "number of strings"))
TEXTUAL = COUNTED | {"string", "strings", "string or strings"}


class Spelling(NamedTuple):
    """The words of an operator in the text form, and the operand that follows them."""

    words: str
    operand: Operand


class Operator(NamedTuple):
    """One test that a predicate can make.

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


Access = Literal["comparison", "presence", "atoms"]

# Rules of thumb for the share of events that a predicate is true of, in a catalogue of many kinds of things.
PRESENT = 0.5
ONE_VALUE = 0.02


class Predicate(Node, frozen=True):
    """A test of one attribute; the base of all kinds of predicates.

    The *positive form* is true if the predicate accepts some value. The *negative form* is true if the
    attribute is present and no value is accepted.
    """

    attribute: str
    children: ClassVar[tuple[()]] = ()

    if TYPE_CHECKING:

        @property
        def weight(self) -> float:
            """The weight of the predicate in the score; every kind has this field behind its operands."""

    OPERATORS: ClassVar[tuple[Operator, ...]]
    OPERANDS: ClassVar[tuple[str, ...]]  # the fields that hold operands, in order
    LISTED: ClassVar[bool] = False  # the first operand field holds any number of operands, a second a number
    MAY_BE_EMPTY: ClassVar[bool] = False  # no operand at all is allowed
    ACCESS: ClassVar[Access] = "atoms"
    STRENGTH: ClassVar[int] = 3  # from 0 (true of most events) to 4 (true of few)
    LIKELIHOOD: ClassVar[float] = ONE_VALUE  # the share of events that it is likely to be true of
    TAKES_ANALYSER: ClassVar[bool] = False  # whether an analyser reads its operands: a field of that name
    FAMILY: ClassVar[str] = "string"  # the family of values that it can accept

    # ------------------------------------------------------------------------------------ what it is made of

    @property
    def operator(self) -> Operator:
        """The operator of the positive form."""
        if len(self.OPERATORS) == 1:
            return self.OPERATORS[0]
        select, operators = _choice_of(type(self))
        return operators[select(self)]

    @property
    def code(self) -> int:
        """The code of the operator in columns; odd for the negative form."""
        select, codes = _codes_of(type(self))
        return codes[select(self)]

    @property
    def operands(self) -> tuple[Any, ...]:
        """The operands in order."""
        return _operands_of(type(self))(self)

    @classmethod
    def build(
        cls, operator: Operator, attribute: Any, operands: Sequence[Any], negated: bool, weight: Any
    ) -> Self:
        """Return the predicate with these operands; it is not checked."""
        before, behind = _constants_of(cls, operator.code)
        if cls.LISTED:
            end = len(operands) - len(cls.OPERANDS) + 1
            listed = (tuple(operands[:end]), *operands[end:])
            return cls(attribute, *before, *listed, *behind, negated, weight)  # type: ignore[call-arg]
        if len(operands) != len(cls.OPERANDS):
            raise ValueError(f"{operator.words} takes {len(cls.OPERANDS)} operands, not {len(operands)}")
        return cls(attribute, *before, *operands, *behind, negated, weight)  # type: ignore[call-arg]

    # ----------------------------------------------------------------------------------------------- meaning

    @property
    def is_negative(self) -> bool:
        """Whether this is the negative form."""
        return bool(self.negated)  # type: ignore[attr-defined]

    @property
    def has_negative(self) -> bool:
        """Whether there is a negative form of this positive one."""
        return self.operator.negative is not None

    def positive(self) -> Self:
        """Return the positive form that this predicate is or denies."""
        return msgspec.structs.replace(self, negated=False) if self.is_negative else self

    def negative(self) -> Self:
        """Return the negative form."""
        return msgspec.structs.replace(self, negated=True)

    @abstractmethod
    def accepts(self, value: Value) -> bool:
        """Return whether the positive form accepts one value."""

    def occurrences(self, value: Value) -> Iterator[Occurrence]:
        """Yield the parts of a value that the positive form accepts because of them; of most kinds, none."""
        return iter(())

    # ----------------------------------------------------------------------------------------- written forms

    def checked(self, limits: Limits) -> Self:
        """Return the predicate with clean name, operands and weight, or raise an ``ExpressionError``."""
        name, weight = clean_name(self.attribute, limits), clean_weight(self.weight)
        return self.with_clean_operands(limits).changed(attribute=name, weight=weight)

    @abstractmethod
    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with clean operands, or raise an ``ExpressionError``."""

    def bound(self, analysers: Analysers) -> Self:
        """Return the predicate with the analyser of its attribute, if it takes one and names none."""
        return self

    def changed(self, **fields: Any) -> Self:
        """Return the predicate with these fields; itself if it has them already."""
        for name, value in fields.items():
            if getattr(self, name) is not value:
                return msgspec.structs.replace(self, **fields)
        return self

    def text(self) -> str:
        """Return the text of operator and operands, as it stands after the attribute."""
        found = self.operator
        words = found.negative_words[0] if self.is_negative else found.words
        written = self._operand_text()
        return f"{words} {written}" if written else words

    def _operand_text(self) -> str:
        operands = _operands_of(type(self))(self)
        match self.operator.operand.kind:
            case "values":
                return f"({', '.join(map(print_value, operands))})"
            case "ends":
                return f"{print_value(operands[0])} AND {print_value(operands[1])}"
            case "string":
                return quoted(operands[0])
            case "strings" | "string or strings":
                return print_list(operands)
            case "string and number":
                words = quoted(" ".join(operands[:-1]))
                return f"{words} {self.operator.operand.word} {operands[-1]}"
            case "number of strings":
                return f"{operands[-1]} {self.operator.operand.word} {print_list(operands[:-1])}"
            case "shape":
                return print_shape(operands[0])
        return print_value(operands[0]) if operands else ""

    # ------------------------------------------------------------------------------------------ normal forms

    @property
    def is_empty(self) -> bool:
        """Whether the positive form accepts no value at all."""
        return False

    def accepted(self) -> Accepted | None:
        """Return the accepted values as points and a range, or ``None`` if they are neither."""
        return None

    def implies(self, other: Predicate) -> bool:
        """Return whether ``other`` surely accepts every value that this one accepts (positive forms)."""
        return type(self) is type(other) and repr(self) == repr(other)

    @classmethod
    def united(cls, predicates: list[Any]) -> list[Any]:
        """Return positive forms of this kind that together accept the same values as ``predicates``."""
        return list({repr(one): one for one in predicates}.values())

    # ------------------------------------------------------------------------------------------- how to index

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return the positive form as a conjunction of atoms; as a single one if it is ``denied``.

        Raise ``TypeError`` if the space locates the predicate without atoms.
        """
        raise TypeError(f"{type(self).__name__} is located by {self.ACCESS} and has no atoms")

    def needed_terms(self) -> tuple[tuple[str, ...], ...]:
        """Return groups of terms; a text that the positive form accepts holds a term of each group."""
        return ()

    @property
    def is_comparison(self) -> bool:
        """Whether the space locates the predicate by comparing values or by presence, without atoms."""
        return self.ACCESS != "atoms"

    @property
    def strength(self) -> int:
        """The selectivity of the positive form, from 0 (true of most events) to 4 (true of few)."""
        return self.STRENGTH

    @property
    def likelihood(self) -> float:
        """The share of events that the positive form is likely to be true of."""
        return self.LIKELIHOOD

    @property
    def families(self) -> frozenset[str]:
        """The families of values that the positive form can accept."""
        return frozenset((self.FAMILY,))

    @property
    def size(self) -> int:
        """The number of entries that an index needs: a list counts each of its values."""
        return max(1, len(getattr(self, self.OPERANDS[0]))) if self.LISTED else 1

    @property
    def comparisons(self) -> int:
        """The number of operands that a value may be compared with, including vertices of polygons."""
        return self.size

    # ------------------------------------------------------------------------------------------------ advice

    @property
    def needs_automaton(self) -> bool:
        """Whether an index must try the pattern on every value."""
        return False

    def suspicion(self) -> tuple[str, str] | None:
        """Return (code, text) if the operands look like a mistake."""
        return None


@cache
def _operands_of(kind: type[Predicate]) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function that takes the operands out of a predicate."""
    if not kind.OPERANDS:
        return lambda _: ()
    take = attrgetter(*kind.OPERANDS)
    if kind.LISTED and len(kind.OPERANDS) > 1:
        return lambda predicate: (*(found := take(predicate))[0], *found[1:])
    return take if kind.LISTED or len(kind.OPERANDS) > 1 else lambda predicate: (take(predicate),)


@cache
def _codes_of(kind: type[Predicate]) -> tuple[Callable[[Any], Any], dict[Any, int]]:
    """Return the function that takes out the fields that choose a code, and the codes by them."""
    select = attrgetter(*kind.OPERATORS[0].fields, "negated")
    return select, {
        select(SimpleNamespace(**one.fields, negated=negated)): one.code | negated
        for one in kind.OPERATORS
        for negated in (False, True)
    }


@cache
def _choice_of(kind: type[Predicate]) -> tuple[Callable[[Any], Any], dict[Any, Operator]]:
    """Return the function that takes out the fields that choose an operator, and the operators by them."""
    select = attrgetter(*kind.OPERATORS[0].fields)
    return select, {select(SimpleNamespace(**one.fields)): one for one in kind.OPERATORS}


@cache
def _constants_of(kind: type[Predicate], code: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the fields that the operator ``code`` determines, before and behind those of the operands."""
    fields: Mapping[str, Any] = next(one.fields for one in kind.OPERATORS if one.code == code)
    names = kind.__struct_fields__
    places = [names.index(name) for name in kind.OPERANDS] or [len(names)]
    before = tuple(fields[name] for name in names[: places[0]] if name in fields)
    behind = tuple(fields[name] for name in names[places[-1] :] if name in fields)
    return before, behind
