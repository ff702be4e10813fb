"""Place every value on one line of 64-bit keys, where no cut has to be known beforehand.

A segment numbers the predicate spaces of an attribute, which is only possible once all predicates are known.
The head takes predicates one by one, so the value itself is the key. From below to above: absence, values
without an order here (points, unknown strings), booleans, known strings by number, numbers, times.

Numbers keep their order and are exact between 2**-511 and 2**511, where every float has a key of its own. A
number without a key (a smaller or greater one, or an integer between two floats) lies between two neighbours.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.head._kernels import LEAST_BITS
from tamis.space.numbers import split_integers

Keys = npt.NDArray[np.int64]

ABSENT = -(2**63)
OTHER = ABSENT + 1  # present, and no predicate compares it
FALSE, TRUE = ABSENT + 2, ABSENT + 3
FIRST_STRING, LAST_STRING = ABSENT + 4, ABSENT + 2**60
HIGHEST = 2**63 - 1
_LEAST_BITS, _BEYOND_BITS = int(LEAST_BITS), 1534 << 52  # of 2**-511 and 2**511
GREATEST = _BEYOND_BITS - _LEAST_BITS + 1  # all greater numbers lie between this key and the one below
_TIME = 2**62 + 2**61  # the key of 1970
FIRST_TIME, LAST_TIME = 2**62 + 2**60, HIGHEST
_EXACT = 2**53

Place = tuple[int, int]


def number_key(value: float) -> Place:
    """Return the key of a number twice, or the two neighbours that a number without a key lies between."""
    if type(value) is int and not -_EXACT <= value <= _EXACT:
        floor, rest = split_integers(np.array([value], np.int64))
        low, _ = number_key(float(floor[0]))
        return low, low + bool(rest[0])
    bits: int = struct.unpack("<q", struct.pack("<d", abs(value)))[0]
    if not bits:
        return 0, 0
    if _LEAST_BITS <= bits < _BEYOND_BITS:
        key = bits - _LEAST_BITS + 1
        return (key, key) if value > 0 else (-key, -key)
    low = 0 if bits < _LEAST_BITS else GREATEST - 1
    return (low, low + 1) if value > 0 else (-low - 1, -low)


def number_keys(values: npt.NDArray[np.float64], rest: npt.NDArray[np.int64]) -> tuple[Keys, Keys]:
    """Return the places of numbers given as (floor, rest); one array twice if all of them have keys."""
    bits = np.abs(values).view(np.int64)
    key = bits - (_LEAST_BITS - 1)
    key[bits == 0] = 0
    np.negative(key, out=key, where=values < 0)
    strange = (rest != 0) | ((bits != 0) & ((bits < _LEAST_BITS) | (bits >= _BEYOND_BITS)))
    if not strange.any():
        return key, key
    low, high = key, key.copy()
    for at in np.flatnonzero(strange).tolist():
        low[at], high[at] = number_key(float(values[at]))
        if rest[at]:
            high[at] = low[at] + 1
    return low, high


def time_key(micros: int) -> int:
    """Return the key of a time, given in microseconds since 1970."""
    return _TIME + micros


def boolean_key(value: bool) -> int:
    """Return the key of a boolean."""
    return TRUE if value else FALSE


def lower_number(value: Any, is_open: bool) -> Place:
    """Return the key of a lower end, and 1 unless the end is exact."""
    if value is None:
        return -GREATEST, 0
    low, high = number_key(value)
    return (low + is_open, 0) if low == high else (low, 1)


def upper_number(value: Any, is_open: bool) -> Place:
    """Return the key of an upper end, and 1 unless the end is exact."""
    if value is None:
        return GREATEST, 0
    low, high = number_key(value)
    return (high - is_open, 0) if low == high else (high, 1)
