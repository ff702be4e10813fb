"""Define ``attribute [NOT] IN CIDR (blocks)``."""

from __future__ import annotations

import ipaddress
from typing import Any, ClassVar, Self

from tamis.errors import PatternError, TypeMismatch
from tamis.expression.operands import clean_list, clean_text, print_list, quoted
from tamis.expression.predicate import Operand, Operator, Predicate, Spelling
from tamis.expression.views import Atom, OnView, View, address_range
from tamis.limits import Limits
from tamis.values.address import address_of, block_range
from tamis.values.value import Value


class Network(Predicate, frozen=True):
    """The test ``attribute [NOT] IN CIDR (blocks)``, v4 and v6."""

    blocks: tuple[str, ...]
    negated: bool = False
    weight: float = 1.0

    OPERATORS: ClassVar[tuple[Operator, ...]] = (
        Operator(28, "in network", (Spelling("IN CIDR", Operand("string or strings", "CIDR block")),)),
    )
    OPERANDS: ClassVar[tuple[str, ...]] = ("blocks",)
    LISTED: ClassVar[bool] = True

    def accepts(self, value: Value) -> bool:
        """Return whether one value is an address in one of the blocks."""
        if type(value) is not str or (address := address_of(value)) is None:
            return False
        return any(low <= address <= high for low, high in map(block_range, self.blocks))

    def with_clean_operands(self, limits: Limits) -> Self:
        """Return the predicate with its blocks in their shortest writing."""
        blocks = tuple([clean_block(block, limits) for block in clean_list(self.blocks, "IN CIDR", limits)])
        if not blocks:
            raise TypeMismatch("IN CIDR needs at least one block")
        return self.changed(blocks=blocks, negated=bool(self.negated))

    def text(self) -> str:
        """Return the text after the attribute; a single block needs no parentheses."""
        blocks = quoted(self.blocks[0]) if len(self.blocks) == 1 else print_list(self.blocks)
        return f"{'NOT ' if self.negated else ''}IN CIDR {blocks}"

    def implies(self, other: Predicate) -> bool:
        """Return whether ``other`` has all blocks of this predicate."""
        return isinstance(other, Network) and set(self.blocks) <= set(other.blocks)

    @classmethod
    def united(cls, predicates: list[Any]) -> list[Any]:
        """Return one predicate with all blocks."""
        blocks = tuple(dict.fromkeys(block for one in predicates for block in one.blocks))
        return [cls(predicates[0].attribute, blocks)]

    def atoms(self, *, denied: bool) -> tuple[Atom, ...]:
        """Return the ranges of addresses."""
        return (OnView(View.ADDRESS, tuple(address_range(*block_range(block)) for block in self.blocks)),)


def clean_block(block: Any, limits: Limits) -> str:
    """Return a CIDR block in its shortest writing; a lone address is a block of one."""
    text = clean_text(block, limits, "a CIDR block")
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise PatternError(
            f"{text[:80]!r} is not a CIDR block such as '10.0.0.0/8' or '2001:db8::/32'"
        ) from None
