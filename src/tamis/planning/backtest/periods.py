"""Count events by the day or hour of their time."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.columns.tables import is_string, one_array, ordinary
from tamis.columns.times import arrow_micros
from tamis.errors import EventError, InputError
from tamis.index.batches import PieceEvents
from tamis.planning.backtest.report import Period
from tamis.values.value import micros_of, moment_of, parse_time

Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

NO_TIME = np.iinfo(np.int64).min
HOUR = 3_600_000_000
FEW_DAYS = 3  # a shorter span is shown by hours
MOST_PERIODS = 100_000


def times_of(piece: Any, name: str, event_at: PieceEvents) -> Ints:
    """Return the time of each event in microseconds since 1970; ``NO_TIME`` where there is none."""
    if not isinstance(piece, list) and name in piece.schema.names:
        array = ordinary(one_array(piece.column(piece.schema.get_field_index(name))))
        if pa.types.is_timestamp(array.type) or pa.types.is_date(array.type):
            return _of_times(array)
        if is_string(array.type):
            return np.array([_of_value(text) for text in array.to_pylist()], np.int64)
    count = len(piece) if isinstance(piece, list) else piece.num_rows
    return np.array([_of_event(piece, row, name, event_at) for row in range(count)], np.int64)


def _of_times(array: Any) -> Ints:
    micros = np.full(len(array), NO_TIME)
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    found, good = arrow_micros(array.drop_null())
    micros[valid] = np.where(good, found, NO_TIME)
    return micros


def _of_event(piece: Any, row: int, name: str, event_at: PieceEvents) -> int:
    if isinstance(piece, list) and type(event := piece[row]) is dict and name in event:
        value = event[name]
    else:
        try:
            event = event_at(row)
        except EventError:
            return NO_TIME
        values = event.attributes.get(name)
        value = values[0] if values else event.time if name == "time" else None
    if type(value) is dict:
        value = value.get("$time")
    return _of_value(value)


@lru_cache(maxsize=65_536)
def _of_text(text: str) -> int:
    try:
        return micros_of(parse_time(text))
    except (ValueError, EventError):
        return NO_TIME


def _of_value(value: Any) -> int:
    if type(value) is str:
        return _of_text(value)
    if isinstance(value, datetime):
        return _of_text(value.isoformat())
    return NO_TIME


class Periods:
    """The number of events and matches of each hour."""

    def __init__(self) -> None:
        self._hours: dict[int, list[int]] = {}
        self.without_time = 0

    def count(self, moments: Ints, new: Marks, old: Marks) -> None:
        """Count events by their times."""
        known = moments != NO_TIME
        self.without_time += int((~known).sum())
        hours, place = np.unique(moments[known] // HOUR, return_inverse=True)
        counts = [
            np.bincount(place, weights=marks, minlength=len(hours))
            for marks in (known[known], new[known], old[known])
        ]
        for hour, *found in zip(
            hours.tolist(), *(count.astype(np.int64).tolist() for count in counts), strict=True
        ):
            kept = self._hours.setdefault(hour, [0, 0, 0])
            for at, number in enumerate(found):
                kept[at] += number
        if len(self._hours) > MOST_PERIODS:
            raise InputError(
                f"the times of the events lie in more than {MOST_PERIODS:,} hours; test a shorter span"
            )

    def rows(self) -> tuple[Period, ...]:
        """Return the periods in order, by day, or by hour if all lie within a few days."""
        if not self._hours:
            return ()
        by_hour = max(self._hours) - min(self._hours) < 24 * FEW_DAYS
        merged: dict[int, list[int]] = {}
        for hour, found in sorted(self._hours.items()):
            kept = merged.setdefault(hour if by_hour else hour // 24 * 24, [0, 0, 0])
            for at, number in enumerate(found):
                kept[at] += number
        form = "%Y-%m-%d %H:00" if by_hour else "%Y-%m-%d"
        return tuple(Period(moment_of(hour * HOUR).strftime(form), *found) for hour, found in merged.items())
