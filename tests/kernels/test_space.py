"""Test the compiled kernels of the space against plain Python."""

from __future__ import annotations

import random
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tamis.space import _kernels as k
from tamis.space.numbers import just_after, split_integers

pytestmark = pytest.mark.kernels
NUMBERS: list[Any] = [
    -(2**63), -(2**53) - 1, -(2.0**53), -1.5, 0, 5e-324, 1, 2.5, 2**53, 2**53 + 1, 2.0**53 + 2, 2**53 + 3,
    2**63 - 1, 2.0**63, 1e300,
]  # fmt: skip


def split(numbers: list[Any]) -> tuple[Any, Any]:
    """Return numbers of both types as (floor, rest)."""
    pairs = [split_integers(np.array([n])) if isinstance(n, int) else ([n], [0]) for n in numbers]
    return np.array([float(f[0]) for f, _ in pairs]), np.array([int(r[0]) for _, r in pairs], np.int64)


def test_integers_split_and_step_exactly() -> None:
    chance = random.Random(3)
    values = [n for n in NUMBERS if isinstance(n, int)] + [
        chance.randint(-(2**63), 2**63 - 1) for _ in range(300)
    ]
    floor, rest = split_integers(np.array(values))
    assert [int(f) + int(r) for f, r in zip(floor, rest, strict=True)] == values
    assert all(
        0 <= r < Fraction(np.nextafter(f, np.inf)) - Fraction(f) for f, r in zip(floor, rest, strict=True)
    )
    after = [Fraction(f) + int(r) for f, r in zip(*just_after(floor, rest), strict=True)]
    for value, following in zip(values, after, strict=True):
        expected = value + 1 if abs(value) >= 2**53 else Fraction(np.nextafter(float(value), np.inf))
        assert following == expected


@pytest.mark.parametrize("exact", [True, False])
def test_numbers_are_located_among_cuts(exact: bool) -> None:
    chance = random.Random(5)
    pool = NUMBERS if exact else [n for n in NUMBERS if isinstance(n, float) or abs(n) <= 2**53]
    for _ in range(60):
        chosen = sorted(set(chance.sample(pool, chance.randint(1, len(pool)))), key=Fraction)
        values, rest = split(chosen)
        rest = rest if rest.any() else rest[:0]
        sizes = [chance.randint(0, len(chosen)) for _ in range(3)]
        cuts = [sorted(chance.sample(range(len(chosen)), size)) for size in sizes]
        start = np.cumsum([0, *sizes])
        cut = np.array([at for own in cuts for at in own], np.int64)
        base, other = np.array([1, 0, 5]), np.array([9, 8, 7])
        asked = [(d, n) for d in range(3) for n in pool]
        out = np.empty(len(asked), np.int64)
        floor, more = split([n for _, n in asked])
        dimension = np.array([d for d, _ in asked])
        k.locate_numbers(dimension, floor, more, values, rest, start, cut, base, other, out)
        expected = [
            other[d]
            if not base[d]
            else base[d] + bisect_right([Fraction(chosen[at]) for at in cuts[d]], Fraction(n))
            for d, n in asked
        ]
        assert out.tolist() == expected
        _one_event(values, rest, start, cut, base, other, dict(zip(asked, expected, strict=True)))


def _one_event(values: Any, rest: Any, start: Any, cut: Any, base: Any, other: Any, expected: Any) -> None:
    small = [(d, float(n)) for d, n in expected if abs(n) < 2**53]
    known = [(d, n) for d, n in small if float(n) == n]
    dimension = np.array([*(d for d, _ in known), -1])
    value = np.array([*(n for _, n in known), 0.0])
    out = np.empty((2, len(dimension)), np.int64)
    count = k.locate_event(dimension, value, values, rest, start, cut, base, other, out)
    assert count == len(known)
    assert out[0, :count].tolist() == [d for d, _ in known]
    assert out[1, :count].tolist() == [expected[pair] for pair in known]
    for wild in (2.0**53, -(2.0**53), np.nan, np.inf):
        value[-1] = wild
        assert k.locate_event(dimension, value, values, rest, start, cut, base, other, out) == -1


def column(strings: list[bytes]) -> tuple[Any, Any]:
    return np.cumsum([0, *map(len, strings)]), np.frombuffer(b"".join(strings), np.uint8)


def test_strings_are_compared_and_located() -> None:
    chance = random.Random(8)
    pool = sorted({b"", b"\0", b"a", b"a\0", b"ab", b"abc", b"b", b"\xf4\x8f\xbf\xbf", b"\xc3\xa9", b"zz"})
    for _ in range(60):
        chosen = sorted(chance.sample(pool, chance.randint(0, len(pool))))
        sides = np.array([chance.randint(1, 3) for _ in chosen], np.uint8)
        cuts = [
            (text, side)
            for text, mask in zip(chosen, sides, strict=True)
            for side in (0, 1)
            if mask >> side & 1
        ]
        before = np.array([sum(c[0] < text for c in cuts) for text in chosen], np.int64)
        start, data = column(chosen)
        key_start, key_data = column(pool)
        out = np.empty(len(pool), np.int64)
        k.locate_strings(0, len(chosen), key_start, key_data, start, data, before, sides, out)
        expected = [sum(cut <= (key, 0) for cut in cuts) for key in pool]
        assert out.tolist() == expected
    for a in pool:
        for b in pool:
            raw = np.frombuffer(a + b, np.uint8)
            found = k.compare_bytes(raw, 0, len(a), raw, len(a), len(a) + len(b))
            assert found == (a > b) - (a < b)


def test_names_are_found_in_their_table() -> None:
    names = [b"", b"a", b"b", b"ab", b"price", b"eightby8", b"nine byte", b"x" * 40]
    start, data = column(names)
    for size in (8, 16, 64):  # a full table, too: every probe collides
        table = np.full(size * 2, -1, np.int64)
        k.fill_name_table(start, data, np.uint64(12345), table)
        keys = [*names, b"c", b"pricf", b"x" * 41, b"nine bytf"]
        key_start, key_data = column(keys)
        out = np.empty(len(keys), np.int64)
        assert k.find_names(key_start, key_data, 64, start, data, np.uint64(12345), table, out)
        assert out.tolist() == [names.index(key) if key in names else -1 for key in keys]
    for odd in (b"y" * 65, "é".encode()):
        key_start, key_data = column([b"a", odd])
        assert not k.find_names(key_start, key_data, 64, start, data, np.uint64(12345), table, out)


def test_entries_are_gathered_by_event() -> None:
    for seed in range(40):
        chance = random.Random(seed)
        events, count = chance.randint(1, 5), chance.choice([0, 3, 20, 150])
        owner = np.array([chance.randrange(events) for _ in range(count)], np.int64)
        dimension, lo = (np.array([chance.randint(0, 30) for _ in range(count)], np.int32) for _ in range(2))
        hi = lo + np.array([chance.choice([0, 0, 0, 0, 2]) for _ in range(count)], np.int32)
        start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=events))])
        out = [np.empty(count, np.int32) for _ in range(3)]
        multi = np.zeros(events, np.uint8)
        seen = np.zeros(chance.choice([0, 31]), np.int32)
        kept = k.gather(owner, dimension, lo, hi, start, *out, multi, seen)
        assert start[-1] == kept
        for e in range(events):
            mine = [(int(dimension[i]), int(lo[i]), int(hi[i])) for i in np.flatnonzero(owner == e)]
            found = list(zip(*(part[start[e] : start[e + 1]].tolist() for part in out), strict=True))
            touched = {(d, cell) for d, low, high in mine for cell in range(low, high + 1)}
            assert {(d, cell) for d, low, high in found for cell in range(low, high + 1)} == touched
            found = sorted(found) if len(seen) and not multi[e] else found
            assert found == sorted(found)
            assert all(one[0] < two[0] or one[2] + 1 < two[1] for one, two in pairwise(found))
            several = len({entry[0] for entry in mine}) < len(mine) or any(
                low != high for _, low, high in mine
            )
            assert bool(multi[e]) == several
