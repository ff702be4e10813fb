"""Read events from JSON, dictionaries and bytes into flat attributes with clean values.

Nested objects become dotted names, arrays make an attribute multi-valued, ``null`` and empty lists mean
absent. The names of attributes that were written as ``null`` are the values of the attribute ``$null``, which
distinguishes an explicit null from a missing attribute. JSON has no times, points or intervals, so three
tagged objects stand for them::

    {"$time": "2026-11-15T08:00:00Z"}
    {"$point": [9.52, 47.14]}            a GeoJSON Point object is read as one, too
    {"$interval": [10, 20]}              ends closed, null for no bound; or an object with
                                         low, high, low_open, high_open

An event that cannot be read raises a typed :class:`~tamis.errors.EventError`; callers that process batches
turn it into a refusal of that one event.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime
from typing import Any

import msgspec

from tamis.errors import EventError, EventLimit, EventSyntax, EventValue
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.values.foreign import is_array, means_absent
from tamis.values.jsontext import NOT_JSON, refusal_of, repeated_name, twice
from tamis.values.value import (
    Interval,
    Point,
    Value,
    clean_interval,
    clean_string,
    clean_value,
    format_time,
    parse_time,
    short,
)


class Event(msgspec.Struct, frozen=True):
    """An event: flat attributes, each a tuple of one or more values; weights default to 1."""

    attributes: dict[str, tuple[Value, ...]]
    id: str | None = None
    time: datetime | None = None
    weights: dict[str, float] = {}
    payload: Any = None


class FlatEvent(Event, frozen=True):
    """An event whose attributes are already flat and clean; they are not checked again."""


NULLS = "$null"  # its values are the names of attributes that were written as null

EventLike = Event | Mapping[str, Any]


def event_from(source: EventLike, limits: Limits = DEFAULT_LIMITS) -> Event:
    """Return ``source`` as an :class:`Event`."""
    if type(source) is FlatEvent:
        return source
    if isinstance(source, Event):
        check_fields(source)
        return msgspec.structs.replace(source, attributes=flatten(source.attributes, limits))
    if not isinstance(source, Mapping):
        raise EventSyntax(f"an event is an object with named attributes, not a {type(source).__name__}")
    return Event(flatten(source, limits))


def check_fields(event: Event) -> None:
    """Raise an error if the fields of an event have wrong types; its constructor does not check them."""
    for name, kind in (("attributes", Mapping), ("weights", Mapping)):
        if not isinstance(getattr(event, name), kind):
            raise EventSyntax(f"{name} of an event is a mapping, not {short(getattr(event, name))}")
    if event.id is not None and not isinstance(event.id, str):
        raise EventSyntax(f"the id of an event is a string, not {short(event.id)}")
    if event.time is not None and not isinstance(event.time, date):
        raise EventSyntax(f"the time of an event is a datetime, not {short(event.time)}")
    for name, weight in event.weights.items():
        if not _is_finite(weight):
            raise EventValue(f"the weight of {short(name)} must be a finite number, not {short(weight)}")


def _is_finite(number: Any) -> bool:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer that no float comes near
        return False


def flat_event(source: EventLike, limits: Limits = DEFAULT_LIMITS) -> FlatEvent:
    """Return ``source`` flattened and cleaned once for all later steps."""
    event = event_from(source, limits)
    return FlatEvent(event.attributes, event.id, event.time, event.weights, event.payload)


def decode_event(line: bytes | str, limits: Limits = DEFAULT_LIMITS) -> dict[str, Any]:
    """Return the JSON object in ``line``; check its size, encoding and repeated keys."""
    raw = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    if len(raw) > limits.event_bytes:
        raise EventLimit(
            f"the event has {len(raw)} bytes, more than event_bytes = {limits.event_bytes}",
            limit="event_bytes",
        )
    try:
        decoded = msgspec.json.decode(raw)
        name = repeated_name(raw, decoded)
    except NOT_JSON as bad:
        raise refusal_of(line, "the event", bad) from None
    if type(decoded) is not dict:
        raise EventSyntax(f"an event is a JSON object, not {type(decoded).__name__}")
    if name is not None:
        raise EventSyntax(twice(name))
    return decoded


def event_or_error(line: bytes | str, limits: Limits) -> Any:
    """Return the JSON object in ``line``, or the error: in a batch a bad event affects only itself."""
    try:
        return decode_event(line, limits)
    except EventError as bad:
        return bad


def flatten(source: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> dict[str, tuple[Value, ...]]:
    """Return dotted names with tuples of clean values, within the limits."""
    flat: dict[str, list[Value]] = {}
    nulls: dict[str, None] = {}
    stack: list[tuple[str, Any, int]] = [(name, value, 1) for name, value in reversed(list(source.items()))]
    count = 0
    while stack:
        name, value, depth = stack.pop()
        if value is None or (type(value) not in _USUAL and means_absent(value)):
            nulls[name] = None
            continue
        if depth > limits.event_depth:
            raise EventLimit(
                f"the event is nested deeper than event_depth = {limits.event_depth} at {name[:80]!r}",
                limit="event_depth",
                attribute=name,
            )
        if isinstance(value, Mapping):
            tagged = _tagged_at(name, value)
            if tagged is None:
                stack.extend(
                    (_below(name, key), item, depth + 1) for key, item in reversed(list(value.items()))
                )
                continue
            value = tagged
        elif isinstance(value, list | tuple | set | frozenset) or is_array(value):
            stack.extend((name, item, depth + 1) for item in reversed(list(value)))
            continue
        count += name != NULLS
        if count > limits.event_values:
            raise EventLimit(
                f"the event has more than event_values = {limits.event_values} values", limit="event_values"
            )
        flat.setdefault(clean_name(name, limits), []).append(_clean_at(name, value))
    if len(flat) - (NULLS in flat) > limits.event_attributes:
        raise EventLimit(
            f"the event has {len(flat)} attributes, more than event_attributes = {limits.event_attributes}",
            limit="event_attributes",
        )
    if nulls:
        flat.setdefault(NULLS, []).extend(_askable(nulls, limits))
    return {name: tuple(values) for name, values in flat.items() if values}


_USUAL = frozenset((str, int, float, bool, dict, list))  # most values; they skip the test for pandas' NA


def _below(name: Any, key: Any) -> str:
    """Return the dotted name of ``key`` in the object called ``name``."""
    if not isinstance(key, str):
        raise EventSyntax(f"an attribute's name is a string, not {short(key)} (in {short(name)})")
    return f"{name}.{key}"


def _askable(names: Iterable[Any], limits: Limits) -> Iterator[str]:
    """Yield the names that an expression can hold; other names are refused only if they have a value."""
    for name in names:
        with suppress(EventError):
            yield clean_name(name, limits)


def clean_name(name: Any, limits: Limits) -> str:
    """Return an attribute's name in NFC, within the limits."""
    if type(name) is not str:
        if not isinstance(name, str):
            raise EventSyntax(f"an attribute's name is a string, not {short(name)}")
        name = str.__str__(name)
    if (
        len(name) > limits.attribute_name_bytes
        or len(name.encode("utf-8", "replace")) > limits.attribute_name_bytes
    ):
        raise EventLimit(
            f"the attribute name {name[:40]!r}… is longer than attribute_name_bytes = "
            f"{limits.attribute_name_bytes}",
            limit="attribute_name_bytes",
        )
    return clean_string(name)


def _clean_at(name: str, value: Any) -> Value:
    try:
        return clean_value(value)
    except EventValue as bad:
        raise at_attribute(bad, name) from None


def _tagged_at(name: str, value: Mapping[str, Any]) -> Value | None:
    try:
        return tagged_value(value)
    except EventValue as bad:
        raise at_attribute(bad, name) from None


def at_attribute(bad: EventValue, name: str) -> EventValue:
    """Return the same error with the attribute that it concerns."""
    return EventValue(f"attribute {short(name)}: {bad.message}", attribute=name)


def tagged_value(tagged: Mapping[str, Any]) -> Value | None:
    """Return the time, point or interval that a tagged object stands for; ``None`` for a plain object."""
    if len(tagged) == 1:
        (key, body), *_ = tagged.items()
        reader = _TAGS.get(key)
        if reader is not None:
            try:
                return reader(body)
            except EventError:
                raise
            except (TypeError, ValueError, KeyError, OverflowError) as bad:
                raise EventValue(f"{key} cannot hold {short(body)}: {bad}") from None
    elif len(tagged) == 2 and tagged.get("type") == "Point" and "coordinates" in tagged:
        coordinates = tagged["coordinates"]
        has_altitude = isinstance(coordinates, list | tuple) and len(coordinates) == 3
        return _read_point(coordinates[:2] if has_altitude else coordinates)
    return None


def _read_time(body: Any) -> Value:
    return parse_time(body)


def _read_point(body: Any) -> Point:
    if not isinstance(body, list | tuple) or len(body) != 2:
        raise EventValue(f"a point is [longitude, latitude], not {short(body)}")
    return Point(*body)


def _read_interval(body: Any) -> Interval:
    opens: list[Any] = [False, False]
    if isinstance(body, Mapping):
        known = {"low", "high", "low_open", "high_open"}
        if unknown := set(body) - known:
            raise EventValue(
                f"an interval has no {min(map(str, unknown))!r}; it has {', '.join(sorted(known))}"
            )
        low, high = body.get("low"), body.get("high")
        opens = [body.get("low_open", False), body.get("high_open", False)]
    elif isinstance(body, list | tuple) and len(body) == 2:
        low, high = body
    else:
        raise EventValue(f"an interval is [low, high], with null for no bound, not {short(body)}")
    ends: list[Any] = [tagged_value(end) if isinstance(end, Mapping) else end for end in (low, high)]
    return clean_interval(Interval(*ends, *opens))


_TAGS = {"$time": _read_time, "$point": _read_point, "$interval": _read_interval}


def tagged(value: Value) -> Any:
    """Return ``value`` as JSON writes it; :func:`tagged_value` reads it back."""
    if isinstance(value, datetime):
        return {"$time": format_time(value)}
    if isinstance(value, Point):
        return {"$point": [value.lon, value.lat]}
    if not isinstance(value, Interval):
        return value
    low, high = (None if end is None else tagged(end) for end in (value.low, value.high))
    if not (value.low_open or value.high_open):
        return {"$interval": [low, high]}
    opens = {"low_open": value.low_open, "high_open": value.high_open}
    return {"$interval": {"low": low, "high": high, **opens}}
