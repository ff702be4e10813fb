"""Define strange events as objects, JSON lines and tables, each with its expected outcome.

``wanted`` is the set of subscriptions that the event matches, or the codes of errors that may refuse it. A
form that cannot express a kind is ``None``; ``why`` says so.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from tests.entries.book import NOTHING

REFUSED = frozenset({"!event-value", "!event-syntax", "!event-limit", "!event-invalid", "!input-invalid"})
ONE = frozenset({"one", "has", "always"})
TEXT = frozenset({"text", "not-one", "has", "always"})
DAY = frozenset({"day", "not-one", "has", "always"})
ZERO = frozenset({"zero", "not-one", "has", "always"})
OTHER = frozenset({"not-one", "has", "always"})


class Text(str):
    """A subclass of ``str``."""


class Letter(Enum):
    """An enumeration."""

    A = "a"


class Kind(NamedTuple):
    """A kind of strange event in up to three forms, and the expected outcome of each."""

    name: str
    wanted: frozenset[str]
    object: Callable[[], Any] | None = None
    line: bytes | None = None
    table: Callable[[], pa.Table] | None = None
    wanted_table: frozenset[str] | None = None  # where a table has another meaning
    why: str = ""

    def expected(self, form: str) -> frozenset[str]:
        """Return the expected outcome in a form."""
        return self.wanted_table if form == "table" and self.wanted_table is not None else self.wanted


def _x(value: Any) -> Callable[[], dict[str, Any]]:
    return lambda: {"x": value}


def _column(values: Any, kind: Any = None) -> Callable[[], pa.Table]:
    return lambda: pa.table({"x": pa.array(values, kind)})


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"y": value}
    return value


def _bad_utf8() -> pa.Table:
    raw = pa.py_buffer(b"\xff\xfe")
    offsets = pa.py_buffer(np.array([0, 2], np.int32).tobytes())
    return pa.table({"x": pa.Array.from_buffers(pa.string(), 1, [None, offsets, raw])})


_NO_JSON = "JSON has no such value"
_NO_COLUMN = "no Arrow column holds such a value"

KINDS = (
    Kind("plain", ONE, _x(1), b'{"x": 1}', _column([1])),
    Kind("unknown value type", REFUSED, _x(object()), None, _column([b"a"], pa.binary()), why=_NO_JSON),
    Kind("bytes", REFUSED, _x(b"a"), None, _column([b"a"]), why=_NO_JSON),
    Kind("duration", REFUSED, _x(pd.Timedelta(1, "s")), None, _column([1], pa.duration("s")), why=_NO_JSON),
    Kind("subclass of str", TEXT, _x(Text("a")), None, None, why=f"{_NO_JSON}; {_NO_COLUMN}"),
    Kind("enumeration", TEXT, _x(Letter.A), None, None, why=f"{_NO_JSON}; {_NO_COLUMN}"),
    Kind(
        "pandas time",
        DAY,
        _x(pd.Timestamp("2026-05-01")),
        b'{"x": {"$time": "2026-05-01T00:00:00Z"}}',
        _column([0], pa.timestamp("ns")),
        wanted_table=OTHER,
    ),
    Kind("NumPy time", DAY, _x(np.datetime64("2026-05-01", "ns")), None, None, why="as the pandas time"),
    Kind("date", DAY, _x(date(2026, 5, 1)), b'{"x": {"$time": "2026-05-01"}}', _column([date(2026, 5, 1)])),
    Kind("NumPy scalar", ONE, _x(np.int8(1)), None, _column([1], pa.int8()), why=_NO_JSON),
    Kind("decimal", ONE, _x(Decimal("1.0")), b'{"x": 1.0}', _column([Decimal("1.0")])),
    Kind("UUID", OTHER, _x(uuid.UUID(int=1)), None, _column([uuid.UUID(int=1)], pa.uuid()), why=_NO_JSON),
    Kind("NaN", REFUSED, _x(float("nan")), b'{"x": NaN}', _column([float("nan")])),
    Kind("infinity", REFUSED, _x(float("inf")), b'{"x": Infinity}', _column([float("inf")])),
    Kind("number beyond floats", REFUSED, _x(Decimal("1e400")), b'{"x": 1e400}', None, why=_NO_COLUMN),
    Kind("null", NOTHING, _x(None), b'{"x": null}', _column([None], pa.int64())),
    Kind("pandas NA", NOTHING, _x(pd.NA), None, None, why="as null"),
    Kind("NaT", NOTHING, _x(pd.NaT), None, _column([None], pa.timestamp("us")), why=_NO_JSON),
    Kind("empty object", NOTHING, dict, b"{}", lambda: pa.table({"z": pa.nulls(1)})),
    Kind("empty list", NOTHING, _x([]), b'{"x": []}', _column([[]], pa.list_(pa.int64()))),
    Kind("empty string", OTHER, _x(""), b'{"x": ""}', _column([""])),
    Kind("not an object", REFUSED, lambda: 5, b"5", None, why="a table has columns"),
    Kind("a list for an object", REFUSED, lambda: ["x"], b'["x"]', None, why="a table has columns"),
    Kind("broken JSON", REFUSED, None, b'{"x": ', None, why="only text is broken"),
    Kind(
        "repeated name",
        REFUSED,
        None,
        b'{"x": 1, "x": 2}',
        lambda: pa.table([pa.array([1]), pa.array([2])], ["x", "x"]),
        wanted_table=ONE,
        why="a dictionary has a name once",
    ),
    Kind("name that is no string", REFUSED, lambda: {1: 1}, None, None, why=f"{_NO_JSON}; {_NO_COLUMN}"),
    Kind(
        "oversized name",
        REFUSED,
        lambda: {"n" * 5_000: 1},
        b'{"' + b"n" * 5_000 + b'": 1}',
        lambda: pa.table({"n" * 5_000: [1]}),
    ),
    Kind(
        "oversized event",
        REFUSED,
        lambda: {f"a{at}": at for at in range(5_000)},
        b'{"x": "' + b"a" * 300_000 + b'"}',
        lambda: pa.table({f"a{at}": [at] for at in range(5_000)}),
    ),
    Kind("invalid UTF-8", REFUSED, _x("\ud800"), b'{"x": "\xff"}', _bad_utf8),
    Kind("lone surrogate", REFUSED, _x("a\udc80"), b'{"x": "\\ud800"}', None, why=_NO_COLUMN),
    Kind(
        "deep nesting",
        REFUSED,
        lambda: {"x": _nested(200)},
        b'{"x": ' + b'{"y": ' * 200 + b"1" + b"}" * 201,
        lambda: pa.table({"x": pa.array([_nested(200)])}),
    ),
    Kind(
        "deeper than any stack",
        REFUSED,
        lambda: {"x": _nested(50_000)},
        b'{"x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        None,
        why="pyarrow cannot make such a column",
    ),
    Kind(
        "time without a zone",
        DAY,
        _x(datetime(2026, 5, 1)),
        b'{"x": {"$time": "2026-05-01T00:00:00"}}',
        _column([datetime(2026, 5, 1)]),
    ),
    Kind(
        "time outside the calendar",
        REFUSED,
        _x(np.datetime64(10**9, "Y")),
        b'{"x": {"$time": "10000-01-01"}}',
        _column([2**62], pa.timestamp("s")),
    ),
    Kind(
        "huge integer",
        REFUSED,
        _x(10**400),
        b'{"x": 1' + b"0" * 400 + b"}",
        _column([2**64 - 1], pa.uint64()),
    ),
    Kind(
        "huge coordinate",
        REFUSED,
        _x({"$point": [10**400, 0]}),
        b'{"x": {"$point": [1' + b"0" * 400 + b", 0]}}",
        _column([{"lon": 1e300, "lat": 0.0}]),
    ),
    Kind(
        "text for a point",
        REFUSED,
        _x({"$point": "12"}),
        b'{"x": {"$point": "12"}}',
        _column([{"$point": "12"}]),
    ),
    Kind("negative zero", ZERO, _x(-0.0), b'{"x": -0.0}', _column([-0.0])),
    Kind(
        "mixed types in a column",
        frozenset({"one", "text", "has", "always"}),
        _x([1, "a"]),
        b'{"x": [1, "a"]}',
        None,
        why="an Arrow column has one type",
    ),
    Kind(
        "dictionary-encoded column",
        TEXT,
        None,
        None,
        lambda: pa.table({"x": pa.array(["a"]).dictionary_encode()}),
        why="only a table has columns",
    ),
    Kind(
        "sliced array",
        TEXT,
        None,
        None,
        lambda: pa.table({"x": pa.array(["q", "a", "q"])}).slice(1, 1),
        why="only a table has columns",
    ),
    Kind(
        "several chunks",
        TEXT,
        None,
        None,
        lambda: pa.table({"x": pa.chunked_array([[], ["a"]], pa.string())}),
        why="only a table has columns",
    ),
    Kind("string view", TEXT, None, None, _column(["a"], pa.string_view()), why="only a table has columns"),
    Kind(
        "nested object",
        frozenset({"deep", "none", "always"}),
        _x({"y": 1}),
        b'{"x": {"y": 1}}',
        _column([{"y": 1}]),
    ),
)
