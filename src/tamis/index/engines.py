"""The engines by name."""

from __future__ import annotations

from typing import Any

from tamis.errors import UnknownEngine
from tamis.index.compiled import announce

NAMES = ("hybrid", "scan")


def engine_class(name: str) -> Any:
    """The class of the named engine; imported when asked for, since kernels are slow to load."""
    if name == "hybrid":
        from tamis.index.hybrid import Hybrid
        from tamis.index.hybrid._kernels import match_events

        announce(match_events)
        return Hybrid
    if name == "scan":
        from tamis.index.scan import Scan
        from tamis.index.scan._kernels import scan_events

        announce(scan_events)
        return Scan
    raise UnknownEngine(f"there is no engine {name!r}; there are {', '.join(NAMES)}", engine=name)
