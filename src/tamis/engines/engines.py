"""Look up engines by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tamis.engines.arena import Arena
from tamis.engines.compiled import announce
from tamis.engines.forms import check_forms
from tamis.errors import UnknownEngine

# name: (class, a kernel whose cache shows if this engine was ever compiled here, if any). Each engine is the
# package of its name, imported on first use, since kernels are slow to load.
_ENGINES = {
    "auto": ("Auto", ""),
    "bestar": ("BEStar", "match_events"),
    "bitmatrix": ("BitMatrix", "match_events"),
    "filtertree": ("FilterTree", "match_events"),
    "hybrid": ("Hybrid", "match_events"),
    "kindex": ("KIndex", "match_events"),
    "opindex": ("OpIndex", "match_events"),
    "presearch": ("Presearch", "match_events"),
    "pstbloom": ("PSTBloom", "match_events"),
    "psthash": ("PSTHash", "match_events"),
    "scan": ("Scan", "scan_events"),
}
NAMES = tuple(_ENGINES)
PARTS = tuple(name for name in NAMES if name != "auto")  # the engines that ``auto`` may choose


def engine_class(name: str) -> Any:
    """Return the class of the named engine."""
    if name not in _ENGINES:
        raise UnknownEngine(f"there is no engine {name!r}; there are {', '.join(NAMES)}", engine=name)
    class_name, kernel = _ENGINES[name]
    package = f"tamis.engines.{name}"
    if kernel:
        announce(getattr(import_module(f"{package}._kernels"), kernel))
    return getattr(import_module(package), class_name)


def takes_cnf(name: str) -> bool:
    """Return whether the named engine takes clauses with groups of alternatives."""
    return bool(getattr(engine_class(name), "takes_cnf", False))


def trains(name: str) -> bool:
    """Return whether the named engine learns from the sample, so that a merge must not replace it."""
    return bool(getattr(engine_class(name), "trains", False))


def attach(name: str, arena: Arena) -> Any:
    """Return the named engine over the arrays in ``arena``, after a check of their declared forms."""
    maker = engine_class(name)
    check_forms(name, maker.forms, arena)
    return maker(arena)
