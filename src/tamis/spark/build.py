"""``build``: builds a sharded index of subscriptions in parallel, and commits it with one manifest.

Rows go to the shard that owns their token. A task builds its shard, stores it and writes a receipt; when all
are done the driver commits. Shards without changed rows are kept, and in the others only the changed rows are
read. An interrupted build finds the receipts of the finished shards and continues with the others.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tamis.contract.token import TOKENS
from tamis.engines.engines import engine_class
from tamis.errors import IndexConflict, InputError
from tamis.failpoint import failpoint
from tamis.index.manifest import changed_limits, limits_of
from tamis.index.samples import KeptSample
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.shards import receipts
from tamis.shards.build import BuildContext, build_shard
from tamis.shards.collect import collect
from tamis.shards.location import Location
from tamis.shards.manifest import Manifest, Settings, Shard, commit, latest
from tamis.shards.shard_files import write_sample
from tamis.spark.events import column
from tamis.spark.profiling import Profile
from tamis.spark.schema import (
    EXPRESSION,
    ID,
    MARK,
    PRIORITY,
    RECEIPT,
    REFUSED_SUBSCRIPTIONS,
    SHARD,
    VERSION,
    Columns,
)
from tamis.spark.subscriptions import check_id_type, check_names, check_number_type
from tamis.spark.workers import ready
from tamis.values.analysis import clean_analysers, shown

PER_SHARD = 1_000_000
ATTEMPTS = 5

_TEXT = (ID, EXPRESSION, PRIORITY, VERSION)
_BULK = (
    ID, "attribute", "operator", "value", "values", "number", "string", "time", "boolean", "weight", PRIORITY,
    VERSION,
)  # fmt: skip

_TYPED = Columns(ID, PRIORITY, VERSION)

Progress = Callable[[int, int | None], None]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Build:
    """The result of a build."""

    path: str
    manifest: Manifest
    built: int  # shards that were built; the others were kept
    seconds: float
    spark: SparkSession

    @property
    def subscriptions(self) -> int:
        """The number of subscriptions in force."""
        return self.manifest.subscriptions

    @property
    def refused(self) -> int:
        """The number of refused rows."""
        return sum(shard.refused for shard in self.manifest.shards)

    @property
    def quarantine(self) -> DataFrame:
        """The refused rows: id, code, position, message, text."""
        return quarantine(self.spark, self.path, self.manifest)


def build(
    subscriptions: DataFrame,
    path: str,
    *,
    shards: int | None = None,
    engine: str = "hybrid",
    parameters: Mapping[str, Any] | None = None,
    profile: str | Profile | None = None,
    analysers: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    incremental: bool = True,
    applied: int = 0,
    progress: Progress | None = None,
) -> Build:
    """Index all of ``subscriptions`` at ``path``; an existing version stays until the new one is complete.

    ``path`` is a path on any file system that pyarrow supports. ``profile`` is a profile from
    :func:`tamis.spark.profile`, or its path. ``analysers`` are those of ``Index.build``. ``applied`` is the
    last change of a store's log that the rows include. With ``incremental=False`` everything is rebuilt.
    """
    start = time.perf_counter()
    engine_class(engine)
    ready(subscriptions.sparkSession)
    location = Location(path)
    rows = _known_columns(subscriptions)
    before = latest(location)
    count = shards or _shards_for(rows, before)
    if not 1 <= count <= TOKENS:
        raise InputError(f"an index has from 1 to {TOKENS} shards, not {count}")
    declared = {attribute: shown(name) for attribute, name in clean_analysers(analysers).items()}
    changed = changed_limits(limits)
    settings = Settings(count, engine, dict(parameters or {}), changed, _path_of(profile), declared)
    if before is not None and (before.settings != settings or not incremental):
        before = None
    shards_of_build = _Shards(location, settings, before)
    done, todo = shards_of_build.plan(_marked(rows, count), incremental)
    if todo:
        failpoint("build.before_tasks")
        with _reporting_progress(location, settings, progress, len(done)):
            done |= shards_of_build.run(_marked(rows, count), todo)
    if before is not None and not todo and before.applied == applied:
        manifest = before  # nothing changed
    else:
        manifest = _commit(location, settings, [done[number] for number in range(count)], applied)
    receipts.forget(location)
    collect(location)
    built = Build(location.uri, manifest, len(todo), time.perf_counter() - start, subscriptions.sparkSession)
    _log.info("%s: version %d, %d subscriptions", path, manifest.number, manifest.subscriptions)
    return built


def quarantine(spark: SparkSession, path: str, manifest: Manifest) -> DataFrame:
    """Return the rows that were refused when a version was built."""
    files = [f"{path.rstrip('/')}/{shard.quarantine}" for shard in manifest.shards if shard.quarantine]
    if not files:
        return spark.createDataFrame([], REFUSED_SUBSCRIPTIONS.spark)
    return spark.read.schema(REFUSED_SUBSCRIPTIONS.spark).parquet(*files)


# -- rows --------------------------------------------------------------------------------------------


def _known_columns(frame: DataFrame) -> DataFrame:
    """Return the columns that an index needs; others are ignored, unless one looks misspelt."""
    wanted = _TEXT if EXPRESSION in frame.columns else _BULK
    needed = wanted[:2] if wanted is _TEXT else wanted[:3]
    if missing := [name for name in needed if name not in frame.columns]:
        raise InputError(
            f"subscriptions need the columns id and expression, or those of the bulk form; {missing[0]!r} is "
            f"missing (there are: {', '.join(frame.columns)}); rename with withColumnRenamed",
            column=missing[0],
        )
    check_names(frame.columns, wanted is _BULK)
    check_id_type(frame, ID)
    for name in {PRIORITY, VERSION} & set(frame.columns):
        check_number_type(frame, name)
    kinds = dict(frame.dtypes)
    if wanted is _TEXT and kinds[EXPRESSION] != "string":
        raise InputError(f"the column 'expression' is {kinds[EXPRESSION]}, not text", column=EXPRESSION)
    return frame.select(*[_typed(name) for name in wanted if name in frame.columns])


def _typed(name: str) -> Column:
    return column(name).cast(_TYPED.field(name).spark).alias(name) if name in _TYPED else column(name)


def _shards_for(rows: DataFrame, before: Manifest | None) -> int:
    """Return a shard per million rows; a previous number that still fits is kept, to rebuild little."""
    if EXPRESSION in rows.columns:
        count = rows.count()
    else:
        count = rows.agg(F.approx_count_distinct(ID)).first()[0]  # type: ignore[index]
    best = min(TOKENS, max(1, math.ceil(count / PER_SHARD)))
    if before is not None and best / 4 <= before.settings.shards <= best * 4:
        return before.settings.shards
    return best


def _marked(rows: DataFrame, shards: int) -> DataFrame:
    """Return the rows with the shard that owns them and a hash of their content."""
    token = F.coalesce(F.crc32(column(ID).cast("binary")) % TOKENS, F.lit(0))
    owner = F.floor(token * shards / TOKENS).cast(SHARD.spark)
    return rows.withColumns({MARK: F.xxhash64(*map(column, rows.columns)), SHARD: owner})


def _fingerprints(marked: DataFrame) -> dict[int, str]:
    """Return for each shard the value of :func:`tamis.shards.build.fingerprint_of` for its rows."""
    sums = marked.groupBy(SHARD).agg(
        F.count("*").alias("rows"),
        F.bit_xor(MARK).alias("mixed"),
        F.sum(F.col(MARK).bitwiseAND(F.lit(0xFFFFFF))).alias("low"),
    )
    return {row[SHARD]: f"{row['rows']}:{row['mixed']}:{row['low']}" for row in sums.collect()}


# -- shards ------------------------------------------------------------------------------------------


class _Shards:
    """The shards of one build."""

    def __init__(self, location: Location, settings: Settings, before: Manifest | None) -> None:
        self.location, self.settings, self.before = location, settings, before

    def plan(self, marked: DataFrame, incremental: bool) -> tuple[dict[int, Shard], list[int]]:
        """Return the finished shards, from the previous version or an interrupted build, and the others."""
        everyone = range(self.settings.shards)
        kept = {shard.number: shard for shard in self.before.shards} if self.before else {}
        kept |= _finished(self.location, self.settings) if incremental else {}
        if not kept:
            return {}, list(everyone)
        prints = _fingerprints(marked)
        done = {
            number: shard
            for number, shard in kept.items()
            if shard.fingerprint == prints.get(number, "0:0:0")
        }
        return done, [number for number in everyone if number not in done]

    def run(self, marked: DataFrame, todo: list[int]) -> dict[int, Shard]:
        """Build the remaining shards, one task each."""
        wanted = marked if len(todo) == self.settings.shards else marked.where(F.col(SHARD).isin(todo))
        spread = wanted.repartitionById(self.settings.shards, F.col(SHARD))
        kept = {shard.number: shard for shard in self.before.shards} if self.before else {}
        task = _Task(
            self.location, self.settings, {number: kept[number] for number in todo if number in kept}
        )
        found = spread.mapInArrow(task, Columns(RECEIPT).spark).collect()
        shards = [msgspec.json.decode(row[RECEIPT], type=Shard) for row in found]
        made = {shard.number: shard for shard in shards}
        # A shard without rows has no task.
        for number in set(todo) - made.keys():
            made[number] = task.build(number, wanted.limit(0).toArrow().drop_columns([SHARD]))
        return made


class _Task:
    """A Spark task: gathers the rows of its shards, builds and stores them, writes receipts."""

    def __init__(self, location: Location, settings: Settings, before: dict[int, Shard]) -> None:
        self._location, self._settings, self._before = location, settings, before

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the receipts of the shards whose rows this partition holds."""
        parts: dict[int, list[pa.Table]] = {}
        for batch in batches:
            table = pa.Table.from_batches([batch])
            owners = table[SHARD].unique().to_pylist()
            for number in owners:
                own = table if len(owners) == 1 else table.filter(pa.compute.equal(table[SHARD], number))
                parts.setdefault(number, []).append(own.drop_columns([SHARD]))
        for number in sorted(parts):
            shard = self.build(number, pa.concat_tables(parts.pop(number)))
            yield pa.RecordBatch.from_pydict({RECEIPT: [msgspec.json.encode(shard).decode()]})

    def build(self, number: int, rows: pa.Table) -> Shard:
        """Build one shard and write its receipt."""
        context = BuildContext(self._location, self._settings, _sample(self._settings.profile))
        shard = build_shard(context, number, rows, self._before.get(number))
        receipts.write(self._location, self._settings, shard)
        return shard


def _sample(profile: str) -> Any:
    return Profile.open(profile).sample() if profile else None


def _path_of(profile: str | Profile | None) -> str:
    if profile is None:
        return ""
    return Profile.open(profile).path if isinstance(profile, str) else profile.path


def _finished(location: Location, settings: Settings) -> dict[int, Shard]:
    """Return the shards that an interrupted build with the same settings has finished."""
    found = [receipt.shard for receipt in receipts.read(location) if receipt.settings == settings]
    return {shard.number: shard for shard in found}


def _commit(location: Location, settings: Settings, shards: list[Shard], applied: int) -> Manifest:
    """Commit the next version; a change committed meanwhile came from rows that this build does not have."""
    sample = write_sample(location, KeptSample(_sample(settings.profile), limits_of(settings)))
    for attempt in range(ATTEMPTS):
        there = latest(location)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = Manifest(there.number + 1 if there else 1, now, settings, shards, applied, sample)
        try:
            commit(location, manifest)
            return manifest
        except IndexConflict:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


@contextmanager
def _reporting_progress(
    location: Location, settings: Settings, progress: Progress | None, done: int
) -> Iterator[None]:
    """Report finished shards while Spark builds them, by counting their receipts."""
    if progress is None:
        yield
        return
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.5):
            progress(receipts.count(location), settings.shards)

    watcher = threading.Thread(target=watch, daemon=True)
    progress(done, settings.shards)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
    progress(settings.shards, settings.shards)
