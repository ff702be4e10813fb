"""Predicates that are not plain comparisons, as ranges on views or as flags.

These take a Python step each, so each distinct one is worked out once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from tamis.columns.codes import Op
from tamis.expression.truth import block_range
from tamis.space.views import Flag, View, address_key, after_prefix
from tamis.values.pattern import read_like

END = 1  # the side of a cut that lies just after its string


class StringRange(NamedTuple):
    """A range of strings between two cuts (string, side); ``None`` is unbounded."""

    low: tuple[bytes, int] | None
    high: tuple[bytes, int] | None


class OnView(NamedTuple):
    """The value seen through ``view`` lies in one of the ranges."""

    view: View
    ranges: tuple[StringRange, ...]


class OnFlag(NamedTuple):
    """The flag is set."""

    flag: Flag
    pattern: str


Atom = OnView | OnFlag


def atoms_of(op: int, operands: list[Any], denied: bool) -> tuple[Atom, ...]:
    """Return the positive form of a predicate as a conjunction of atoms; of one atom if it is ``denied``."""
    base = op & ~1
    if base in (Op.LIKE, Op.ILIKE):
        return (_like(operands[0], base == Op.ILIKE),)
    if base == Op.RLIKE:
        return (OnFlag(Flag.REGEX, operands[0]),)
    if base == Op.HAS_ALL and not denied:
        return tuple(OnFlag(Flag.TERM, term) for term in dict.fromkeys(operands))
    if base in (Op.HAS_ALL, Op.HAS_ANY, Op.HAS_PHRASE):
        return (_text(base, operands),)
    if base == Op.WITHIN:
        return (OnFlag(Flag.SHAPE, msgspec.json.encode(operands[0]).decode()),)
    if base == Op.IN_CIDR:
        return (OnView(View.ADDRESS, tuple(_block(block) for block in operands)),)
    return (OnFlag(Flag.POINT, msgspec.json.encode(operands[0]).decode()),)


def _text(base: int, terms: list[str]) -> OnFlag:
    if len(terms) == 1:
        return OnFlag(Flag.TERM, terms[0])
    mode = {Op.HAS_ALL: "all", Op.HAS_ANY: "any", Op.HAS_PHRASE: "phrase"}[Op(base)]
    return OnFlag(Flag.TEXT, msgspec.json.encode([mode, terms]).decode())


def _block(block: str) -> StringRange:
    low, high = block_range(block)
    return StringRange((address_key(*low), 0), (address_key(*high), END))


def _like(pattern: str, folded: bool) -> Atom:
    like = read_like(pattern, folded)
    if like.shape == "contains":
        return OnFlag(Flag.FOLDED_CONTAINS if folded else Flag.CONTAINS, like.literal)
    if like.shape == "general":
        return OnFlag(Flag.FOLDED_REGEX if folded else Flag.REGEX, like.regex)
    if like.shape == "present":
        return OnView(View.PATTERN, (StringRange(None, None),))
    if like.shape == "suffix":
        view = View.FOLDED_REVERSED if folded else View.REVERSED
        return OnView(view, (_prefix(like.literal[::-1]),))
    view = View.FOLDED if folded else View.PATTERN
    if like.shape == "prefix":
        return OnView(view, (_prefix(like.literal),))
    key = like.literal.encode()
    return OnView(view, (StringRange((key, 0), (key, END)),))


def _prefix(prefix: str) -> StringRange:
    after = after_prefix(prefix)
    return StringRange((prefix.encode(), 0), None if after is None else (after, 0))
