"""Defines the entries of the store's change log."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """An entry of the change log: the new state of a subscription, or its removal."""

    sequence: int
    id: str
    expression: str | None  # as text; ``None``: removed
    priority: float = 0.0

    @property
    def version(self) -> int:
        """The version that this change creates; a later change of the same id has a greater one."""
        return self.sequence
