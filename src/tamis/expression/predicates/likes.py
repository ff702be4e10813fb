"""Define ``attribute [NOT] LIKE ANY (patterns)``, ``LIKE ALL``, ``ILIKE ANY`` and ``ILIKE ALL``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

import msgspec

from tamis.errors import ParseError, TypeMismatch
from tamis.expression.operands import clean_list
from tamis.expression.predicate import PRESENT, Operand, Operator, Predicate, operator
from tamis.expression.predicates.like import Like
from tamis.expression.views import Atom, Flag, OnFlag, OnView, on_pattern
from tamis.limits import Limits
from tamis.values.occurrences import Occurrence
from tamis.values.pattern import like_matches, read_like
from tamis.values.text import fold
from tamis.values.value import Value

Mode = Literal["any", "all"]

_PATTERNS = Operand("strings", "pattern")


class Likes(Predicate, frozen=True):
    """The test ``attribute [NOT] [I]LIKE ANY | ALL (patterns)``: one value is like some, or all, of them."""

    mode: Mode
    fold: bool
    patterns: tuple[str, ...]
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (
        operator(46, "like any", _PATTERNS, fields={"mode": "any", "fold": False}),
        operator(48, "like all", _PATTERNS, fields={"mode": "all", "fold": False}),
        operator(50, "ilike any", _PATTERNS, fields={"mode": "any", "fold": True}),
        operator(52, "ilike all", _PATTERNS, fields={"mode": "all", "fold": True}),
    )
    OPERANDS: ClassVar[tuple[str, ...]] = ("patterns",)
    LISTED: ClassVar[bool] = True
    STRENGTH: ClassVar[int] = 2

    def accepts(self, value: Value) -> bool:
        """Return whether one value is a string like one of the patterns, or like all."""
        if type(value) is not str:
            return False
        text = fold(value) if self.fold else value
        held = (like_matches(read_like(pattern, self.fold), text) for pattern in self.patterns)
        return all(held) if self.mode == "all" else any(held)

    def occurrences(self, value: Value) -> Iterator[Occurrence]:
        """Yield where the literals of those patterns stand that match."""
        for one in self._each:
            if one.accepts(value):
                yield from one.occurrences(value)

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with clean patterns that RE2 accepts."""
        if self.mode not in ("any", "all"):
            raise ParseError(f"{self.mode!r} is not a way to join patterns; the ways are any and all")
        patterns = clean_list(self.patterns, "LIKE ANY", limits)
        if not patterns:
            raise TypeMismatch("LIKE ANY and LIKE ALL need a pattern")
        folded = bool(self.fold)
        clean = tuple(Like("", one, folded).with_clean_operands(limits).pattern for one in patterns)
        kept = self.patterns if clean == self.patterns else clean
        return self.changed(patterns=kept, fold=folded, negated=bool(self.negated))

    def implies(self, other: Predicate) -> bool:
        """Return whether ``other`` allows more patterns of which any is enough, or demands fewer."""
        if not isinstance(other, Likes) or (self.mode, self.fold) != (other.mode, other.fold):
            return False
        some, more = set(self.patterns), set(other.patterns)
        return some <= more if self.mode == "any" else some >= more

    @classmethod
    def united(cls, predicates: list[Any]) -> list[Any]:
        """Return the predicates with those of LIKE ANY, and those of ILIKE ANY, joined into one."""
        found: list[Any] = super().united([one for one in predicates if one.mode == "all"])
        for folded in (False, True):
            loose = [one for one in predicates if one.mode == "any" and one.fold == folded]
            patterns = tuple(dict.fromkeys(pattern for one in loose for pattern in one.patterns))
            if patterns:
                found.append(cls(loose[0].attribute, "any", folded, patterns))
        return found

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return an atom for each of all patterns, the ranges of any, or one flag for all of them."""
        read = [read_like(pattern, self.fold) for pattern in self.patterns]
        each = tuple(dict.fromkeys(on_pattern(like, self.fold) for like in read))
        if len(each) == 1 or (self.mode == "all" and not denied):
            return each
        views = {atom.view if isinstance(atom, OnView) else None for atom in each}
        if self.mode == "any" and len(views) == 1 and isinstance(each[0], OnView):
            ranges = (one for atom in each if isinstance(atom, OnView) for one in atom.ranges)
            return (OnView(each[0].view, tuple(ranges)),)
        regexes = list(dict.fromkeys(like.regex for like in read))
        return (OnFlag(Flag.LIKES, msgspec.json.encode([self.mode, self.fold, regexes]).decode()),)

    @property
    def _each(self) -> list[Like]:
        return [Like(self.attribute, pattern, self.fold) for pattern in self.patterns]

    @property
    def likelihood(self) -> float:
        """The share of events that the patterns are likely to match."""
        shares = [one.likelihood for one in self._each]
        return min(shares) if self.mode == "all" else min(sum(shares), PRESENT)

    @property
    def needs_automaton(self) -> bool:
        """Whether a pattern is neither a prefix, a suffix, a part nor a whole string."""
        return any(one.needs_automaton for one in self._each)

    def suspicion(self) -> tuple[str, str] | None:
        """Return the caution about a pattern."""
        return next((found for one in self._each if (found := one.suspicion())), None)
