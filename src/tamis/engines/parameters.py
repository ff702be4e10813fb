"""Declare the parameters of engines: each has a default and a range, and other values are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tamis.errors import EngineParameter


class Whole(NamedTuple):
    """A parameter that is a whole number."""

    default: int
    least: int
    greatest: int

    def fits(self, value: object) -> bool:
        """Return whether ``value`` lies in the range."""
        return type(value) is int and self.least <= value <= self.greatest


class Real(NamedTuple):
    """A parameter that is a number."""

    default: float
    least: float
    greatest: float

    def fits(self, value: object) -> bool:
        """Return whether ``value`` lies in the range; NaN lies in none."""
        return type(value) in (int, float) and self.least <= value <= self.greatest  # type: ignore[operator]


Declared = Mapping[str, Whole | Real]


def chosen(engine: str, declared: Declared, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all parameters: the given ones, and the defaults of the others."""
    for name, value in given.items():
        if name not in declared:
            known = f"it has {', '.join(declared)}" if declared else "it has none"
            raise EngineParameter(f"{engine} has no parameter {name!r}; {known}")
        if not declared[name].fits(value):
            _, least, greatest = declared[name]
            raise EngineParameter(f"{name} must lie between {least} and {greatest}, not {value!r}")
    return {name: given.get(name, allowed.default) for name, allowed in declared.items()}
