"""Fuzz the segment reader with arrays changed and sealed again, as a hostile writer would.

The reader may refuse such a file. If the change makes another valid index, it may answer. It must never crash
the process, hang or raise anything else.
"""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tamis import Index
from tamis.engines.arena import Slot
from tamis.engines.engines import NAMES as ENGINES
from tamis.segment.sealed import write_sealed
from tamis.segment.source import checksum
from tests.sealed import read_sealed
from tests.segment.corrupt import EVENTS, REFUSALS, answers, damaged, saved

MUTATIONS = 60
# Changes that once did harm: (engine, array, place, value).
CORPUS = [
    ("hybrid", "engine.heads", 4, 2**31 - 1),
    ("hybrid", "engine.layout", 5, 2**32 - 1),
    ("hybrid", "engine.layout", 3, 2**32 - 1),
    ("hybrid", "space.string_before", 1, 2**32),
    ("scan", "space.number_base", 0, 2**31),
    ("scan", "space.flag_kind", 0, 7),
    ("scan", "space.names.data", 1, 255),
    ("scan", "ids.data", 2, 255),
    ("scan", "space.flag_pattern.data", 18, 0),
]


def forge(folder: Path, array: str, place: int, value: int) -> None:
    """Change one number of one array of the larger segment, and seal it again."""
    segment = max(folder.glob("segment-*"), key=lambda path: (path / "arrays.bin").stat().st_size)
    raw = bytearray((segment / "arrays.bin").read_bytes())
    body = read_sealed(segment / "segment.json")
    dtype, shape, offset, nbytes, _ = body["arrays"][array]
    numbers = np.frombuffer(memoryview(raw)[offset : offset + nbytes], dtype)
    kind = np.dtype(dtype)
    numbers[place % len(numbers)] = value if kind.kind == "f" else min(value, np.iinfo(kind).max)
    (segment / "arrays.bin").write_bytes(raw)
    slot = Slot(dtype, tuple(shape), offset, nbytes)
    body["arrays"][array][4] = checksum(np.frombuffer(bytes(raw), np.uint8), slot)
    write_sealed(segment / "segment.json", body)


def survives(folder: Path) -> bool:
    """Open and use the index; return whether it was refused."""
    try:
        index = Index.open(folder)
    except REFUSALS:
        return True
    answers(index)
    index.match_many(EVENTS)
    with suppress(*REFUSALS):  # expressions are read only now
        for event in EVENTS:
            index.top_k(event, 2)
    return False


@pytest.fixture(scope="module", params=ENGINES)
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return request.param, saved(tmp_path_factory.mktemp("fuzz") / "original", request.param)


def test_forged_arrays_are_refused_or_used_safely(original: Any, tmp_path: Path) -> None:
    engine, folder = original
    known = [case[1:] for case in CORPUS if case[0] == engine]
    body = read_sealed(
        max(folder.glob("segment-*"), key=lambda p: (p / "arrays.bin").stat().st_size) / "segment.json"
    )
    arrays = [name for name, entry in body["arrays"].items() if entry[3]]
    chance = random.Random(len(engine))
    values = [0, 1, 2, 3, 7, 100, 255, 65_535, 2**31 - 1, 2**32 - 1]
    fresh = [
        (chance.choice(arrays), chance.randrange(10_000), chance.choice(values)) for _ in range(MUTATIONS)
    ]
    refused = 0
    for array, place, value in [*known, *fresh]:
        copy = damaged(folder, tmp_path / "copy", lambda c, a=array, p=place, v=value: forge(c, a, p, v))
        try:
            refused += survives(copy)
        except Exception as failure:
            raise AssertionError(f"{engine}: {array}[{place}] = {value}") from failure
    assert refused > len(known)


@pytest.mark.parametrize("case", CORPUS, ids=str)
def test_known_harmful_changes_are_refused(case: tuple[str, str, int, int], tmp_path: Path) -> None:
    engine, array, place, value = case
    copy = damaged(
        saved(tmp_path / "original", engine), tmp_path / "copy", lambda c: forge(c, array, place, value)
    )
    assert survives(copy)
