"""Convert objects of other types that stand for a value of the model, or for none.

``docs/values.md`` lists every type. This module imports neither NumPy nor pandas: their objects are
recognised by the module and name of their types, so that a process without them pays nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from typing import Any
from uuid import UUID

from tamis.errors import EventValue
from tamis.values.value import EPOCH, INT_MAX, INT_MIN, Interval, clean_time, moment_of, short

_MICROS = {"W": 7 * 86_400_000_000, "D": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000}
_MICROS |= {"ms": 1_000, "us": 1}
_PARTS = {"ns": 1_000, "ps": 10**6, "fs": 10**9, "as": 10**12}  # of a microsecond
_BINARY = (bytes, bytearray, memoryview)
# An interface is an address by its class, but it names a network, too. NumPy's bytes_ is bytes by its class.
_REFUSED = (*_BINARY, IPv4Interface, IPv6Interface)
_YEARS = "lies outside the years 1 to 9999"


def means_absent(value: Any) -> bool:
    """Return whether ``value`` means that there is no value: ``None``, ``pandas.NA`` or any ``NaT``."""
    if value is None:
        return True
    kind = type(value)
    root = kind.__module__.partition(".")[0]
    if root == "pandas":
        return kind.__name__ in ("NAType", "NaTType")
    if root == "numpy":
        return kind.__name__ == "MaskedConstant" or (kind.__name__ == "datetime64" and str(value) == "NaT")
    return False


def is_array(value: Any) -> bool:
    """Return whether ``value`` is a NumPy array with at least one dimension, which is read as a list."""
    kind = type(value)
    return (
        kind.__module__.partition(".")[0] == "numpy"
        and getattr(value, "ndim", 0) > 0
        and hasattr(kind, "tolist")
    )


def plain_of(value: Any) -> Any:
    """Return the uncleaned value that ``value`` stands for; ``None`` if it stands for absence.

    Raise :class:`~tamis.errors.EventValue` for every other object.
    """
    if means_absent(value):
        return None
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, _REFUSED):
        raise _refusal(value)
    for kind, read in _READERS:
        if isinstance(value, kind):
            return read(value)
    root = type(value).__module__.partition(".")[0]
    if root == "numpy":
        return _numpy(value)
    if root == "pandas" and type(value).__name__ == "Interval":
        return _pandas_interval(value)
    raise _refusal(value)


def decimal_number(number: Decimal) -> int | float:
    """Return a decimal as an integer if it is whole and fits 64 bits, otherwise as the nearest float."""
    if not number.is_finite():
        raise EventValue(f"{number} is not a finite number")
    if (
        number.adjusted() < 19
        and number == (whole := number.to_integral_value())
        and INT_MIN <= whole <= INT_MAX
    ):
        return int(whole)
    nearest = float(number)
    if math.isinf(nearest):
        raise EventValue(f"the decimal {short(number)} is too large for a float")
    return nearest


def _numpy(value: Any) -> Any:
    """Return a NumPy scalar, or an array without dimensions, as a Python object."""
    if getattr(value, "shape", None) != ():
        raise _refusal(value)
    scalar = value[()] if type(value).__name__ == "ndarray" else value
    name = type(scalar).__name__
    if name == "datetime64":
        return _numpy_time(scalar)
    plain = scalar.item() if hasattr(scalar, "item") else scalar
    if name == "timedelta64" or type(plain) is type(value) or type(plain) is type(scalar) or name == "void":
        raise _refusal(value)
    return plain


def _numpy_time(moment: Any) -> datetime | None:
    """Return a ``datetime64`` of any unit; finer units are cut to microseconds."""
    if str(moment) == "NaT":
        return None
    unit, many = moment.dtype.str.partition("[")[2].rstrip("]"), 1
    digits = unit.rstrip("abcdefghijklmnopqrstuvwxyzDMWY")
    if digits:
        unit, many = unit[len(digits) :], int(digits)
    count = int(moment.astype("int64")) * many
    if unit in ("Y", "M"):
        return _month(count if unit == "M" else 12 * count)
    micros = count // _PARTS[unit] if unit in _PARTS else count * _MICROS[unit]
    try:
        return moment_of(micros)
    except OverflowError:
        raise EventValue(f"the time {short(moment)} {_YEARS}") from None


def _month(months: int) -> datetime:
    """Return the beginning of the month that lies ``months`` after January 1970."""
    year, month = divmod(months, 12)
    try:
        return EPOCH.replace(year=EPOCH.year + year, month=month + 1)
    except (OverflowError, ValueError):
        raise EventValue(f"the year {EPOCH.year + year} {_YEARS}") from None


def _pandas_interval(found: Any) -> Interval:
    return Interval(found.left, found.right, not found.closed_left, not found.closed_right)


def _refusal(value: Any) -> EventValue:
    remedy = (
        "decode it to a string" if isinstance(value, _BINARY) else "docs/values.md lists the types that are"
    )
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    return EventValue(f"an object of type {kind} is not a value; {remedy}")


# In this order: a bool is an int, a Timestamp is a datetime, and a datetime is a date. The unbound methods of
# the bases ignore how a subclass, such as an enumeration, overrides str() or int().
_READERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (bool, bool),
    (int, int.__int__),
    (float, float.__float__),
    (date, clean_time),  # every datetime, too
    (Decimal, decimal_number),
    (UUID, str),
    (IPv4Address, str),
    (IPv6Address, str),
)
