"""Fuzz of the event decoder from a saved corpus: an event is read or refused, in the same way on every path.

A line that ever did harm belongs into ``corpus/events.txt``.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tamis import Index
from tamis.errors import EventError
from tamis.expression.predicates import Compare, Exists, In, Within
from tamis.expression.tree import And, Expr, Not
from tamis.expression.truth import matches
from tamis.values.event import decode_event, event_from
from tamis.values.shape import Box

CORPUS = (Path(__file__).parent / "corpus" / "events.txt").read_text(encoding="utf-8").split("\n")
PIECES = [
    b'"a"', b'"b"', b":", b",", b"{", b"}", b"[", b"]", b"1", b"-", b"e9", b'"', b"\\", b"\\ud800", b"null",
    b"true", b'{"$time":', b'{"$point":[0,0]}', b'{"$interval":[1,2]}', b"\xff", b"\x00", b" ", b"9" * 30,
]  # fmt: skip
BOOK: dict[str, Expr] = {
    "a": Exists("a"),
    "one": Compare("a", ">=", 1),
    "no-b": Not(Exists("b")),
    "set": In("d", (1, "x", True)),
    "always": And(()),
    "time": Compare("t", ">", datetime(2020, 1, 1, tzinfo=UTC)),
    "place": Within("p", Box(9, 47, 10, 48)),
    "overlap": Compare("i", "<", 3),
}
MUTATIONS = 1000
SEED = 11


def mutated(line: bytes, chance: random.Random) -> bytes:
    """``line`` with a few bytes removed, changed, doubled or put in."""
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randrange(len(line) + 1), chance.randint(1, 6)
        change = chance.randrange(5)
        if change == 0:
            line = line[:at] + line[at + size :]
        elif change == 1:
            line = line[:at] + bytes([chance.randrange(256)]) + line[at + 1 :]
        elif change == 2:
            line = line[:at] + chance.choice(PIECES) + line[at:]
        elif change == 3:
            line = line[:at] + line[at : at + size] * 2 + line[at + size :]
        else:
            other = chance.choice(CORPUS).encode()
            line = line[:at] + other[chance.randrange(len(other) + 1) :]
    return line.replace(b"\n", b" ").replace(b"\r", b" ")


def mixed(objects: list[dict[str, Any]], chance: random.Random) -> bytes:
    """An object with names and values of several lines of the corpus, mixed up; valid JSON at least."""
    names = [*"abdnpti", "a.b", *(name for found in objects for name in found)]
    values = [value for found in objects for value in found.values()]
    pairs = {chance.choice(names): chance.choice(values) for _ in range(chance.randint(1, 4))}
    return json.dumps(pairs).encode()


def lines() -> list[bytes]:
    """The corpus, its mutations and its mixtures, the same in every run."""
    chance = random.Random(SEED)
    whole = [line.encode() for line in CORPUS]
    objects = [found for line in whole if (found := _object(line)) is not None]
    fuzzed = [mutated(chance.choice(whole), chance) for _ in range(MUTATIONS)]
    fuzzed += [mixed(objects, chance) for _ in range(MUTATIONS)]
    return [line for line in [*whole, *fuzzed] if line.strip()]


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        return decode_event(line)
    except EventError:
        return None


def outcome(line: bytes) -> set[str] | None:
    """What the evaluator says about a line; ``None`` if it is refused."""
    try:
        event = event_from(decode_event(line))
    except EventError:
        return None
    return {name for name, expr in BOOK.items() if matches(expr, event)}


@pytest.mark.parametrize("built", [True, False], ids=["segment", "fresh"])
def test_every_line_is_read_or_refused_alike(built: bool) -> None:
    index = Index.build(BOOK if built else {})
    if not built:
        for name, expr in BOOK.items():
            index.add(name, expr)
    every = lines()
    expected = [outcome(line) for line in every]
    refused: set[int] = set()
    found: dict[int, set[str]] = {row: set() for row in range(len(every))}
    for batch in index.match_batches(every, batch_size=256):
        refused.update(row for row, _ in batch.refused)
        for row, name in zip(
            batch.table["event"].to_pylist(), batch.table["subscription"].to_pylist(), strict=True
        ):
            found[row].add(name)
    assert refused == {row for row, names in enumerate(expected) if names is None}
    wrong = [
        (every[row], found[row], names)
        for row, names in enumerate(expected)
        if found[row] != (names or set())
    ]
    assert not wrong, wrong[0]
    assert 0.1 < len(refused) / len(every) < 0.9, "the corpus should hold both good and bad lines"
