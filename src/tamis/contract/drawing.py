"""Draws trees of reasons as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol


class Reasoned(Protocol):
    """A node of an explanation, with its outcome and reason."""

    @property
    def matched(self) -> bool:
        """Whether it matches."""

    @property
    def text(self) -> str:
        """The expression of the node."""

    @property
    def reason(self) -> str:
        """The reason why it matches or not."""

    @property
    def children(self) -> Sequence[Reasoned]:
        """The child nodes."""


def drawn(node: Reasoned) -> str:
    """Return the tree as text, one node per line."""
    return "\n".join(_lines(node, 0))


def _lines(node: Reasoned, depth: int) -> Iterator[str]:
    reason = f"   ({node.reason})" if node.reason else ""
    yield f"{'  ' * depth}{'✓' if node.matched else '✗'} {node.text}{reason}"
    for child in node.children:
        yield from _lines(child, depth + 1)
