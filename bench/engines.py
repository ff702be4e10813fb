"""List the engines."""

from __future__ import annotations


def engine_names() -> tuple[str, ...]:
    """Return the names that ``Index.build`` takes, the reference first."""
    from tamis.engines.engines import NAMES

    return ("scan", *(name for name in NAMES if name != "scan"))
