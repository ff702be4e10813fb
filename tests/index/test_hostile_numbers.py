"""Test that building and matching stay linear for chosen integers that all hash alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from tamis import Index, Limits
from tamis.errors import TamisError
from tests.counting import lines_run
from tests.waiting import ending

COUNT = 10_000
PRIME = 2**61 - 1
LIMITS = Limits(
    event_values=COUNT + 1, in_list_values=COUNT + 1, expression_bytes=1 << 22, event_bytes=1 << 22
)


def integers(count: int) -> list[int]:
    """Return distinct 64-bit integers, four of each hash: they differ by multiples of 2**61 - 1."""
    return [base + factor * PRIME for base in range(1, count // 8 + 2) for factor in range(-4, 4)][:count]


def assert_same_work(run: Callable[[list[Any]], None], numbers: list[Any], ordinary: list[Any]) -> None:
    """Assert that hostile numbers take about the lines of Python that ordinary ones take."""
    run(ordinary)  # compile the kernels
    with ending():
        assert lines_run(lambda: run(numbers)) < 1.5 * lines_run(lambda: run(ordinary))


def floats(count: int) -> list[float]:
    """Return distinct floats that hash alike: the same number times powers of 2**61."""
    return [float(n) * 2.0 ** (61 * k) for n in range(1, 2 * count // 32 + 2, 2) for k in range(-16, 16)][
        :count
    ]


def shifted(count: int) -> list[int]:
    """Return integers whose hashes differ only far above the bits that a table of this size reads first."""
    return [n << 40 for n in range(1, count + 1)]


def test_hostile_numbers_hash_alike() -> None:
    for numbers, most in ((integers(COUNT), COUNT // 4 + 1), (floats(COUNT), COUNT // 32 + 1)):
        assert len(set(numbers)) == COUNT
        assert len({hash(n) for n in numbers}) <= most


hostile = pytest.mark.parametrize(
    "numbers", [integers(COUNT), shifted(COUNT), floats(COUNT)], ids=["integers", "shifted", "floats"]
)


@hostile
def test_operands_and_values_that_hash_alike_take_the_same_steps(numbers: list[Any]) -> None:
    ordinary = [n * 7 + 1 for n in range(COUNT)]

    def run(values: list[Any]) -> None:
        rows = pa.table(
            {"id": [f"s{n}" for n in range(COUNT)], "attribute": ["a"] * COUNT, "operator": ["="] * COUNT}
        )
        index = Index.build(rows.append_column("value", pa.array(values)), limits=LIMITS)
        assert len(index.match({"a": values})) == COUNT
        assert index.match_many([{"a": value} for value in values]).num_rows == COUNT

    assert_same_work(run, numbers, ordinary)


@hostile
def test_long_list_that_hashes_alike_takes_the_same_steps(numbers: list[Any]) -> None:
    ordinary = [n * 7 + 1 for n in range(COUNT)]

    def run(values: list[Any]) -> None:
        text = f"a IN ({', '.join(map(repr, values))}) OR NOT a NOT IN ({values[0]!r}) OR b IS NULL AND c = 1"
        index = Index.build({"s": text}, limits=LIMITS)
        assert index.match({"a": values[-1], "b": 1}) == ["s"]
        assert index.match({"a": 0.5, "b": 1}) == []
        index.add("t", text)
        index.merge()
        assert sorted(index.match({"a": values[COUNT // 2], "b": 1})) == ["s", "t"]

    assert_same_work(run, numbers, ordinary)


def test_integers_beyond_64_bits_are_refused_in_few_steps() -> None:
    numbers = [n * PRIME for n in range(COUNT)]
    text = f"a IN ({', '.join(map(str, numbers))})"
    index = Index.build({"always": "TRUE"}, limits=LIMITS)

    def attempt() -> None:
        (batch,) = index.match_batches([{"a": numbers}, {"a": set(numbers[:5])}])
        assert [row for row, _ in batch.refused] == [0]
        with pytest.raises(TamisError, match="64 bits"):
            index.add("s", text)

    with ending():
        assert lines_run(attempt) < 200 * COUNT
