"""Which engines there are."""

from __future__ import annotations


def engine_names() -> tuple[str, ...]:
    """The names that ``Index.build`` takes."""
    return ("scan", "hybrid")
