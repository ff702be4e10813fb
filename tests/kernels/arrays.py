"""Random clauses and located events as arrays, and the naive twin of every engine."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np

from tamis.engines.auto.trial import make
from tamis.engines.engines import engine_class
from tamis.engines.units import Statistics
from tamis.space.build import _word
from tamis.space.located import Located, join
from tamis.space.space import ABSENT_OK, MANY, NEGATIVE, Clauses

Range = tuple[int, int]


class Literal(NamedTuple):
    """A literal in plain words: which cells it speaks about, and how."""

    dimension: int
    flags: int
    ranges: list[Range]


class Entry(NamedTuple):
    """One value of an event."""

    dimension: int
    lo: int
    hi: int


Clause = list[Literal]


def holds(clause: Clause, event: list[Entry]) -> bool:
    """The naive twin of ``holds_plain`` and ``holds_general``."""
    for dimension, flags, ranges in clause:
        mine = [entry for entry in event if entry.dimension == dimension]
        inside = any(low <= entry.hi and high >= entry.lo for entry in mine for low, high in ranges)
        if not mine and not flags & ABSENT_OK:
            return False
        if mine and inside == bool(flags & NEGATIVE):
            return False
    return True


def random_clause(chance: random.Random, cells: list[int], most: int = 4) -> Clause:
    """Up to ``most`` literals of all kinds, sorted by dimension as engines get them."""
    clause = []
    for _ in range(chance.randint(0, most)):
        dimension = chance.randrange(len(cells))
        flags = chance.choice([0, 0, 0, NEGATIVE, ABSENT_OK, NEGATIVE | ABSENT_OK])
        pieces = 1 if chance.random() < 0.7 else chance.randint(2, 5)
        clause.append(Literal(dimension, flags, random_ranges(chance, cells[dimension], pieces)))
    return sorted(clause, key=lambda literal: literal.dimension)


def random_ranges(chance: random.Random, cells: int, pieces: int) -> list[Range]:
    """Ranges that do not touch; the ends of the dimension are hit often."""
    ends = sorted({chance.choice([1, cells, chance.randint(1, cells)]) for _ in range(2 * pieces)})
    ranges: list[Range] = []
    for low, high in zip(ends[::2], ends[1::2] or ends[:1], strict=False):
        if not ranges or low > ranges[-1][1] + 1:
            ranges.append((low, max(low, high)))
    return ranges


def random_event(chance: random.Random, cells: list[int], plain: bool) -> list[Entry]:
    """Some dimensions with a cell each; if not ``plain``, several cells and ranges of them, too."""
    event = []
    for dimension in chance.sample(range(len(cells)), min(len(cells), chance.randint(0, 6))):
        for _ in range(1 if plain else chance.randint(1, 3)):
            low = chance.choice([1, cells[dimension], chance.randint(1, cells[dimension])])
            high = (
                low if plain or chance.random() < 0.5 else min(low + chance.randint(0, 5), cells[dimension])
            )
            event.append(Entry(dimension, low, high))
    return event


def as_clauses(book: list[Clause], cells: list[int]) -> Clauses:
    """Clauses in integer form; clause ``n`` belongs to subscription ``n``."""
    literal: list[list[int]] = []
    set_lo: list[int] = []
    set_hi: list[int] = []
    for clause in book:
        for dimension, flags, ranges in clause:
            if len(ranges) == 1:
                literal.append([dimension, flags, *ranges[0]])
                continue
            literal.append([dimension, flags | MANY, len(set_lo), len(ranges)])
            set_lo += [low for low, _ in ranges]
            set_hi += [high for _, high in ranges]
    arrays = [np.array(a, np.int64) for a in (set_lo, set_hi, cells)]
    literals = np.array(literal, np.int64).reshape(-1, 4)
    word = _word(arrays[0], arrays[2])
    start = np.cumsum([0, *map(len, book)]).astype(np.uint32)
    every = np.arange(len(book) + 1, dtype=np.uint32)
    return Clauses(
        start, literals.astype(word), arrays[0].astype(word), arrays[1].astype(word),
        np.zeros(len(book), np.uint8), every, every[:-1], arrays[2].astype(np.uint32),
    )  # fmt: skip


def as_located(batch: list[list[Entry]]) -> Located:
    """Located events."""
    rows = [(row, *entry) for row, event in enumerate(batch) for entry in event]
    owner, *rest = np.array(rows, np.int64).reshape(-1, 4).T
    part = owner, *(column.astype(np.int32) for column in rest)
    return join(len(batch), [part], np.zeros(len(batch), np.uint8))


def engine_over(name: str, clauses: Clauses, parameters: dict[str, Any]) -> tuple[Any, Any]:
    """An engine over clauses, and the subscription of each of its clauses."""
    maker = engine_class(name)
    arranged, arrays = maker.build(clauses, Statistics(clauses), parameters)
    return make(name, arranged, arrays), arranged.owner


def pairs_of(engine: Any, owner: Any, events: Located) -> set[tuple[int, int]]:
    """The pairs (event, subscription) that an engine finds."""
    found = engine.candidates(events)
    return set(zip(found.event.tolist(), owner[found.clause].tolist(), strict=True))


def ranges_book(chance: random.Random, count: int, dimensions: int = 6, cells: int = 60) -> list[Clause]:
    """Conjunctions of two to four ranges on different dimensions."""
    book = []
    for _ in range(count):
        chosen = sorted(chance.sample(range(dimensions), chance.randint(2, min(4, dimensions))))
        lows = [chance.randint(1, cells - 8) for _ in chosen]
        book.append(
            [Literal(d, 0, [(low, low + chance.randint(0, 8))]) for d, low in zip(chosen, lows, strict=True)]
        )
    return book


def range_on(clause: Clause, dimension: int) -> tuple[int, int]:
    return next(literal.ranges[0] for literal in clause if literal.dimension == dimension)
