"""Defines the columns of the stages' rows once: their names, and their types in Arrow and in Spark.

A :class:`Field` is a string, so it can be used wherever Spark or Arrow take the name of a column.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type

_STRING, _LONG, _INT, _DOUBLE = pa.string(), pa.int64(), pa.int32(), pa.float64()
_TIME = pa.timestamp("us", tz="UTC")


class Field(str):
    """The name of a column, with its type."""

    __slots__ = ("arrow",)
    arrow: pa.DataType

    def __new__(cls, name: str, arrow: pa.DataType) -> Field:  # noqa: D102
        field = super().__new__(cls, name)
        field.arrow = arrow
        return field

    def __getnewargs__(self) -> tuple[str, pa.DataType]:  # type: ignore[override]
        return str(self), self.arrow

    @property
    def spark(self) -> T.DataType:
        """The type in Spark."""
        return from_arrow_type(self.arrow)


class Columns(tuple[Field, ...]):
    """The columns of a stage's rows, in order."""

    __slots__ = ()

    def __new__(cls, *fields: Field) -> Columns:  # noqa: D102
        return super().__new__(cls, fields)

    def field(self, name: str) -> Field:
        """Return the column with this name."""
        return self[self.index(name)]

    @property
    def arrow(self) -> pa.Schema:
        """The schema in Arrow."""
        return pa.schema([(field, field.arrow) for field in self])

    @property
    def spark(self) -> T.StructType:
        """The schema in Spark."""
        return from_arrow_schema(self.arrow)


# -- events --------------------------------------------------------------------------------------------------

EVENT_ID = Field("event_id", _STRING)
EVENT_TIME = Field("event_time", _TIME)
PAYLOAD = Field("payload", _STRING)
ATTRIBUTES = "attributes"  # a struct, a map or text
CANONICAL = (EVENT_ID, EVENT_TIME, ATTRIBUTES, PAYLOAD)
ENVELOPE = Columns(EVENT_TIME, PAYLOAD)  # columns about an event that are none of its attributes

# -- subscriptions -------------------------------------------------------------------------------------------

ID = Field("id", _STRING)
EXPRESSION = Field("expression", _STRING)
PRIORITY = Field("priority", _DOUBLE)
VERSION = Field("version", _LONG)
SHARD = Field("shard", _INT)  # the shard that owns a subscription, or that an event goes to
MARK = Field("mark", _LONG)  # a hash of a subscription's columns
RECEIPT = Field("receipt", _STRING)  # a finished shard, as JSON

# -- matches -------------------------------------------------------------------------------------------------

SUBSCRIPTION_ID = Field("subscription_id", _STRING)
SCORE = Field("score", _DOUBLE)
NOTE = Field("note", _STRING)  # JSON about a refused event or about work; null in a match
CARRIED = "carried"  # a struct of columns of the events
SUBSCRIPTIONS = Field("subscriptions", pa.list_(_STRING))
VERSIONS = Field("versions", pa.list_(_LONG))
SCORES = Field("scores", pa.list_(_DOUBLE))

PAIRS = Columns(EVENT_ID, SUBSCRIPTION_ID, VERSION)
SCORED_PAIRS = Columns(*PAIRS, SCORE)
ARRAYS = Columns(EVENT_ID, SUBSCRIPTIONS, VERSIONS)
SCORED_ARRAYS = Columns(*ARRAYS, SCORES)
RESERVED = frozenset({*SCORED_PAIRS, *SCORED_ARRAYS, NOTE})  # names that carried columns cannot have
TO_DIGEST = Columns(*PAIRS, *ENVELOPE)

# -- quarantine ----------------------------------------------------------------------------------------------

CODE = Field("code", _STRING)
POSITION = Field("position", _INT)
MESSAGE = Field("message", _STRING)
TEXT = Field("text", _STRING)
FAULT = Columns(CODE, POSITION, MESSAGE, TEXT)
EVENT_FAULT = Columns(CODE, MESSAGE, TEXT)
REFUSED_EVENTS = Columns(EVENT_ID, *EVENT_FAULT)
REFUSED_SUBSCRIPTIONS = Columns(ID, *FAULT)

# -- digests -------------------------------------------------------------------------------------------------

START, END = Field("start", _LONG), Field("end", _LONG)  # of a tick, in microseconds
MATCHES = Field("matches", _LONG)
EVENTS = Field("events", _STRING)  # JSON
BATCH_TIME = Field("batch_time", _LONG)  # microseconds
TICKS = Columns(SUBSCRIPTION_ID, VERSION, START, END, MATCHES, EVENTS, BATCH_TIME)

# -- profiles ------------------------------------------------------------------------------------------------

KIND = Field("kind", _STRING)
NAME = Field("name", _STRING)
DRAW = Field("draw", _LONG)  # a random number of an event, for the sample
SAMPLED = "sample"  # the kind of rows that hold sampled events
DATA = Field("data", pa.binary())
PARTIAL = Columns(KIND, NAME, DATA)
