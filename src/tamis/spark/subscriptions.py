"""Reads subscriptions from files, DataFrames and the store: the good rows, and the quarantine of the others.

Rows are (id, expression) with optional ``priority`` (or ``weight``), ``version``, ``owner``, ``schedule`` and
any other columns, or the library's bulk columns (id, attribute, operator, operands …) without an expression.
A bad row never fails the job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from tamis.columns import columns_from_arrow
from tamis.errors import InputError
from tamis.index.fields import BULK_FIELDS
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.spark.events import column
from tamis.spark.schema import (
    CODE,
    EXPRESSION,
    FAULT,
    ID,
    MESSAGE,
    POSITION,
    PRIORITY,
    REFUSED_SUBSCRIPTIONS,
    TEXT,
    VERSION,
    Field,
)
from tamis.spark.session import session
from tamis.spark.subscription_checks import CORRUPT, Rules, check_bulk, check_texts
from tamis.spark.workers import ready
from tamis.values.analysis import clean_analysers, shown

Batches = Iterator[pa.RecordBatch]
_KINDS = {
    ".parquet": "parquet", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv", ".orc": "orc",
}  # fmt: skip


class Subscriptions(NamedTuple):
    """Valid subscriptions and refused rows.

    ``rows`` are all rows under the standard column names, unchecked, for stages that check them.
    """

    valid: DataFrame
    quarantine: DataFrame
    rows: DataFrame


def subscriptions(
    source: str | Path | DataFrame,
    *,
    spark: SparkSession | None = None,
    id: str = ID,
    expression: str = EXPRESSION,
    priority: str | None = None,
    format: str | None = None,
    options: Mapping[str, str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    analysers: Mapping[str, Any] | None = None,
) -> Subscriptions:
    """Read and check subscriptions.

    ``source`` is a DataFrame, a path (Parquet, JSON lines or CSV by its ending or ``format``; ``options`` go
    to Spark's reader) or a store's URL. ``id``, ``expression`` and ``priority`` name its columns. Of several
    good rows with one id, the one with the highest version is kept, then the first by its text. ``analysers``
    are those of the index that is built of them.
    """
    declared = {attribute: shown(name) for attribute, name in clean_analysers(analysers).items()}
    rules = Rules(limits, declared)
    frame = source if isinstance(source, DataFrame) else _read(
        str(source), spark or session(), (id, expression, priority), format, options or {}
    )  # fmt: skip
    if frame.isStreaming:
        raise InputError("subscriptions are read as a batch, not as a stream; changes come from the store")
    named = _named(frame, {ID: id, EXPRESSION: expression, PRIORITY: priority})
    if EXPRESSION not in named.columns:
        return _checked_bulk(named, rules)
    return _checked_texts(_with_numbers(named), rules)


def _read(
    source: str,
    spark: SparkSession,
    names: tuple[str, str, str | None],
    format: str | None,
    options: Mapping[str, str],
) -> DataFrame:
    if format is None and source.split(":")[0].split("+")[0] in ("sqlite", "postgresql"):
        return spark.read.format("tamis").options(store=source, **options).load()
    kind = format or _kind(source)
    reader = spark.read.options(**options)
    try:
        if kind == "json":
            return _json(reader.schema(_json_schema(names)).json(source))
        if kind == "csv":
            return _csv(spark, source, options)
        frame = reader.format(kind).load(source)
        _ = frame.columns  # Spark Connect checks only now
    except AnalysisException as bad:
        raise InputError(f"{source} cannot be read as {kind}: {str(bad).splitlines()[0]}") from None
    return frame


def _kind(source: str) -> str:
    name = source.rstrip("/").rsplit("/", 1)[-1].lower().removesuffix(".gz")
    ending = Path(name).suffix
    if ending and ending not in _KINDS:
        raise InputError(
            f"{source}: subscriptions are read from {', '.join(_KINDS)}; name another of Spark's formats with"
            " format=…"
        )
    return _KINDS.get(ending, "parquet")


def _json_schema(names: tuple[str, str, str | None]) -> T.StructType:
    """Return the schema of a line; it is fixed, so that one odd line does not change the others' types."""
    numbers = (PRIORITY, "weight") if names[2] is None else ()
    known = dict.fromkeys((*names, *numbers, VERSION, "owner", "schedule", CORRUPT))
    return T.StructType([T.StructField(name, T.StringType()) for name in known if name])


def _json(frame: DataFrame) -> DataFrame:
    """Return ``priority`` or ``weight`` as the priority, since lines may use either name."""
    if "weight" not in frame.columns:
        return frame
    return frame.withColumn(PRIORITY, F.coalesce(PRIORITY, "weight")).drop("weight")


def _csv(spark: SparkSession, source: str, options: Mapping[str, str]) -> DataFrame:
    """Return all columns as text, quoted quotes doubled, torn rows kept for the quarantine."""
    reader = spark.read.options(**{"header": "true", "escape": '"'} | dict(options))
    names = reader.csv(source).columns
    schema = T.StructType([T.StructField(name, T.StringType()) for name in (*names, CORRUPT)])
    return reader.option("columnNameOfCorruptRecord", CORRUPT).schema(schema).csv(source)


def _named(frame: DataFrame, wanted: Mapping[str, str | None]) -> DataFrame:
    """Return ``frame`` with the standard column names."""
    columns = frame.columns
    if wanted[ID] not in columns:
        raise _missing(columns, ID, wanted[ID])
    bulk = {"attribute", "operator"} <= set(columns)
    if wanted[EXPRESSION] not in columns and not bulk:
        raise _missing(columns, EXPRESSION, wanted[EXPRESSION])
    if wanted[PRIORITY] is not None and wanted[PRIORITY] not in columns:
        raise _missing(columns, PRIORITY, wanted[PRIORITY])
    names = {name: role for role, name in wanted.items() if name in columns}
    if PRIORITY not in (*columns, *names.values()) and "weight" in columns and not bulk:
        names["weight"] = PRIORITY
    check_names(columns, bulk)
    check_id_type(frame, str(wanted[ID]))
    clash = sorted(role for name, role in names.items() if role != name and role in columns)
    if clash:
        raise InputError(f"another column is called {clash[0]!r} already; drop or rename it", column=clash[0])
    return frame.select(*[column(name).alias(names.get(name, name)) for name in columns])


def check_names(columns: list[str], bulk: bool) -> None:
    """Raise ``InputError`` for a column that looks like a misspelt optional one; other columns are kept."""
    known = BULK_FIELDS if bulk else (ID, EXPRESSION, PRIORITY, "weight", VERSION, "owner", "schedule")
    for name in columns:
        near = [] if name in known else get_close_matches(name.lower(), set(known) - set(columns), 1, 0.8)
        if near:
            raise InputError(
                f"the column {name!r} of the subscriptions looks misspelt; did you mean {near[0]!r}? "
                "Rename or drop it",
                column=name,
            )


def check_number_type(frame: DataFrame, name: str) -> None:
    """Raise ``InputError`` for a priority or version of another type than number or text: TRUE would be 1."""
    kind = frame.schema[name].dataType
    if not isinstance(kind, T.NumericType | T.StringType | T.NullType):
        raise InputError(f"the column {name!r} is {kind.simpleString()}, not a number", column=name)


def check_id_type(frame: DataFrame, name: str) -> None:
    """Raise ``InputError`` for ids that are not text: 7 would silently become '7'."""
    kind = frame.schema[name].dataType
    if not isinstance(kind, T.StringType | T.NullType):
        raise InputError(
            f"the column {name!r} is {kind.simpleString()}, but ids are text; "
            f"cast it first: .withColumn({name!r}, F.col({name!r}).cast('string'))",
            column=name,
        )


def _missing(columns: list[str], role: str, name: str | None) -> InputError:
    return InputError(
        f"subscriptions need a column {name!r} (there are: {', '.join(columns)}); name it with {role}=…"
        + (", or give the bulk columns attribute and operator" if role == EXPRESSION else ""),
        column=name,
    )


_UNUSABLE = {PRIORITY: float("nan"), VERSION: -1}  # values that every stage refuses as a number
_NUMBERS = (PRIORITY, VERSION)


def _with_numbers(frame: DataFrame) -> DataFrame:
    """Return texts as strings, and priority and version as numbers beside their original text."""
    others = [name for name in frame.columns if name not in (ID, EXPRESSION, *_NUMBERS)]
    columns: list[Column] = [column(name).cast("string").alias(name) for name in (ID, EXPRESSION)]
    for name in _NUMBERS:
        if name in frame.columns:
            written = F.nullif(F.trim(column(name).cast("string")), F.lit(""))
            columns += [_number(frame, name, written).alias(name), written.alias(f"_{name}")]
    return frame.select(*columns, *[column(name) for name in others])


def _number(frame: DataFrame, name: Field, written: Column) -> Column:
    """Return the written number, or 0 if there is none."""
    check_number_type(frame, name)
    number = F.coalesce(written.try_cast(name.spark), F.lit(_UNUSABLE[name]).cast(name.spark))
    return F.when(written.isNull(), F.lit(0).cast(name.spark)).otherwise(number)


def _checked_texts(frame: DataFrame, rules: Rules) -> Subscriptions:
    plain = frame.select([column(name) for name in frame.columns if not name.startswith("_")])
    clash = sorted({*FAULT} & {*plain.columns})
    if clash:
        raise InputError(
            f"a column of subscriptions cannot be called {clash[0]!r}; rename it", column=clash[0]
        )
    schema = T.StructType(
        [
            *[T.StructField(field.name, field.dataType) for field in plain.schema],
            *FAULT.spark.fields,
        ]
    )

    def check(batches: Batches) -> Batches:
        return check_texts(batches, rules)

    ready(frame.sparkSession)
    judged = _without_repeats(frame.mapInArrow(check, schema))
    valid = judged.where(F.col(CODE).isNull()).select([column(name) for name in plain.columns])
    quarantine = judged.where(F.col(CODE).isNotNull()).select(*REFUSED_SUBSCRIPTIONS)
    return Subscriptions(valid, quarantine, plain)


def _without_repeats(judged: DataFrame) -> DataFrame:
    """Mark all but one of the good rows of an id as duplicates.

    Bad rows do not take part; they are distributed by their text, since many may share a null id.
    """
    key = F.when(F.col(CODE).isNull(), F.col(ID)).otherwise(F.xxhash64(ID, TEXT).cast("string"))
    order = [F.col(CODE).isNotNull()]
    order += [F.col(VERSION).desc()] if VERSION in judged.columns else []
    order += [F.col(EXPRESSION)]
    order += [F.col(PRIORITY).desc()] if PRIORITY in judged.columns else []
    place = F.row_number().over(Window.partitionBy(key).orderBy(*order))
    repeated = F.col(CODE).isNull() & (place > 1)
    return judged.withColumn("_again", repeated).select(
        *[column(name) for name in judged.columns if name not in FAULT],
        F.when(F.col("_again"), "subscription-duplicate").otherwise(F.col(CODE)).alias(CODE),
        POSITION,
        F.when(F.col("_again"), F.concat(F.lit("the id '"), F.left(ID, F.lit(80)), F.lit("' stands twice")))
        .otherwise(F.col(MESSAGE)).alias(MESSAGE),
        F.when(F.col("_again"), F.col(EXPRESSION)).otherwise(F.col(TEXT)).alias(TEXT),
    )  # fmt: skip


def _checked_bulk(frame: DataFrame, rules: Rules) -> Subscriptions:
    """Check bulk rows; the rows of an id form one conjunction, so they are brought together first."""

    def check(wanted: str) -> Any:
        return lambda batches: check_bulk(batches, rules, wanted)

    rows = frame.withColumn(ID, F.col(ID).cast(ID.spark))
    columns_from_arrow(to_arrow_schema(rows.schema).empty_table(), rules.limits)  # reports wrong types now
    ready(frame.sparkSession)
    together = rows.repartition(F.col(ID)).sortWithinPartitions(ID)
    return Subscriptions(
        together.mapInArrow(check("good"), rows.schema),
        together.mapInArrow(check("bad"), REFUSED_SUBSCRIPTIONS.spark),
        rows,
    )
