"""Subscriptions from files, DataFrames and the store: the good rows, and the quarantine of the others.

Rows are (id, expression) with optional ``priority`` (or ``weight``), ``version``, ``owner``, ``schedule`` and
whatever else, or the library's bulk columns (id, attribute, operator, operands …) without an expression.
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
from tamis.spark.checked import CORRUPT, REFUSED_SUBSCRIPTIONS, check_bulk, check_texts
from tamis.spark.events import column
from tamis.spark.session import session
from tamis.spark.workers import ready

Batches = Iterator[pa.RecordBatch]
_VERDICT = ("code", "position", "message", "text")
_KINDS = {
    ".parquet": "parquet", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv", ".orc": "orc",
}  # fmt: skip


class Subscriptions(NamedTuple):
    """Subscriptions and the rows that cannot be any.

    ``rows`` are all of them under the names of the contract, unchecked: for stages that check themselves.
    """

    valid: DataFrame
    quarantine: DataFrame
    rows: DataFrame


def subscriptions(
    source: str | Path | DataFrame,
    *,
    spark: SparkSession | None = None,
    id: str = "id",
    expression: str = "expression",
    priority: str | None = None,
    format: str | None = None,
    options: Mapping[str, str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Subscriptions:
    """Read and check subscriptions.

    ``source`` is a DataFrame, a path (Parquet, JSON lines or CSV by its ending or ``format``; ``options`` go
    to Spark's reader) or a store's URL. ``id``, ``expression`` and ``priority`` name its columns. Of several
    good rows with one id the one with the highest version is kept, then the first by its text.
    """
    frame = source if isinstance(source, DataFrame) else _read(
        str(source), spark or session(), (id, expression, priority), format, options or {}
    )  # fmt: skip
    if frame.isStreaming:
        raise InputError("subscriptions are read as a batch, not as a stream; changes come from the store")
    named = _named(frame, {"id": id, "expression": expression, "priority": priority})
    if "expression" not in named.columns:
        return _checked_bulk(named, limits)
    return _checked_texts(_with_numbers(named), limits)


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
        _ = frame.columns  # Spark Connect looks only now
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
    """What is read of a line; said beforehand, so that one odd line does not change the others' types."""
    numbers = ("priority", "weight") if names[2] is None else ()
    known = dict.fromkeys((*names, *numbers, "version", "owner", "schedule", CORRUPT))
    return T.StructType([T.StructField(name, T.StringType()) for name in known if name])


def _json(frame: DataFrame) -> DataFrame:
    """Return both names of a priority are read, for nobody knows beforehand which of them the lines use."""
    if "weight" not in frame.columns:
        return frame
    return frame.withColumn("priority", F.coalesce("priority", "weight")).drop("weight")


def _csv(spark: SparkSession, source: str, options: Mapping[str, str]) -> DataFrame:
    """Return all columns as text, quoted quotes doubled, torn rows kept for the quarantine."""
    reader = spark.read.options(**{"header": "true", "escape": '"'} | dict(options))
    names = reader.csv(source).columns
    schema = T.StructType([T.StructField(name, T.StringType()) for name in (*names, CORRUPT)])
    return reader.option("columnNameOfCorruptRecord", CORRUPT).schema(schema).csv(source)


def _named(frame: DataFrame, wanted: Mapping[str, str | None]) -> DataFrame:
    """``frame`` with the contract's names for its columns."""
    columns = frame.columns
    if wanted["id"] not in columns:
        raise _missing(columns, "id", wanted["id"])
    bulk = {"attribute", "operator"} <= set(columns)
    if wanted["expression"] not in columns and not bulk:
        raise _missing(columns, "expression", wanted["expression"])
    if wanted["priority"] is not None and wanted["priority"] not in columns:
        raise _missing(columns, "priority", wanted["priority"])
    names = {name: role for role, name in wanted.items() if name in columns}
    if "priority" not in (*columns, *names.values()) and "weight" in columns and not bulk:
        names["weight"] = "priority"
    check_names(columns, bulk)
    check_id_type(frame, str(wanted["id"]))
    clash = sorted(role for name, role in names.items() if role != name and role in columns)
    if clash:
        raise InputError(f"another column is called {clash[0]!r} already; drop or rename it", column=clash[0])
    return frame.select(*[column(name).alias(names.get(name, name)) for name in columns])


def check_names(columns: list[str], bulk: bool) -> None:
    """Refuse a column that looks like a misspelt optional one; other columns are carried along."""
    known = (
        BULK_FIELDS if bulk else ("id", "expression", "priority", "weight", "version", "owner", "schedule")
    )
    for name in columns:
        near = [] if name in known else get_close_matches(name.lower(), set(known) - set(columns), 1, 0.8)
        if near:
            raise InputError(
                f"the column {name!r} of the subscriptions looks misspelt; did you mean {near[0]!r}? "
                "Rename or drop it",
                column=name,
            )


def check_number_type(frame: DataFrame, name: str) -> None:
    """Refuse a priority or version that is neither a number nor text: TRUE would silently become 1."""
    kind = frame.schema[name].dataType
    if not isinstance(kind, T.NumericType | T.StringType | T.NullType):
        raise InputError(f"the column {name!r} is {kind.simpleString()}, not a number", column=name)


def check_id_type(frame: DataFrame, name: str) -> None:
    """Refuse ids that are not text: 7 would silently become '7'."""
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
        + (", or give the bulk columns attribute and operator" if role == "expression" else ""),
        column=name,
    )


_UNUSABLE = {"priority": float("nan"), "version": -1}  # what no stage takes for a number that was meant
_TYPES = {"priority": "double", "version": "bigint"}


def _with_numbers(frame: DataFrame) -> DataFrame:
    """Texts as strings; priority and version as numbers, with what was written kept beside them."""
    others = [name for name in frame.columns if name not in ("id", "expression", *_TYPES)]
    columns: list[Column] = [column(name).cast("string").alias(name) for name in ("id", "expression")]
    for name in _TYPES:
        if name in frame.columns:
            written = F.nullif(F.trim(column(name).cast("string")), F.lit(""))
            columns += [_number(frame, name, written).alias(name), written.alias(f"_{name}")]
    return frame.select(*columns, *[column(name) for name in others])


def _number(frame: DataFrame, name: str, written: Column) -> Column:
    """Return the number that is written, 0 if there is none."""
    check_number_type(frame, name)
    number = F.coalesce(written.try_cast(_TYPES[name]), F.lit(_UNUSABLE[name]).cast(_TYPES[name]))
    return F.when(written.isNull(), F.lit(0).cast(_TYPES[name])).otherwise(number)


def _checked_texts(frame: DataFrame, limits: Limits) -> Subscriptions:
    plain = frame.select([column(name) for name in frame.columns if not name.startswith("_")])
    clash = sorted({*_VERDICT} & {*plain.columns})
    if clash:
        raise InputError(
            f"a column of subscriptions cannot be called {clash[0]!r}; rename it", column=clash[0]
        )
    schema = T.StructType(
        [
            *[T.StructField(field.name, field.dataType) for field in plain.schema],
            *[
                T.StructField(name, T.IntegerType() if name == "position" else T.StringType())
                for name in _VERDICT
            ],
        ]
    )

    def check(batches: Batches) -> Batches:
        return check_texts(batches, limits)

    ready(frame.sparkSession)
    judged = _without_repeats(frame.mapInArrow(check, schema))
    valid = judged.where("code is null").select([column(name) for name in plain.columns])
    quarantine = judged.where("code is not null").select("id", *_VERDICT)
    return Subscriptions(valid, quarantine, plain)


def _without_repeats(judged: DataFrame) -> DataFrame:
    """Of the good rows of one id all but one get the verdict of a duplicate.

    Bad rows take no part; they are spread by their text, since many may share an id that is null.
    """
    key = F.when(F.col("code").isNull(), F.col("id")).otherwise(F.xxhash64("id", "text").cast("string"))
    order = [F.col("code").isNotNull()]
    order += [F.col("version").desc()] if "version" in judged.columns else []
    order += [F.col("expression")]
    order += [F.col("priority").desc()] if "priority" in judged.columns else []
    place = F.row_number().over(Window.partitionBy(key).orderBy(*order))
    repeated = F.col("code").isNull() & (place > 1)
    return judged.withColumn("_again", repeated).select(
        *[column(name) for name in judged.columns if name not in _VERDICT],
        F.when(F.col("_again"), "subscription-duplicate").otherwise(F.col("code")).alias("code"),
        "position",
        F.when(F.col("_again"), F.concat(F.lit("the id '"), F.left("id", F.lit(80)), F.lit("' stands twice")))
        .otherwise(F.col("message")).alias("message"),
        F.when(F.col("_again"), F.col("expression")).otherwise(F.col("text")).alias("text"),
    )  # fmt: skip


def _checked_bulk(frame: DataFrame, limits: Limits) -> Subscriptions:
    """Return the rows of an id form one conjunction, so they are brought together first."""

    def check(wanted: str) -> Any:
        return lambda batches: check_bulk(batches, limits, wanted)

    rows = frame.withColumn("id", F.col("id").cast("string"))
    columns_from_arrow(to_arrow_schema(rows.schema).empty_table(), limits)  # wrong types are said here
    ready(frame.sparkSession)
    together = rows.repartition(F.col("id")).sortWithinPartitions("id")
    return Subscriptions(
        together.mapInArrow(check("good"), rows.schema),
        together.mapInArrow(check("bad"), REFUSED_SUBSCRIPTIONS),
        rows,
    )
