"""Convert Arrow times and dates to microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.values.value import micros_of

_FIRST, _LAST = (micros_of(end.replace(tzinfo=UTC)) for end in (datetime.min, datetime.max))
_MICROS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1}


def arrow_micros(times: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the microseconds of an Arrow array without nulls, and which times lie in the years 1 to 9999.

    Arrow's own casts overflow silently, and round times before 1970 up.
    """
    kind = times.type
    if pa.types.is_date32(kind):
        raw, unit = times.cast(pa.int32()), 86_400_000_000
    else:
        raw, unit = times.cast(pa.int64()), _MICROS[getattr(kind, "unit", "ms")]
    count = raw.to_numpy(zero_copy_only=False).astype(np.int64)
    if getattr(kind, "unit", "") == "ns":
        count = count // 1_000
    good = (count >= _FIRST // unit) & (count <= _LAST // unit)
    return np.where(good, count, 0) * unit, good
