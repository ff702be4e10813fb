"""Changes: what happened to a subscription, in the order of the store's change log."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """One entry of the change log: a subscription as it is from now on, or its end."""

    sequence: int
    id: str
    expression: str | None  # as text; ``None``: removed
    priority: float = 0.0

    @property
    def version(self) -> int:
        """The version that this change makes: a later change of the same id has a greater one."""
        return self.sequence
