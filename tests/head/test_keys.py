"""Test the line of keys: the order of numbers, exactness, and everything that has no key."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index, Limits, Subscription
from tamis.head._kernels import keys_of_numbers
from tamis.head.keys import ABSENT, GREATEST, LAST_STRING, number_key, number_keys
from tamis.space.numbers import split_integers
from tamis.values.value import INT_MAX, INT_MIN, Interval

EDGES = [
    0.0,
    5e-324,
    2.0**-512,
    2.0**-511,
    1.0,
    2.0**53,
    2.0**510,
    math.nextafter(2.0**511, 0),
    2.0**511,
    1e308,
]
numbers = (
    st.sampled_from(EDGES) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(INT_MIN, INT_MAX)
)


@given(numbers, numbers)
def test_keys_keep_the_order_of_numbers(one: float, two: float) -> None:
    (low, high), (other_low, other_high) = number_key(one), number_key(two)
    if one < two:
        assert low <= other_low
        assert high <= other_high
        assert (low == high) is False or (other_low == other_high) is False or low < other_low
    if one == two:
        assert (low, high) == (other_low, other_high)
    assert LAST_STRING < -GREATEST <= low <= high <= low + 1 <= GREATEST


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_keys_of_floats_are_found_together_as_alone(values: list[float]) -> None:
    low, high = number_keys(np.array(values, np.float64), np.zeros(len(values), np.int64))
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [number_key(value) for value in values]


@pytest.mark.kernels
@given(
    st.lists(
        st.tuples(st.integers(-1, 3), st.sampled_from([*EDGES, -1.5]) | st.floats(-1e6, 1e6) | st.floats())
    )
)
def test_numbers_of_an_event_have_the_same_keys_or_need_more_care(event: list[tuple[int, float]]) -> None:
    dimension = np.array([at for at, _ in event], np.int64)
    value = np.array([number for _, number in event], np.float64)
    found, keys = np.empty((2, len(event)), np.int64)
    count = keys_of_numbers(dimension, value.view(np.int64), found, keys)
    if not all(abs(number) < 2**53 and len(set(number_key(number))) == 1 for _, number in event):
        assert count == -1
        return
    known = [(at, number_key(number)[0]) for at, number in event if at >= 0]
    assert list(zip(found[:count].tolist(), keys[:count].tolist(), strict=True)) == known


@given(st.lists(st.integers(INT_MIN, INT_MAX)))
def test_keys_of_integers_are_found_together_as_alone(values: list[int]) -> None:
    low, high = number_keys(*split_integers(np.array(values, np.int64)))
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [number_key(value) for value in values]


@pytest.mark.parametrize(
    "value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63) + 1, 5e-324, -1e308, 2.0**511]
)
@pytest.mark.parametrize("op", ["=", "!=", "<", "<=", ">", ">="])
def test_numbers_without_a_key_are_decided_exactly(value: float, op: str) -> None:
    fresh, built = Index.build(), Index.build({"s": f"a {op} {value!r}"})
    fresh.add("s", f"a {op} {value!r}")
    neighbours = [value, 0, math.nextafter(float(value), math.inf), math.nextafter(float(value), -math.inf)]
    if isinstance(value, int):
        neighbours += [n for n in (value - 1, value + 1) if INT_MIN <= n <= INT_MAX]
    for near in neighbours:
        events = [
            {"a": near},
            {"a": [near, "x"]},
            {"a": Interval(near, None)},
            {"a": Interval(None, near, False, True)},
        ]
        for event in events:
            assert fresh.match(event) == built.match(event), (event, op, value)


def test_absence_is_below_everything() -> None:
    assert number_key(-1e308)[0] > ABSENT


def test_head_becomes_a_segment_at_its_limit() -> None:
    index = Index.build(limits=Limits(head_subscriptions=10))
    for n in range(9):
        index.add(f"s{n}", f"a = {n}")
    assert (index.info()["fresh"], len(index.info()["segments"])) == (9, 0)
    index.add("s9", "a = 9")
    assert (index.info()["fresh"], len(index.info()["segments"])) == (0, 1)
    index.add("s10", "a = 9")
    assert (index.info()["fresh"], len(index.info()["segments"])) == (1, 1)
    assert index.info()["head"]["full"] == {"head_subscriptions": 1}
    assert sorted(index.match({"a": 9})) == ["s10", "s9"]


def test_head_becomes_a_segment_when_its_memory_is_full() -> None:
    index = Index.build(limits=Limits(head_bytes=1))
    for n in range(200):
        index.add(f"s{n}", "a = 1")
    assert index.info()["head"]["full"]["head_bytes"] > 1
    assert len(index.match({"a": 1})) == 200


def test_updates_free_their_places() -> None:
    index = Index.build()
    for n in range(50):
        index.add(f"s{n}", "a = 1 AND b > 2")
    for turn in range(200):
        index.apply([])  # nothing to do
        for n in range(50):
            index.update(f"s{n}", f"a = {turn} AND b > 2")
    info = index.info()
    assert info["head"]["full"]["removals"] > 5
    assert info["head"]["subscriptions"] + info["head"]["removed"] < 2_000
    assert sum(segment["subscriptions"] for segment in info["segments"]) < 2_000
    assert len(index.match({"a": 199, "b": 3})) == 50
    assert index.subscription("s7") == Subscription("s7", index.expression("s7"))
