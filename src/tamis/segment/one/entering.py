"""Write the values of one event where a kernel reads them, by a plan for each set of attribute names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct
from struct import error as StructError
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.space.encode import Encoder
from tamis.space.plain import harmless

SHAPES = 1_024  # sets of attribute names remembered
FIRST_ENTRIES = 64

Ints = npt.NDArray[np.int64]
_NUMBERS = frozenset((int, float))


class Plan(NamedTuple):
    """What depends on the attribute names of an event alone."""

    dimensions: Ints  # as the kernel reads them: their number, each of them, and no known entries
    pack: Callable[..., None]  # writes the values into memory


class Entering:
    """The plans of one encoder."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._limits = encoder, encoder.limits
        self._places = encoder.locators.places
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._age = 0

    def enter(self, event: dict[str, Any], values: Any, mixed: Any) -> tuple[Ints | None, int]:
        """Write an event into memory; return what the kernel reads (``None`` to give up), and its entries.

        If the event has more entries than ``values`` has room for, nothing is written.
        """
        found = event.values()
        if not _NUMBERS.issuperset(map(type, found)):
            return self._enter_mixed(event, mixed, len(values))
        names = tuple(event)
        plan = self._known().get(names) or self._plan(names)
        if plan is None or len(names) > len(values):
            return None, len(names)
        try:
            plan.pack(values, 0, *found)
        except StructError:  # an integer that no float comes near
            return None, 0
        return plan.dimensions, len(names)

    def _enter_mixed(self, event: dict[str, Any], mixed: Any, room: int) -> tuple[Ints | None, int]:
        """Locate an event that has not only numbers, and write its entries as a plan of known ones."""
        dimensions: list[int] = []
        cells: list[int] = []
        if not self._encoder.plain(event, dimensions, cells):
            return None, 0
        count = len(cells)
        if count > room:
            return None, count
        _packer("q", 2 * count + 2).pack_into(mixed, 0, 0, count, *dimensions, *cells)
        return mixed, count

    def _known(self) -> dict[tuple[str, ...], Plan]:
        """Return the plans that are up to date: a head gets new attributes."""
        age = self._encoder.locators.age
        if age != self._age:
            self._plans, self._age = {}, age
        return self._plans

    def _plan(self, names: tuple[str, ...]) -> Plan | None:
        """Return the plan for events with these names; ``None`` if a name must be cleaned or refused."""
        limits, plans = self._limits, self._plans  # first: another thread may begin with newer plans
        if len(names) > limits.event_attributes:
            return None
        places = list(map(self._places.__getitem__, names))
        if -1 in places and not all(harmless(name, 0, int, limits.attribute_name_bytes) for name in names):
            return None
        if len(plans) >= SHAPES:
            plans.clear()
        plan = Plan(np.array((len(names), *places, 0), np.int64), _packer("d", len(names)).pack_into)
        plans[names] = plan
        return plan


@cache
def _packer(kind: str, count: int) -> Struct:
    """Return the packer of so many floats (``d``) or integers (``q``)."""
    return Struct(f"={count}{kind}")
