"""Order integers and floats exactly on one line.

A number is written as (floor, rest): the largest float not above it and the integer distance to it. A float
has rest 0; an integer has a rest only beyond 2**53, where floats grow sparse. Pairs in lexicographic order
are numbers in exact order, so 2**53 + 1 and 2.0**53 never meet.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rests = npt.NDArray[np.int64]
_SPARSE = 2.0**53
_WHOLE = 2.0**63  # from here on there are floats only


def split_integers(values: npt.NDArray[np.int64]) -> tuple[Floats, Rests]:
    """Return (floor, rest) of 64-bit integers."""
    floor = values.astype(np.float64)
    if not len(values) or np.abs(floor).max() < _SPARSE:
        return floor, np.zeros(len(values), np.int64)
    # Rounding may have gone up; 2.0**63 itself is no int64, so it is stepped down before the cast.
    floor = np.where(floor >= 2.0**63, np.nextafter(floor, -np.inf), floor)
    rest = values - floor.astype(np.int64)
    high = rest < 0
    floor[high] = np.nextafter(floor[high], -np.inf)
    return floor, values - floor.astype(np.int64)


def just_after(floor: Floats, rest: Rests) -> tuple[Floats, Rests]:
    """Return the least (floor, rest) above each pair that an integer or a float can have."""
    with np.errstate(over="ignore"):  # infinity is a fine cut: above every number
        above = np.nextafter(floor, np.inf)
    sparse = (np.abs(floor) >= _SPARSE) & (floor >= -_WHOLE) & (floor < _WHOLE)
    step = np.where(sparse, rest + 1, 0)
    # The next integer may be the next float: then it is written as that float. The gap is exact,
    # whereas floor + step would be rounded.
    dense = ~sparse | (step >= above - floor)
    return np.where(dense, above, floor), np.where(dense, 0, step)
