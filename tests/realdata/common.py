"""Match with every engine, and compare pairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import settings

from tamis import Index
from tamis.engines.auto.events import head
from tamis.engines.auto.trial import make
from tamis.engines.engines import NAMES, engine_class
from tamis.engines.units import Statistics
from tamis.index.match import locate
from tamis.space.located import Located
from tamis.space.space import Clauses

Pairs = set[tuple[Any, str]]
IS_DEEP = settings.get_current_profile_name() == "deep"
# These engines check half of the clauses or more for each event, so they get the first few events.
SLOW = ("kindex", "scan")


def matched(index: Index, events: Iterable[Any], names: list[Any], batch_size: int = 4096) -> Pairs:
    """Return the pairs (name of the event, subscription) of a run in which no event may be refused."""
    found: Pairs = set()
    count = 0
    for batch in index.match_batches(events, threads=1, batch_size=batch_size):
        assert not batch.refused, batch.refused[0]
        count += batch.events
        rows, ids = batch.table["event"].to_pylist(), batch.table["subscription"].to_pylist()
        found.update((names[row], name) for row, name in zip(rows, ids, strict=True))
        assert len(rows) == len(set(zip(rows, ids, strict=True))), "a pair was reported twice"
    assert count == len(names)
    return found


def thinned(events: list[Any], names: list[Any], expected: Pairs) -> tuple[list[Any], list[Any]]:
    """Return every event that is expected to match and each 32nd other one, with their names.

    ``make test-deep`` takes all of them.
    """
    if IS_DEEP:
        return events, names
    matching = {event for event, _ in expected}
    kept = [row for row, name in enumerate(names) if row % 32 == 0 or name in matching]
    return [events[row] for row in kept], [names[row] for row in kept]


def sampled(events: list[Any], names: list[Any], expected: Pairs) -> tuple[list[Any], list[Any], Pairs]:
    """Return each fourth event with its name, and the pairs expected of these; all of them if it is deep."""
    if IS_DEEP:
        return events, names, expected
    few = names[::4]
    kept = set(few)
    return events[::4], few, {pair for pair in expected if pair[0] in kept}


def assert_every_engine(index: Index, events: Iterable[Any], names: list[Any], expected: Pairs) -> None:
    """Assert that the index finds the expected pairs, and every other engine the same pairs in its clauses.

    Reading rules, locating events and revision are most of the work and the same for all: they are done once.
    Engines see nothing of an event but its cells: of events with the same cells, they get one. Only ``make
    test-deep`` gives all batches to every engine.
    """
    events = list(events)
    assert_equal_pairs(matched(index, events, names), expected)
    (layer,) = index._writer.current.layers
    segment = layer.segment
    pieces = (events[row : row + 4096] for row in range(0, len(events), 4096))
    located = distinct(locate(segment.encoder, piece)[0] for piece in pieces)
    clauses = Clauses(**segment.arena.group("clauses."))
    found = [_pairs(segment.engine, clauses, batch) for batch in located]
    for name in NAMES:
        arranged, arrays = engine_class(name).build(clauses, Statistics(clauses, located[0]), {})
        engine = make(name, arranged, arrays)
        engine.check()
        for row in range(0, 1 if name in SLOW else len(located), 1 if IS_DEEP else 4):
            batch = located[row]
            few = head(batch, 256) if name in SLOW else batch
            expected_pairs = found[row][found[row] >> 32 < few.count]
            assert np.array_equal(_pairs(engine, arranged, few), expected_pairs), f"{name}, batch {row}"


def distinct(batches: Iterable[Located]) -> list[Located]:
    """The batches without the events that are the same, in all their cells, as one before."""
    seen: set[bytes] = set()
    kept = []
    for batch in batches:
        cells = np.stack([batch.dimension, batch.lo, batch.hi], axis=1)
        rows = []
        for row, (first, last) in enumerate(itertools.pairwise(batch.start.tolist())):
            key = cells[first:last].tobytes() + bytes([batch.multi[row]])
            if key not in seen:
                seen.add(key)
                rows.append(row)
        kept.append(_taken(batch, np.array(rows, np.int64)))
    return kept


def _taken(batch: Located, rows: Any) -> Located:
    """Some events of a batch."""
    first = batch.start[rows]
    count = batch.start[rows + 1] - first
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    place = np.repeat(first - start[:-1], count) + np.arange(start[-1])
    return Located(start, batch.dimension[place], batch.lo[place], batch.hi[place], batch.multi[rows])


def _pairs(engine: Any, clauses: Clauses, batch: Located) -> Any:
    """Return the distinct pairs (event, subscription) before revision, as sorted numbers."""
    pairs = engine.candidates(batch)
    start = clauses.owner_start.astype(np.int64)
    count = start[pairs.clause + 1] - start[pairs.clause]
    place = np.repeat(start[pairs.clause] - (np.cumsum(count) - count), count) + np.arange(count.sum())
    return np.unique((np.repeat(pairs.event, count) << 32) | clauses.owner[place])


def assert_equal_pairs(found: Pairs, expected: Pairs) -> None:
    """Assert that no pair is missing or extra."""
    missing, extra = expected - found, found - expected
    shown = {"missing": sorted(missing, key=str)[:5], "extra": sorted(extra, key=str)[:5]}
    assert found == expected, f"{len(missing)} missing, {len(extra)} extra: {shown}"
