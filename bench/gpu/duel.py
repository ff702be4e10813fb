"""Duel the card with the processor: random books of every kind of predicate, and every form of events."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

NUMBERS = (-1, 0, 1, 2, 3, 5, 8, 100, 2**53 + 1, 2.5, -0.0, 1e300)
WORDS = ("", "a", "ab", "abc", "b", "cab", "Abc", "wool coat", "new york", "10.0.0.1", "é")


def comparison(rng: random.Random) -> str:
    """Return a random predicate."""
    name = rng.choice("abcdefgh")
    low, high = sorted((rng.choice(NUMBERS), rng.choice(NUMBERS)))
    word, other = rng.choice(WORDS), rng.choice(WORDS)
    return rng.choice(
        (
            f"{name} {rng.choice(('=', '!=', '<', '<=', '>', '>='))} {low!r}",
            f"{name} BETWEEN {low!r} AND {high!r}",
            f"{name} {rng.choice(('IN', 'NOT IN'))} ({low!r}, {high!r}, 7)",
            f"{name} = '{word}'",
            f"{name} IN ('{word}', '{other}')",
            f"{name} >= '{word}'",
            f"{name} LIKE '{word[:1]}%'",
            f"{name} LIKE '%{word[-1:]}%'",
            f"{name} HAS ANY ('wool', 'york')",
            f"{name} IS {rng.choice(('', 'NOT '))}NULL",
            f"place WITHIN {rng.choice((50, 5000))} KM OF POINT (1 1)",
        )
    )


def expression(rng: random.Random, depth: int = 2) -> str:
    """Return a random expression."""
    if depth == 0 or rng.random() < 0.3:
        return comparison(rng)
    parts = [expression(rng, depth - 1) for _ in range(rng.randint(2, 4))]
    joined = f" {rng.choice(('AND', 'AND', 'OR'))} ".join(f"({part})" for part in parts)
    return f"NOT ({joined})" if rng.random() < 0.15 else joined


def book(rng: random.Random, size: int) -> dict[str, str]:
    """Return random subscriptions; conjunctions of ranges among them, as most books have."""
    found = {f"x{at}": expression(rng) for at in range(size)}
    for at in range(size):
        names = rng.sample("abcdefgh", rng.randint(1, 4))
        ranges = [
            f"{name} BETWEEN {(low := rng.randint(0, 12))} AND {low + rng.randint(0, 6)}" for name in names
        ]
        found[f"r{at}"] = " AND ".join(ranges)
    return found


def value(rng: random.Random) -> Any:
    """Return a random value, sometimes several."""
    kind = rng.random()
    if kind < 0.6:
        return rng.randint(0, 12)
    if kind < 0.7:
        return rng.choice(NUMBERS)
    if kind < 0.9:
        return rng.choice(WORDS)
    return [rng.randint(0, 12) for _ in range(rng.randint(0, 3))] if kind < 0.97 else kind < 0.985


def events(rng: random.Random, count: int) -> list[dict[str, Any]]:
    """Return random events."""
    found: list[dict[str, Any]] = []
    for _ in range(count):
        event = {name: value(rng) for name in rng.sample("abcdefghi", rng.randint(0, 9))}
        if rng.random() < 0.3:
            event["place"] = {"$point": [rng.uniform(-3, 5), rng.uniform(-3, 5)]}
        found.append(event)
    return found


def tables(rng: random.Random, count: int) -> Iterator[pa.Table]:
    """Yield tables that the card locates itself, in part or in whole."""

    def some(draw: Any) -> list[Any]:
        return [None if rng.random() < 0.4 else draw() for _ in range(count)]

    yield pa.table(
        {
            "a": pa.array(some(lambda: rng.randint(0, 12)), pa.uint8()),
            "b": pa.array(some(lambda: rng.randint(-3, 12)), pa.int64()),
            "c": pa.array(some(lambda: rng.choice((0.5, 3.0, 7.0, 1e300))), pa.float64()),
            "d": pa.array(some(lambda: rng.choice(WORDS))).dictionary_encode(),
            "e": pa.array(some(lambda: rng.random() < 0.5), pa.bool_()),
            "f": pa.array(some(lambda: rng.choice(WORDS))),
            "g": pa.array(some(lambda: [rng.randint(0, 9)] * rng.randint(0, 2)), pa.list_(pa.int64())),
            "h": pa.array(some(lambda: rng.randint(0, 12)), pa.int16()),
        }
    )
    numbers = [
        [(name, rng.randint(0, 12)) for name in rng.choices("abcdefghi", k=rng.randint(0, 6))]
        for _ in range(count)
    ]
    yield pa.table({"attributes": pa.array(numbers, pa.map_(pa.string(), pa.int32()))})


def pairs_of(table: Any) -> list[tuple[int, str]]:
    """Return all matches, sorted."""
    columns = table.to_pydict()
    return sorted(zip(columns["event"], columns["subscription"], strict=True))


def differences(index: Any, source: Any, device: str, batch_size: int | None = None) -> tuple[int, int]:
    """Return the decisions that were compared, and in how many the card differs."""
    found = index.match_many(source, device=device, on_error="skip", batch_size=batch_size)
    expected = index.match_many(source, on_error="skip")
    wrong = set(pairs_of(found.table)) ^ set(pairs_of(expected.table))
    repeated = len(found) - len(set(pairs_of(found.table)))
    refused = [refusal.position for refusal in found.refused] != [r.position for r in expected.refused]
    return expected.events * len(index), len(wrong) + repeated + refused


def duel(seed: int, device: str, size: int, count: int) -> tuple[int, int]:
    """Return decisions and differences of one random book, before and after changes to it."""
    import tamis

    rng = random.Random(seed)
    limits = tamis.Limits(dnf_clauses=4) if seed % 2 else tamis.Limits()
    pairs = {"pairs": 2} if seed % 3 == 0 else None
    index = tamis.Index.build(book(rng, size), limits=limits, parameters=pairs)
    sources = [events(rng, count), *tables(rng, count)]
    decisions = wrong = 0
    for turn in range(2):
        for source in sources:
            done = differences(index, source, device, None if turn else max(count // 2, 1))
            decisions, wrong = decisions + done[0], wrong + done[1]
        for name in rng.sample(sorted(index), len(index) // 4):
            index.remove(name)
        index.add(f"fresh{turn}", comparison(rng))
    return decisions, wrong
