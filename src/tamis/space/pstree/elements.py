"""Split values into elements, which the inner nodes of a PS-Tree stand for, per type of value.

The elements of two values compare as the values do. A number becomes a whole number without sign whose bits
are cut into the sign, three bits, and digits of four; a string becomes its characters.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]

_DIGIT = 4


class Elements(Protocol):
    """A type of values."""

    def elements(self, value: Any) -> tuple[int, ...]:
        """Return the elements of a value; raise ``ValueError`` or ``TypeError`` if it is not of this type."""


class Integers:
    """Whole numbers of ``bits`` bits: of a byte the sign, the next three bits and the last four."""

    def __init__(self, bits: int = 64) -> None:
        if bits not in (8, 16, 32, 64):
            raise ValueError(f"whole numbers have 8, 16, 32 or 64 bits, not {bits}")
        self.bits = bits

    def elements(self, value: Any) -> tuple[int, ...]:
        """Return the sign (0 for minus), three bits, and digits of four bits, as in the binary complement."""
        return _digits(self.key(value), self.bits)

    def key(self, value: Any) -> int:
        """Return the value's place among all values of the type."""
        if type(value) is not int:
            raise TypeError(f"{value!r} is not a whole number")
        half = 1 << (self.bits - 1)
        if not -half <= value < half:
            raise ValueError(f"{value} has more than {self.bits} bits")
        return value + half

    def keys(self, values: npt.ArrayLike) -> Keys:
        """Return the places of the values of an array."""
        numbers = np.asarray(values)
        if len(numbers) and numbers.dtype.kind != "i":
            raise TypeError("not all values are whole numbers of 64 bits")
        wide, half = numbers.astype(np.int64), 1 << (self.bits - 1)
        if len(wide) and not -half <= int(wide.min()) <= int(wide.max()) < half:
            raise ValueError(f"a value has more than {self.bits} bits")
        return wide.view(np.uint64) + np.uint64(1 << (self.bits - 1))


class Floats:
    """Floating-point numbers of 64 bits: sign, exponent and mantissa. There is one zero, and no NaN."""

    bits = 64

    def elements(self, value: Any) -> tuple[int, ...]:
        """Return the sign, the exponent in three elements, the mantissa in thirteen; reversed below zero."""
        return _digits(self.key(value), 64)

    def key(self, value: Any) -> int:
        """Return the value's place among all values of the type."""
        if type(value) not in (int, float) or math.isnan(value):
            raise TypeError(f"{value!r} is not a number that can be compared")
        raw: int = struct.unpack("<Q", struct.pack("<d", value + 0.0))[0]  # -0.0 + 0.0 is 0.0
        return raw ^ ((1 << 64) - 1) if raw >> 63 else raw | 1 << 63

    def keys(self, values: npt.ArrayLike) -> Keys:
        """Return the places of the values of an array."""
        wide = np.asarray(values, np.float64) + 0.0
        if np.isnan(wide).any():
            raise TypeError("NaN is not a number that can be compared")
        raw = wide.view(np.uint64)
        sign = np.uint64(1 << 63)
        return np.where(raw & sign, ~raw, raw | sign)


class Strings:
    """Strings by their characters; their order is that of the code points."""

    def elements(self, value: Any) -> tuple[int, ...]:
        """Return the code points."""
        if type(value) is not str:
            raise TypeError(f"{value!r} is not a string")
        return tuple(map(ord, value))


def _digits(key: int, bits: int) -> tuple[int, ...]:
    """Return the leading bit, the next three, then digits of four."""
    shifts = range(bits - 2 * _DIGIT, -1, -_DIGIT)
    return key >> (bits - 1), key >> (bits - _DIGIT) & 7, *(key >> shift & 15 for shift in shifts)
