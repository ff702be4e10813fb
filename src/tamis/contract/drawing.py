"""Trees of reasons, drawn for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol


class Reasoned(Protocol):
    """A node that holds or not, for a reason."""

    @property
    def matched(self) -> bool:
        """Whether it holds."""

    @property
    def text(self) -> str:
        """What it asks."""

    @property
    def reason(self) -> str:
        """Why it holds or not."""

    @property
    def children(self) -> Sequence[Reasoned]:
        """The nodes below."""


def drawn(node: Reasoned) -> str:
    """Return the tree, a node in each line."""
    return "\n".join(_lines(node, 0))


def _lines(node: Reasoned, depth: int) -> Iterator[str]:
    reason = f"   ({node.reason})" if node.reason else ""
    yield f"{'  ' * depth}{'✓' if node.matched else '✗'} {node.text}{reason}"
    for child in node.children:
        yield from _lines(child, depth + 1)
