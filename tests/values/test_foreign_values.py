"""Test values of other types: read as docs/values.md says, or refused with code, place and remedy."""

from __future__ import annotations

import ipaddress
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tamis import Event, Index, Interval, Point
from tamis.errors import EventError, EventSyntax, EventValue
from tamis.values.event import event_from

MAY = datetime(2026, 5, 1, tzinfo=UTC)


class Colour(Enum):
    RED = "red"


class Label(str, Enum):  # noqa: UP042 - its str() differs from that of a StrEnum
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Word(StrEnum):
    RED = "red"


class Text(str):
    def __str__(self) -> str:
        return "not this"


class Whole(int):
    pass


class Real(float):
    pass


class Day(date):
    pass


class Moment(datetime):
    pass


UNDERSTOOD: list[tuple[Any, Any]] = [
    (Text("a"), "a"),
    (Whole(3), 3),
    (Real(1.5), 1.5),
    (Day(2026, 5, 1), MAY),
    (Moment(2026, 5, 1, tzinfo=UTC), MAY),
    (date(2026, 5, 1), MAY),
    (datetime(2026, 5, 1), MAY),
    (Colour.RED, "red"),
    (Label.RED, "red"),
    (Level.LOW, 1),
    (Word.RED, "red"),
    (np.int8(3), 3),
    (np.uint64(3), 3),
    (np.float32(1.5), 1.5),
    (np.float64(1.5), 1.5),
    (np.bool_(True), True),
    (np.str_("a"), "a"),
    (np.array(3), 3),
    (np.datetime64("2026-05-01"), MAY),
    (np.datetime64("2026-05-01T00:00:00.000000999", "ns"), MAY),
    (np.datetime64("2026-05", "M"), MAY),
    (np.datetime64("2026-05-01T00", "h"), MAY),
    (
        np.datetime64("1969-12-31T23:59:59.999999999", "ns"),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ),
    (pd.Timestamp("2026-05-01"), MAY),
    (pd.Timestamp("2026-05-01T02:00", tz="Europe/Berlin"), MAY),
    (pd.Timestamp("2026-05-01T00:00:00.000000999"), MAY),
    (pd.Interval(1, 2, closed="both"), Interval(1, 2)),
    (Decimal("0.1"), 0.1),
    (Decimal("9007199254740993"), 9007199254740993),
    (Decimal("1E+3"), 1000),
    (Decimal("-0"), 0),
    (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    (ipaddress.ip_address("10.0.0.1"), "10.0.0.1"),
    (ipaddress.ip_address("::1"), "::1"),
    (-0.0, 0.0),
    ({"$point": [1, 2]}, Point(1.0, 2.0)),
    ({"$point": [np.float32(1), Decimal("2")]}, Point(1.0, 2.0)),
    ({"type": "Point", "coordinates": [1, 2, 100]}, Point(1.0, 2.0)),
]

ABSENT: list[Any] = [None, pd.NA, pd.NaT, np.datetime64("NaT"), np.ma.masked, []]

REFUSED: list[Any] = [
    float("nan"),
    float("inf"),
    10**400,
    2**63,
    -(10**5000),
    Decimal("NaN"),
    Decimal("1e400"),
    "a\ud800",
    b"a",
    bytearray(b"a"),
    np.bytes_(b"a"),
    memoryview(b"a"),
    1 + 2j,
    Fraction(1, 3),
    time(1),
    timedelta(1),
    np.timedelta64(1, "s"),
    np.longdouble(1),
    np.datetime64(10**15, "Y"),
    pd.Timedelta(1),
    pd.Period("2026-05"),
    ipaddress.ip_interface("10.0.0.1/8"),
    ipaddress.ip_network("10.0.0.0/8"),
    object(),
    range(3),
    {"$point": [10**400, 0]},
    {"$point": "12"},
    {"$point": ["1_0", " 2 "]},
    {"$point": [True, False]},
    {"$point": [1, 2, 3, 4]},
    {"$point": [1]},
    {"$point": None},
    {"type": "Point", "coordinates": [1, 2, 3, 4]},
    {"$time": 5},
    {"$time": "yesterday"},
    {"$interval": "12"},
    {"$interval": [1, 2, 3]},
    {"$interval": [10**400, None]},
    {"$interval": {"low": 1, "low_open": "no"}},
    {"$interval": {"lowest": 1}},
    Interval(1, 2, low_open="yes"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("given", "meant"), UNDERSTOOD, ids=lambda value: repr(value)[:40])
def test_value_is_read_as_its_documented_meaning(given: Any, meant: Any) -> None:
    (found,) = event_from({"x": given}).attributes["x"]
    assert found == meant
    assert type(found) is type(meant)


@pytest.mark.parametrize("given", ABSENT, ids=repr)
def test_missing_value_leaves_the_attribute_absent(given: Any) -> None:
    assert "x" not in event_from({"x": given}).attributes
    assert "x" not in event_from({"x": [given]}).attributes
    index = Index.build({"null": "x IS NULL", "not": "x IS NOT NULL"})
    assert index.match({"x": given}) == ["null"]


@pytest.mark.parametrize("given", REFUSED, ids=range(len(REFUSED)))
def test_other_value_is_refused_with_its_attribute(given: Any) -> None:
    with pytest.raises(EventValue) as caught:
        event_from({"x": given})
    assert caught.value.details["attribute"] == "x"
    assert "'x'" in caught.value.message


@pytest.mark.parametrize(
    "given", [value for value, _ in UNDERSTOOD] + ABSENT + REFUSED, ids=lambda v: type(v).__name__
)
def test_engine_and_tree_read_a_value_alike(given: Any) -> None:
    """An index with a segment and one with only fresh subscriptions give the same answer or error."""
    book = {"has": "x IS NOT NULL", "day": "x >= DATE '2026-05-01'", "red": "x = 'red'", "one": "x = 1"}
    built, fresh = Index.build(book), Index.build({})
    for name, text in book.items():
        fresh.add(name, text)
    assert _outcome(built, given) == _outcome(fresh, given)


def _outcome(index: Index, value: Any) -> Any:
    many = index.match_many([{"x": value}])
    try:
        found: Any = sorted(index.match({"x": value}))
    except EventError as bad:
        found = bad.code
    batch = [one.code for one in many.refused] or sorted(many["subscription"].to_pylist())
    assert batch == ([found] if isinstance(found, str) else found)
    return found


def test_timestamp_matches_in_every_position() -> None:
    index = Index.build({"new": "created >= TIMESTAMP '2026-05-01'"})
    for moment in (pd.Timestamp("2026-05-02"), np.datetime64("2026-05-02", "ns"), Moment(2026, 5, 2)):
        assert index.match({"created": moment}) == ["new"]
        assert index.match({"created": [moment]}) == ["new"]
        assert index.match({"created": {"$interval": [moment, None]}}) == ["new"]
        assert index.top_k({"created": moment}) == [("new", 1.0)]
        assert index.explain("new", {"created": moment}).matched


def test_array_is_read_as_a_list() -> None:
    assert event_from({"x": np.array([1, 2])}).attributes["x"] == (1, 2)
    assert event_from({"x": np.array(["2026-05-01"], "M8[ns]")}).attributes["x"] == (MAY,)


@pytest.mark.parametrize("name", [1, None, ("a",), b"a"])
def test_name_that_is_no_string_is_refused_at_every_depth(name: Any) -> None:
    for event in ({name: 1}, {"a": {name: 1}}, {"a": {"b": [{name: 1}]}}):
        with pytest.raises(EventSyntax, match="name is a string"):
            event_from(event)


@pytest.mark.parametrize("weight", [10**400, float("nan"), "1", True, None])
def test_event_weight_that_is_no_finite_number_is_refused(weight: Any) -> None:
    event = Event({"x": (1,)}, weights={"x": weight})
    index = Index.build({"s": "x = 1"})
    with pytest.raises(EventValue, match="weight of 'x'"):
        index.top_k(event)
    assert [one.code for one in index.match_many([event, {"x": 1}]).refused] == ["event-value"]


@pytest.mark.parametrize("event", [Event(5), Event({}, id=5), Event({}, weights=[1])])  # type: ignore[arg-type]
def test_event_object_with_wrong_fields_is_refused(event: Event) -> None:
    with pytest.raises(EventSyntax):
        Index.build({"s": "x = 1"}).match(event)


class Broken:
    """An object that raises on every access."""

    @property
    def ndim(self) -> int:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_object_that_raises_is_refused_and_harms_only_its_event() -> None:
    index = Index.build({"s": "x = 1"})
    found = index.match_many([{"x": Broken()}, {"x": 1}])
    assert found.to_pydict() == {"event": [1], "subscription": ["s"]}
    assert [one.code for one in found.refused] == ["event-value"]
