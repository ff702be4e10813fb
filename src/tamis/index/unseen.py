"""Find attributes that subscriptions mention and no event has: often a misspelt name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.head import Head, HeadView
from tamis.index.snapshot import Layer
from tamis.segment import Segment
from tamis.space.located import Located
from tamis.values.event import NULLS, Event

ENOUGH = 1_000  # events; with fewer, an attribute may be missing by chance
LOOKED_AT = 256  # events whose names are kept, to suggest one of them
COMPARED = 64  # unseen names, and names to suggest, that are compared: each pair costs microseconds
SHOWN = 5  # lines
CLOSE = 0.7

Mask = npt.NDArray[np.bool_]
Seen = tuple[Segment | Head, Mask]


def seen_in(part: Layer | HeadView, located: Located) -> Seen:
    """Return which dimensions of a layer or a head some event has a value in."""
    if isinstance(part, HeadView):
        mask = np.zeros(int(located.dimension.max(initial=part.dimensions - 1)) + 1, np.bool_)
        mask[located.dimension] = True
        return part.head, mask
    space = part.segment.space
    mask = np.zeros(space.ordered + len(space.flag_kind), np.bool_)
    mask[located.dimension] = True
    return part.segment, mask


class AttributeWatch:
    """A record, over one run, of the attributes of an index that some event has."""

    def __init__(self) -> None:
        self.events = 0
        self._seen: dict[Segment | Head, Mask] = {}
        self._names: dict[str, None] = {}
        self._looked_at = 0
        self._advised: tuple[list[str], tuple[str, ...]] = [], ()  # the unseen attributes, and their lines

    def look(self, piece: Any) -> None:
        """Keep the attribute names of the first events."""
        if self._looked_at < LOOKED_AT:
            self._names.update(dict.fromkeys(names_in(piece)))
            self._looked_at += len(piece) if isinstance(piece, list) else piece.num_rows

    def saw(self, events: int, seen: tuple[Seen, ...]) -> bool:
        """Record a batch; return whether it is the one that completes enough events."""
        for part, mask in seen:
            before = self._seen.get(part)
            self._seen[part] = mask if before is None else _either(mask, before)
        self.events += events
        return self.events >= ENOUGH > self.events - events

    def unseen(self) -> list[str]:
        """Return the attributes that no event had, sorted; none as long as there were too few events."""
        if self.events < ENOUGH:
            return []
        found: set[str] = set()
        for part, mask in self._seen.items():
            found.update(_unseen_in_head(part, mask) if isinstance(part, Head) else _unseen(part, mask))
        return sorted(found - self._names.keys() - {NULLS})

    def advice(self) -> tuple[str, ...]:
        """Return a line for each unseen attribute, probable misspellings first, and a count of the rest."""
        unseen = self.unseen()
        if unseen != self._advised[0]:
            self._advised = unseen, self._lines(unseen)
        return self._advised[1]

    def _lines(self, unseen: list[str]) -> tuple[str, ...]:
        known = [name for name in list(self._names)[:COMPARED] if name != NULLS]
        near: dict[str, list[str]] = {}
        for name in unseen[:COMPARED]:
            near[name] = get_close_matches(name, known, 1, CLOSE)
            if sum(map(bool, near.values())) == SHOWN:
                break
        ordered = sorted(near, key=lambda name: not near[name])
        lines = [
            f"no event has {name}" + (f"; did you mean {near[name][0]}?" if near[name] else "")
            for name in ordered[:SHOWN]
        ]
        if len(unseen) > SHOWN:
            lines.append(f"no event has {len(unseen) - SHOWN:,} more of the attributes that are asked for")
        return tuple(lines)


def watched(source: Iterator[Any], watch: AttributeWatch) -> Iterator[Any]:
    """Yield the pieces as they come; record their attribute names."""
    for piece in source:
        watch.look(piece)
        yield piece


def _either(one: Mask, two: Mask) -> Mask:
    """Return where one of two masks is set; a head's grow with it."""
    longer, shorter = (one, two) if len(one) >= len(two) else (two, one)
    both = longer.copy()
    both[: len(shorter)] |= shorter
    return both


def _unseen_in_head(head: Head, mask: Mask) -> Iterator[str]:
    """Return the attributes that no event had; one added since the last event counts as seen."""
    places = list(head.attributes.places.items())
    return (name for name, dimension in places if dimension < len(mask) and not mask[dimension])


def _unseen(segment: Segment, mask: Mask) -> Iterator[str]:
    space = segment.space
    has = mask[: space.attributes].copy()
    has[space.view_attribute[mask[space.attributes : space.ordered]]] = True
    has[space.flag_attribute[mask[space.ordered :]]] = True
    names = space.names.to_list() if not has.all() else []
    return (names[at] for at in np.flatnonzero(~has).tolist())


def names_in(piece: Any) -> Iterator[str]:
    """Yield the names of attributes of a piece: columns, keys of maps, or keys of the first dictionaries."""
    if not isinstance(piece, list):
        for name, column in zip(piece.schema.names, piece.columns, strict=True):
            if pa.types.is_map(column.type):
                yield from _keys(column.slice(0, LOOKED_AT))
            else:
                yield from _column_names(name, column.type)
        return
    for event in piece[:LOOKED_AT]:
        attributes = event.attributes if isinstance(event, Event) else event
        if isinstance(attributes, Mapping):
            yield from _dotted("", attributes)


def _keys(column: Any) -> Iterator[str]:
    for entries in column.to_pylist():
        yield from (key for key, _ in entries or () if isinstance(key, str))


def _column_names(name: str, kind: Any) -> Iterator[str]:
    if pa.types.is_struct(kind):
        for field in kind:
            yield from _column_names(f"{name}.{field.name}", field.type)
    yield name


def _dotted(prefix: str, attributes: Mapping[Any, Any]) -> Iterator[str]:
    for name, value in attributes.items():
        if isinstance(name, str):
            if isinstance(value, Mapping) and prefix.count(".") < 8:
                yield from _dotted(f"{prefix}{name}.", value)
            yield f"{prefix}{name}"
