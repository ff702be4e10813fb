"""Operator and literal codes of the columnar form; stored in segments, so they never change."""

from __future__ import annotations

from enum import IntEnum


class Op(IntEnum):
    """Operators; an odd code below AND is the negative form of the even code before it."""

    EQ = 0
    NE = 1
    LT = 2
    LE = 4
    GT = 6
    GE = 8
    BETWEEN = 10
    NOT_BETWEEN = 11
    IN = 12
    NOT_IN = 13
    LIKE = 14
    NOT_LIKE = 15
    ILIKE = 16
    NOT_ILIKE = 17
    RLIKE = 18
    NOT_RLIKE = 19
    HAS_ANY = 20
    NOT_HAS_ANY = 21
    HAS_ALL = 22
    NOT_HAS_ALL = 23
    HAS_PHRASE = 24
    NOT_HAS_PHRASE = 25
    WITHIN = 26
    NOT_WITHIN = 27
    IN_CIDR = 28
    NOT_IN_CIDR = 29
    EXISTS = 30
    IS_NULL = 31
    AND = 32
    OR = 34
    NOT = 36


class Kind(IntEnum):
    """What a literal is."""

    INT = 0
    FLOAT = 1
    TIME = 2
    BOOLEAN = 3
    STRING = 4
    SHAPE = 5
    POINT = 6


NAMES: dict[str, Op] = {
    "=": Op.EQ,
    "==": Op.EQ,
    "!=": Op.NE,
    "<>": Op.NE,
    "<": Op.LT,
    "<=": Op.LE,
    ">": Op.GT,
    ">=": Op.GE,
    "between": Op.BETWEEN,
    "not between": Op.NOT_BETWEEN,
    "in": Op.IN,
    "not in": Op.NOT_IN,
    "like": Op.LIKE,
    "not like": Op.NOT_LIKE,
    "ilike": Op.ILIKE,
    "not ilike": Op.NOT_ILIKE,
    "rlike": Op.RLIKE,
    "not rlike": Op.NOT_RLIKE,
    "has": Op.HAS_ALL,
    "not has": Op.NOT_HAS_ALL,
    "has all": Op.HAS_ALL,
    "not has all": Op.NOT_HAS_ALL,
    "has any": Op.HAS_ANY,
    "not has any": Op.NOT_HAS_ANY,
    "has phrase": Op.HAS_PHRASE,
    "not has phrase": Op.NOT_HAS_PHRASE,
    "in cidr": Op.IN_CIDR,
    "not in cidr": Op.NOT_IN_CIDR,
    "is not null": Op.EXISTS,
    "is null": Op.IS_NULL,
}
"""Operators as the bulk path writes them (shapes have no flat form and go through text or JSON)."""
