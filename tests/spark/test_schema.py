"""The columns of stages have one definition: names, Arrow types and Spark types agree."""

import copy

import pyarrow as pa
import pytest
from pyspark.sql import types as T

from tamis.shards.build import QUARANTINE
from tamis.spark import schema
from tamis.spark.schema import Columns, Field
from tamis.spark.worker import MatchOptions
from tamis.store.outbox import MATCH, MATCH_MORE, REFUSED_EVENT

ALL = [value for value in vars(schema).values() if isinstance(value, Columns)]


def test_field_equals_its_name_and_has_a_type() -> None:
    field = Field("score", pa.float64())
    assert field == "score"
    assert {"score": 1}[field] == 1
    assert field.spark == T.DoubleType()


def test_field_keeps_its_type_when_it_is_copied() -> None:
    field = copy.copy(schema.SCORE)
    assert (field, field.arrow) == ("score", pa.float64())


@pytest.mark.parametrize("columns", ALL, ids=",".join)
def test_schemas_of_arrow_and_spark_agree(columns: Columns) -> None:
    assert columns.spark.names == columns.arrow.names == list(columns)
    assert [field.dataType for field in columns.spark] == [field.spark for field in columns]


def test_schemas_agree_with_shards_and_store() -> None:
    assert schema.REFUSED_SUBSCRIPTIONS.arrow == QUARANTINE
    assert dict(zip(schema.REFUSED_EVENTS, schema.REFUSED_EVENTS.arrow.types, strict=True)) == REFUSED_EVENT
    outbox = Columns(*schema.SCORED_PAIRS, *schema.ENVELOPE)
    assert dict(zip(outbox, outbox.arrow.types, strict=True)) == MATCH | MATCH_MORE


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("k", [None, 3])
def test_options_keep_the_order_of_carried_columns(k: int | None, arrays: bool) -> None:
    options = MatchOptions(k=k, arrays=arrays, carry=("payload", "event_time"))
    many = ("subscriptions", "versions", "scores") if arrays else ("subscription_id", "version", "score")
    expected = ["event_id", *many[: 3 if k else 2], "payload", "event_time", "note"]
    assert options.columns().arrow.names == expected
    carried = options.arrow_schema(pa.struct([("a", pa.int64())]))
    assert carried.names == [*expected[:-1], "carried", "note"]
