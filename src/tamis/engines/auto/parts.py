"""Put several engines over one set of clauses: each has its own stretch of the clauses and its own arrays."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.engines.arena import Arena, Slot
from tamis.engines.auto.choose import Part
from tamis.engines.engines import PARTS, engine_class
from tamis.engines.forms import WORD
from tamis.engines.protocol import Weights
from tamis.engines.units import Statistics, reorder
from tamis.errors import IndexCorrupt
from tamis.space.space import Clauses

Arrays = dict[str, npt.NDArray[Any]]
SHARED = ("set_lo", "set_hi", "cells")
PER_LITERAL = ("literal",)


class Chosen(msgspec.Struct):
    """The stored record of one part."""

    name: str
    engine: str
    parameters: dict[str, Any]
    clauses: int
    literals: int
    why: str
    considered: dict[str, float]  # µs per event that each alternative would have cost


class Choice(msgspec.Struct):
    """The parts, in the order of their clauses, and the reason for choosing them."""

    why: str
    parts: list[Chosen]


def build_parts(
    clauses: Clauses, statistics: Statistics, parts: list[Part], why: str
) -> tuple[Clauses, Arrays]:
    """Build every part; its clauses follow those of the previous part."""
    built: list[Clauses] = []
    arrays: Arrays = {}
    chosen = []
    for number, part in enumerate(parts):
        mine = reorder(clauses, part.group.clauses) if len(parts) > 1 else clauses
        mine, own = engine_class(part.engine).build(mine, statistics, part.parameters)
        arrays |= {f"{number}.{name}": array for name, array in own.items()}
        if len(parts) > 1:
            arrays[f"{number}.start"] = mine.start.astype(np.uint32)
        considered = {cost.label: round(cost.us, 3) for cost in part.considered}
        chosen.append(
            Chosen(part.group.name, part.engine, part.parameters, mine.count, len(mine.literal), part.why,
                   considered)
        )  # fmt: skip
        built.append(mine)
    note = json.dumps(msgspec.to_builtins(Choice(why, chosen)), sort_keys=True)
    arrays["choice"] = np.frombuffer(note.encode(), np.uint8)
    return joined(built), arrays


def joined(parts: list[Clauses]) -> Clauses:
    """Return the clauses of all parts, one after the other; all parts share sets and cells."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    fields: dict[str, Any] = {}
    for name in Clauses._fields:
        columns = [getattr(part, name) for part in parts]
        if name in SHARED:
            fields[name] = getattr(first, name)
        elif name in ("start", "owner_start"):
            fields[name] = _joined_starts(columns)
        else:
            fields[name] = np.concatenate(columns)
    return Clauses(**fields)


def _joined_starts(starts: list[npt.NDArray[Any]]) -> npt.NDArray[np.uint32]:
    counts = [np.diff(start.astype(np.int64)) for start in starts]
    return np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.uint32)


def read_choice(arena: Arena) -> Choice:
    """Return the stored choice; raise :class:`IndexCorrupt` if it is damaged."""
    try:
        choice = msgspec.json.decode(arena["engine.choice"].tobytes(), type=Choice)
    except msgspec.MsgspecError as bad:
        raise IndexCorrupt(f"the auto index is damaged: its choice cannot be read: {bad}") from None
    unknown = [part.engine for part in choice.parts if part.engine not in PARTS]
    clauses, literals = len(arena["clauses.start"]) - 1, len(arena["clauses.literal"])
    sizes = [(part.clauses, part.literals) for part in choice.parts]
    fitting = all(c >= 0 and n >= 0 for c, n in sizes)
    if unknown or not fitting or tuple(map(sum, zip(*sizes, strict=True))) != (clauses, literals):
        raise IndexCorrupt("the auto index is damaged: its parts do not make up the whole")
    return choice


def part_arena(arena: Arena, number: int, first: tuple[int, int], part: Chosen, alone: bool) -> Arena:
    """Return the arena of one part: the same block, the part's arrays, its stretch of the clauses."""
    prefix = f"engine.{number}."
    slots = {f"engine.{n[len(prefix) :]}": slot for n, slot in arena.slots.items() if n.startswith(prefix)}
    for name in Clauses._fields:
        slot = arena.slots[f"clauses.{name}"]
        if alone or name in SHARED:
            slots[f"clauses.{name}"] = slot
        elif name in PER_LITERAL:
            slots[f"clauses.{name}"] = _stretch(slot, first[1], part.literals)
        elif name == "revise":
            slots[f"clauses.{name}"] = _stretch(slot, first[0], part.clauses)
        elif name == "owner_start":  # engines count a clause's owners but do not look them up
            slots[f"clauses.{name}"] = _stretch(slot, first[0], part.clauses + 1)
    if not alone:
        start = slots.pop("engine.start", None)
        if start is None or not WORD.fits(start) or start.shape != (part.clauses + 1,):
            raise IndexCorrupt("the auto index is damaged: a part has no clauses")
        slots["clauses.start"] = start
    return Arena(arena.block, slots)


def part_weights(weights: Weights, first: int, count: int) -> Weights:
    """Return the weights of a part's clauses."""
    clauses, start = slice(first, first + count), weights.start[first : first + count + 1]
    parts = slice(int(start[0]), int(start[-1]))
    return Weights(
        total=weights.total[clauses],
        weight=weights.weight[clauses],
        priority=weights.priority[clauses],
        rest=weights.rest[clauses],
        start=start - start[0],
        attribute=weights.attribute[parts],
        share=weights.share[parts],
    )


def _stretch(slot: Slot, first: int, count: int) -> Slot:
    row = int(np.prod(slot.shape[1:], dtype=np.int64)) * np.dtype(slot.dtype).itemsize
    return Slot(slot.dtype, (count, *slot.shape[1:]), slot.offset + first * row, count * row)
